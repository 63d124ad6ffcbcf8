"""`sido convert`: from any format that can be read to any that can be written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.dataset_options import DatasetOptions
from sido.cli.interruption import interruptible
from sido.cli.progress import progress_bar
from sido.demos import ACTION_SPECS, Demo, DemoDataset, create_dataset, to_absolute, to_relative, with_rotation
from sido.errors import SettingError

__all__ = ["convert"]


def convert(
    source: Annotated[str, tyro.conf.Positional],
    target: Annotated[Path, tyro.conf.Positional],
    /,
    *,
    format: Literal["robomimic", "lerobot", "lerobot-video", "zarr"] | None = None,
    actions: Literal["as-recorded", "absolute", "rot6d-absolute", "osc-delta"] = "as-recorded",
    force: bool = False,
    options: Annotated[DatasetOptions, tyro.conf.OmitArgPrefixes] = DatasetOptions(),
) -> int:
    """Write a dataset in another format. The target appears whole or not at all, also after Ctrl-C.

    Grasp indices, subsets, action spec, and arrays that the target's format has no place for travel along.

    Args:
        source: The dataset to read.
        target: Where to write: .hdf5 for robomimic, .zarr or .zarr.zip for diffusion_policy, a folder for LeRobot.
        format: The format to write, where the target's ending does not say it.
        actions: Relative OSC actions may be made absolute in closed form, with the rotation as axis angle or rot6d, and
            absolute ones relative again.
        force: Replace an existing target.
        options: How to read the source.
    """
    if target.resolve() in Path(source).resolve().parents:
        raise SettingError("the source lies within the target, and would be replaced", file=target, found=source)
    with options.open(source) as dataset:
        changed = _changed(dataset, actions)
        with (
            interruptible() as between_steps,
            create_dataset(target, changed.info, format=format, overwrite=force) as writer,
            progress_bar("converting") as progress,
        ):
            for demo in changed.each(progress):
                writer.write(demo)
                between_steps()
    Console(soft_wrap=True).print(f"wrote {len(changed)} demonstrations to {escape(str(target))}")
    return 0


def _changed(dataset: DemoDataset, actions: str) -> DemoDataset:
    if actions == "as-recorded":
        return dataset
    absolute = dataset.map(to_absolute)
    if actions == "rot6d-absolute":
        return absolute.map(lambda demo: with_rotation(demo, "rot6d"))
    if actions == "osc-delta":
        return absolute.map(_to_osc_delta)
    return absolute


def _to_osc_delta(demo: Demo) -> Demo:
    return to_relative(demo, dataclasses.replace(ACTION_SPECS["osc-delta"], rate_hz=demo.action_spec.rate_hz))
