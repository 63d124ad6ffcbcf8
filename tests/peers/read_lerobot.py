"""Run by lerobot's own interpreter: `read ROOT` tells what LeRobotDataset finds there, `write ROOT [video]` makes one.

What is read is printed as JSON; what is written follows `frame_of`, so that the test knows it without reading it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
os.environ.setdefault("HF_HOME", str(Path(sys.argv[2]).parent / "hf_home"))  # its cache of parquet files as arrow

import torchvision_shim  # noqa: F401, I001  (before torchvision)
import av
import numpy as np
import torch
from lerobot.datasets import lerobot_dataset
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.compute_stats import aggregate_stats

FPS = 20
LENGTHS = (12, 7)
SIZE = 64


def frame_of(episode: int, step: int) -> dict[str, Any]:
    """What the dataset made here holds at a step: every number tells where it belongs."""
    state = np.array([0.5 + 0.01 * step, 0.1 * episode, 0.2, 1.0, 0.0, 0.0, 0.0, 0.04, -0.04], dtype=np.float32)
    action = np.array([0.1 * episode, 0.01 * step, 0.0, 0.0, 0.0, 0.0, 1.0], dtype=np.float32)
    image = np.full((SIZE, SIZE, 3), (20 * step, 100 * episode, 128), dtype=np.uint8)
    return {
        "observation.state": state,
        "observation.environment_state": np.array([0.6, 0.01 * episode, 0.02], dtype=np.float32),
        "observation.images.agentview": image,
        "action": action,
        "next.done": np.array([step == LENGTHS[episode] - 1]),
        "extra": np.arange(6, dtype=np.float64).reshape(2, 3) + step,
        "task": f"task {episode}",
    }


def write(root: Path, camera: str) -> None:
    image = {"dtype": camera, "shape": (SIZE, SIZE, 3), "names": ["height", "width", "channels"]}
    features = {
        "observation.state": {"dtype": "float32", "shape": (9,), "names": None},
        "observation.environment_state": {"dtype": "float32", "shape": (3,), "names": None},
        "observation.images.agentview": image,
        "action": {"dtype": "float32", "shape": (7,), "names": None},
        "next.done": {"dtype": "bool", "shape": (1,), "names": None},
        "extra": {"dtype": "float64", "shape": (2, 3), "names": None},
    }
    dataset = LeRobotDataset.create("sido/peer", fps=FPS, features=features, root=root, use_videos=camera == "video")
    dataset.vcodec = "h264"
    for episode, length in enumerate(LENGTHS):
        for step in range(length):
            dataset.add_frame(frame_of(episode, step))
        dataset.save_episode()
    dataset.finalize()


def read(root: Path) -> dict[str, Any]:
    lerobot_dataset.decode_video_frames = _decode_video_frames
    dataset = LeRobotDataset("sido/peer", root=root)
    windowed = LeRobotDataset("sido/peer", root=root, delta_timestamps={"action": [-1 / FPS, 0.0, 1 / FPS]})
    only_last = LeRobotDataset("sido/peer", root=root, episodes=[dataset.num_episodes - 1])
    aggregate_stats([dataset.meta.stats, dataset.meta.stats])  # checks shapes and types, as merging datasets does
    places = sorted({0, 1, len(dataset) // 2, len(dataset) - 1})
    return {
        "episodes": dataset.num_episodes,
        "frames": dataset.num_frames,
        "frames_of_last": len(only_last),
        "fps": dataset.fps,
        "features": {key: [feature["dtype"], list(feature["shape"])] for key, feature in dataset.features.items()},
        "stats": _plain(dataset.meta.stats),
        "items": {place: _plain(dataset[place]) for place in places},
        "windows": {place: _plain(_only(windowed[place], "action", "action_is_pad")) for place in places},
    }


def _only(item: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: item[key] for key in keys}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value.tolist() if isinstance(value, (torch.Tensor, np.ndarray, np.generic)) else value


def _decode_video_frames(path: Path, timestamps: list[float], tolerance_s: float, backend: str) -> torch.Tensor:
    """lerobot's contract on PyAV; its own decoders need torchcodec, or what torchvision 0.26 removed."""
    with av.open(str(path)) as container:
        frames = [(float(frame.time), frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    nearest = [min(frames, key=lambda frame: abs(frame[0] - stamp)) for stamp in timestamps]
    assert all(abs(frame[0] - stamp) < tolerance_s for frame, stamp in zip(nearest, timestamps, strict=True))
    return torch.from_numpy(np.stack([image for _, image in nearest])).permute(0, 3, 1, 2).float() / 255


if __name__ == "__main__":
    verb, root = sys.argv[1], Path(sys.argv[2])
    if verb == "write":
        write(root, sys.argv[3])
    else:
        print(json.dumps(read(root)))
