"""`sido policy`: what a trained policy is."""

from __future__ import annotations

import json as json_format
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sido.errors import SettingError

if TYPE_CHECKING:
    from sido.policies import ObservationWindow, Policy

__all__ = ["policy"]


def info(
    run: Annotated[Path, tyro.conf.Positional],
    /,
    *,
    checkpoint: Literal["last", "best"] = "last",
    batch: int = 1,
    repeats: int = 100,
    device: str = "cpu",
    threads: int = 1,
    json: bool = False,
) -> int:
    """Say what a policy sees and does, how large it is, and how long it takes to plan on this machine.

    Args:
        run: A run's folder, or a folder with policy.json and policy.safetensors.
        checkpoint: Of a run: the last, or the one with the lowest validation loss.
        batch: How many chunks are sampled at once.
        repeats: How often the time is taken.
        device: Where it is sampled: cpu, cuda.
        threads: Threads within torch's operations.
        json: Print it as JSON.
    """
    import torch

    from sido.policies import load_policy
    from sido.train import policy_folder

    for name, value in (("--batch", batch), ("--repeats", repeats), ("--threads", threads)):
        if value < 1:
            raise SettingError("too small", field=name, found=value, expected="1 or more")
    torch.set_num_threads(threads)
    folder = policy_folder(run, checkpoint)
    loaded = load_policy(folder, device=device)
    milliseconds = _sampling_ms(loaded, batch, repeats, device)
    document = {
        "folder": str(folder),
        "config": json_format.loads(loaded.config.to_json()),
        "action_spec": json_format.loads(loaded.action_spec.to_json()),
        "parameters": _parameters(loaded),
        "sampling": {
            "batch": batch,
            "device": device,
            "threads": threads,
            "repeats": repeats,
            "median_ms": _quantile(milliseconds, 0.5),
            "p99_ms": _quantile(milliseconds, 0.99),
        },
    }
    if json:
        print(json_format.dumps(document, indent=2))
    else:
        _print(document, loaded)
    return 0


_Verb = Annotated[Any, tyro.conf.subcommand("info", constructor=info)] | Annotated[None, tyro.conf.Suppress]


def policy(*, verb: tyro.conf.OmitSubcommandPrefixes[tyro.conf.OmitArgPrefixes[_Verb]]) -> int:
    """What a trained policy is."""
    assert isinstance(verb, int)  # what the subcommand returned
    return verb


def _parameters(policy: Policy) -> dict[str, int]:
    """How many weights, by part, and in all; the normaliser has none."""
    parts = {name: sum(weight.numel() for weight in part.parameters()) for name, part in policy.named_children()}
    return {name: count for name, count in parts.items() if count} | {"all": sum(parts.values())}


def _made_up(policy: Policy, batch: int) -> ObservationWindow:
    """An observation of the right form; what it shows does not matter to the clock."""
    import torch

    from sido.policies import ObservationWindow

    sees = policy.config.observation
    steps = sees.observation_steps
    seen = {
        "eef_position": torch.zeros(batch, steps, 3),
        "eef_rot6d": torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).expand(batch, steps, 6),
        "gripper": torch.zeros(batch, steps, sees.gripper_joints),
    }
    seen |= {f"landmark.{name}": torch.zeros(batch, steps, 3) for name in sees.landmarks}
    for camera in sees.cameras:
        seen[f"image.{camera.name}"] = torch.zeros(batch, steps, camera.height, camera.width, 3, dtype=torch.uint8)
    return ObservationWindow(seen, torch.zeros(batch, steps, 3))


def _sampling_ms(policy: Policy, batch: int, repeats: int, device: str) -> list[float]:
    import torch

    seen, generator = _made_up(policy, batch), torch.Generator().manual_seed(0)

    def sample() -> float:
        began = time.perf_counter()
        policy.predict(seen, generator).cpu()
        return 1e3 * (time.perf_counter() - began)

    if device != "cpu":
        torch.cuda.synchronize()
    for _ in range(3):
        sample()
    return sorted(sample() for _ in range(repeats))


def _quantile(ordered: list[float], share: float) -> float:
    """The smallest number that so large a share of them does not exceed."""
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def _print(document: dict[str, Any], policy: Policy) -> None:
    sees, spec, sampling = policy.config.observation, policy.action_spec, document["sampling"]
    counts = dict(document["parameters"])
    total = counts.pop("all")
    channel = {"none": "no pose channel", "current": "where the object is", "future": "where the object will be"}
    cameras = ", ".join(f"{camera.name} {camera.height}x{camera.width}" for camera in sees.cameras)
    config = document["config"]
    process = ", ".join(f"{name} {value}" for name, value in config["process"].items() if name != "kind")
    times = f"{sampling['median_ms']:.2f} ms in the middle, {sampling['p99_ms']:.2f} ms at most in 99 %"
    how = f"of {sampling['repeats']} (batch {sampling['batch']}, {sampling['device']}, {sampling['threads']} threads)"
    rows = [
        ("policy", f"{config['kind']}, in {document['folder']}"),
        ("is told", f"{channel[sees.pose_channel]}; {sees.observation_steps} steps of hand and gripper"),
        ("landmarks", ", ".join(sees.landmarks) or "none"),
        ("read off images", ", ".join(sees.spotted) or "none"),
        ("cameras", cameras or "none"),
        ("says", f"chunks of {policy.prediction_horizon} actions of {spec.dim} numbers"),
        ("actions", f"{spec.kind}, {spec.rotation}, {spec.frame} frame, {spec.rate_hz:g} Hz"),
        ("weights", f"{total:,} ({', '.join(f'{name} {count:,}' for name, count in counts.items())})"),
        ("denoiser", f"{config['denoiser']['kind']}; {config['process']['kind']}, {process}"),
        ("sampling", f"{times} {how}"),
    ]
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(f"[bold]{name}[/]", escape(value))
    Console(soft_wrap=True).print(table)
