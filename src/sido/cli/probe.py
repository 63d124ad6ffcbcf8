"""`sido probe`: does a policy follow the pose channel or the pixels, and what does a wrong pose cost it?"""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.evaluate import FIRST_SEED
from sido.cli.progress import progress_bar
from sido.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from sido.evaluate import Response
    from sido.evaluate.probe import Change

__all__ = ["probe"]


def probe(
    run: Annotated[Path, tyro.conf.Positional],
    /,
    *,
    task: str = "stack",
    episodes: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 20,
    shift: float = 0.016,
    checkpoint: Literal["last", "best"] = "last",
    seed: int = FIRST_SEED,
    json: bool = False,
) -> int:
    """Displace the object in the pose channel, in the images, or in both, and print by how much the plan follows.

    1 follows wholly, 0 not at all. Far from the grasp and near it (10 cm) are told apart. For success under a constant
    error of the pose: `sido evaluate RUN --pose-bias 0.01 0 0`.

    Args:
        run: A folder of sido train.
        task: stack, square, mug, gantry or peachtree.
        episodes: How many static episodes are played and asked about.
        shift: By how much, in metres; each of four ways.
        checkpoint: last or best.
        seed: Of the first episode.
        json: Print the table as JSON.
    """
    if episodes < 1:
        raise SettingError("too few", field="--episodes", found=episodes, expected="1 or more")
    try:
        from sido.evaluate import RunPolicy, shares
        from sido.evaluate import probe as ask
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido probe", str(error.name), "sim") from error
    import torch

    torch.set_num_threads(1)
    policy = RunPolicy(run, checkpoint)()
    responses: list[Response] = []
    with progress_bar(f"probing {run.name}") as bar:
        for number in range(episodes):
            bar(number, episodes)
            responses += ask(policy, task=task, seeds=[seed + number], shift_m=shift)
    found = shares(responses)
    if json:
        rows = [
            {"changed": change, "near": near, "share": share.mean, "standard_error": share.error,
             "questions": share.questions}
            for (change, near), share in found.items()
        ]  # fmt: skip
        print(json_format.dumps({"run": str(run), "episodes": episodes, "shift_m": shift, "shares": rows}, indent=2))
        return 0
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("displaced", "far", "near the grasp"):
        table.add_column(name)
    changes: list[Change] = list(dict.fromkeys(change for change, _near in found))
    for change in changes:
        cells = (found.get((change, near)) for near in (False, True))
        table.add_row(change, *("-" if cell is None else f"{cell.mean:.2f} ± {cell.error:.2f}" for cell in cells))
    console = Console(soft_wrap=True)
    console.print(
        f"{escape(run.name)}: share of {100 * shift:g} cm by which the goal at T_a follows; mean ± standard error "
        f"over {episodes} episodes"
    )
    console.print(table)
    return 0
