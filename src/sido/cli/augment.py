"""`sido augment`: look at counterfactual chunks before training on them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.cli.dataset_options import DatasetOptions
from sido.cli.generate import generate
from sido.cli.progress import progress_bar
from sido.demos import DemoDataset, to_absolute
from sido.errors import SettingError

if TYPE_CHECKING:
    from torch import Tensor

    from sido.augment import Counterfactual
    from sido.demos import ChunkBatch, ChunkSampler

__all__ = ["augment"]


def augment(
    path: Annotated[str, tyro.conf.Positional],
    /,
    *,
    show: int = 12,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    actions: Literal["absolute", "as-recorded"] = "absolute",
    step_speed_m: float = 0.001,
    prediction_horizon: int = 16,
    action_horizon: int = 8,
    vary_length: bool = False,
    relative_gain: Literal["literal", "calibrated"] | float = "literal",
    seed: int = 0,
    generator: Literal["heuristic", "mppi", "gauss-newton"] | None = None,
    displacements: int = 4,
    transitions: Literal["pre-grasp", "all"] = "pre-grasp",
    threads: int = 1,
    options: Annotated[DatasetOptions, tyro.conf.OmitArgPrefixes] = DatasetOptions(),
) -> int:
    """Draw demonstrated and counterfactual hand paths side by side, and check the hand-object invariant.

    The picture shows N random eligible chunks, displaced; the table says by how much the hand-object offset at T_a
    and T_p differs from the demonstrated one (it should not, up to rounding), for them and for every eligible chunk.

    With --generator it makes chunks for training instead, into the folder OUT: every eligible chunk, displaced several
    times, and (mppi, gauss-newton: DynaSIDO) refined such that the robot itself, as its dynamics are learnt from the
    demonstrations, comes to where the displaced object wants it. Stopped, it goes on when called again.

    Args:
        path: The dataset: a file or a folder.
        show: How many counterfactual chunks to draw.
        out: The picture to write (.png, .pdf, .svg); by default the dataset's name, then .counterfactuals.png, here.
            With --generator, the folder of the chunks; by default the dataset's name, then .GENERATOR.cache.
        actions: Make relative OSC actions absolute first (the default of sido), or take actions as recorded.
        step_speed_m: v, how far the object moves in a control step, in metres; 0.001 is 2 cm/s at 20 Hz.
        prediction_horizon: T_p, in control steps.
        action_horizon: T_a, in control steps.
        vary_length: Draw displacements of any length up to v T_p, rather than v T_p each time.
        relative_gain: For relative actions: the share of a command that the arm realises. literal is 1, the paper's
            setting; calibrated estimates it from the dataset; or give a number.
        seed: The same seed shows the same chunks.
        generator: Make chunks for training: heuristic (H-SIDO), mppi (the paper's DynaSIDO) or gauss-newton (faster).
        displacements: How many of each chunk.
        transitions: What the robot's dynamics are learnt from: the steps before the grasp, or all.
        threads: How many demonstrations are worked on at a time.
        options: How to read the dataset.
    """
    if show < 1:
        raise SettingError("nothing to show", field="--show", found=show, expected="1 or more")
    with options.open(path) as opened:
        dataset = opened.map(to_absolute) if actions == "absolute" else opened
        gain = _gain(dataset, relative_gain, prediction_horizon, action_horizon)
        # torch takes a second to load: not before the arguments and the dataset are known to be good.
        from sido.augment import REFINERS, Counterfactual, FixedLength, GenerationSettings, UniformLength

        counterfactual = Counterfactual(
            step_speed_m=step_speed_m,
            prediction_horizon=prediction_horizon,
            action_horizon=action_horizon,
            static_ratio=0.0,
            length=UniformLength() if vary_length else FixedLength(),
            relative_gain=gain,
        )
        if generator is not None:
            settings = GenerationSettings(counterfactual, REFINERS[generator](), displacements, seed=seed)
            folder = out or Path(f"{Path(path).name.split('.')[0]}.{generator}.cache")
            generate(dataset, settings, folder, threads=threads, transitions=transitions)
            return 0
        sampler = _sampler(dataset, prediction_horizon, action_horizon)
    picture = out or Path(f"{Path(path).name.split('.')[0]}.counterfactuals.png")
    _show(sampler, counterfactual, show, seed, picture)
    return 0


def _gain(
    dataset: DemoDataset, asked: Literal["literal", "calibrated"] | float, prediction_horizon: int, action_horizon: int
) -> float:
    if asked == "literal":
        return 1.0
    if asked != "calibrated":
        return float(asked)
    from sido.augment import estimate_gain

    with progress_bar("estimating the gain") as progress:
        demos = dataset.each(progress)
        estimate = estimate_gain(demos, prediction_horizon=prediction_horizon, action_horizon=action_horizon)
    Console(soft_wrap=True).print(f"gain: {escape(str(estimate))}")
    return estimate.at_prediction_horizon.gain


def _sampler(dataset: DemoDataset, prediction_horizon: int, action_horizon: int) -> ChunkSampler:
    import torch

    from sido.demos import ChunkSampler, ChunkWindow

    window = ChunkWindow(prediction_horizon, pad_after=action_horizon - 1)
    with progress_bar("reading demonstrations") as progress:
        return ChunkSampler(dataset, window, dtype=torch.float64, progress=progress)


def _show(sampler: ChunkSampler, counterfactual: Counterfactual, show: int, seed: int, picture: Path) -> None:
    import torch

    from sido.augment import Saturation
    from sido.augment.picture import draw_counterfactuals

    rng = torch.Generator().manual_seed(seed)
    every = sampler.batch(torch.arange(len(sampler)))
    eligible = every[every.eligible]
    if len(eligible) == 0:
        raise SettingError(
            "no chunk ends before a grasp, so that none can be displaced",
            field="--prediction-horizon",
            found=counterfactual.prediction_horizon,
            fix="see `sido inspect` for the grasp indices",
        )
    before = eligible[torch.randperm(len(eligible), generator=rng)[:show]]
    after = counterfactual(before, rng)
    draw_counterfactuals(
        before, after, counterfactual.action_horizon, picture, relative_gain=counterfactual.relative_gain
    )
    moved = counterfactual(eligible, rng)
    console = Console(soft_wrap=True)
    console.print(_residual_table(before, after, counterfactual))
    at_ta, at_tp = _residuals_m(eligible, moved, counterfactual)
    displaced = int((moved.displacement != 0).any(1).sum())
    console.print(
        f"all {len(eligible)} eligible chunks (of {len(sampler)}): {displaced} displaced by up to "
        f"{counterfactual.longest_m * 100:.3g} cm; largest change of the hand-object offset "
        f"{at_ta.max():.1e} m at T_a, {at_tp.max():.1e} m at T_p"
    )
    if moved.action_spec.kind == "relative":
        console.print(escape(str(Saturation.of(moved))))
    console.print(f"picture: {escape(str(picture))}")


def _residuals_m(before: ChunkBatch, after: ChunkBatch, counterfactual: Counterfactual) -> tuple[Tensor, Tensor]:
    """By how far the hand-object offset is off at `T_a` and at `T_p`, for each sample."""
    from sido.augment import invariant_residual

    residual = invariant_residual(
        before, after, counterfactual.action_horizon, relative_gain=counterfactual.relative_gain
    )
    return residual.at_action_horizon.norm(dim=1), residual.at_prediction_horizon.norm(dim=1)


def _residual_table(before: ChunkBatch, after: ChunkBatch, counterfactual: Counterfactual) -> Table:
    table = Table(title="change of the hand-object offset", title_justify="left")
    for heading in ("demo", "step", "displacement, cm", "heading, deg", "at T_a, m", "at T_p, m"):
        table.add_column(heading, justify="right")
    at_ta, at_tp = _residuals_m(before, after, counterfactual)
    for sample in range(len(after)):
        x, y, _ = after.displacement[sample].tolist()
        table.add_row(
            str(int(after.demo_index[sample])),
            str(int(after.step[sample])),
            f"{math.hypot(x, y) * 100:.2f}",
            f"{math.degrees(math.atan2(y, x)):.0f}",
            f"{at_ta[sample]:.1e}",
            f"{at_tp[sample]:.1e}",
        )
    return table
