"""Open a file with robomimic's own dataset class and say, as JSON, what came out. Runs where robomimic is installed.

python read_robomimic.py FILE.hdf5 ...
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

import torchvision_shim  # noqa: F401  # before robomimic, which imports torchvision

with contextlib.redirect_stdout(io.StringIO()):  # robomimic greets on import
    import h5py
    import robomimic.utils.file_utils as file_utils
    import robomimic.utils.obs_utils as obs_utils
    from robomimic.utils.dataset import SequenceDataset

LOW_DIM = ("robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos", "object_position")


def read(path: str) -> dict[str, object]:
    """Every step of every demonstration, through `SequenceDataset`, summed by key, each step times its number."""
    with h5py.File(path) as file:
        recorded = set(file["data/demo_0/obs"])
        total = int(file["data"].attrs["total"])
        masks = list(file.get("mask", ()))
    low_dim = [key for key in LOW_DIM if key in recorded]
    rgb = sorted(key for key in recorded if key.endswith("_image"))
    obs_utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": low_dim, "rgb": rgb}})
    env_meta = file_utils.get_env_metadata_from_dataset(path)
    shape_meta = file_utils.get_shape_metadata_from_dataset(path, all_obs_keys=[*low_dim, *rgb])
    dataset = _dataset(path, [*low_dim, *rgb], None)
    sums: dict[str, float] = {}
    for index in range(len(dataset)):
        item = dataset[index]
        arrays = {**item["obs"], **{key: item[key] for key in ("actions", "rewards", "dones")}}
        for key, array in arrays.items():
            sums[key] = sums.get(key, 0.0) + (index + 1) * float(array.astype("float64").sum())
    return {
        "demos": list(dataset.demos),
        "steps": len(dataset),
        "total": total,
        "masks": {mask: len(_dataset(path, low_dim, mask)) for mask in masks},
        "sums": sums,
        "shapes": {key: list(shape) for key, shape in shape_meta["all_shapes"].items()},
        "action_dim": int(shape_meta["ac_dim"]),
        "env_name": env_meta["env_name"],
        "env_type": env_meta["type"],
    }


def _dataset(path: str, keys: list[str], mask: str | None) -> SequenceDataset:
    return SequenceDataset(
        hdf5_path=path,
        obs_keys=keys,
        dataset_keys=("actions", "rewards", "dones"),
        frame_stack=1,
        seq_length=1,
        hdf5_cache_mode=None,
        load_next_obs=False,
        filter_by_attribute=mask,
    )


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        results = [read(path) for path in sys.argv[1:]]
    print(json.dumps(results))
