"""How fast batches are made, and how much memory images take. One run, side by side.

    python benchmarks/load.py

1. Low-dimensional batches (observation window 2, chunk 16): `sido.ChunkSampler` against robomimic's own
   `SequenceDataset` with a `DataLoader`, both with everything cached in memory, on the same file, in one thread each.
2. Memory with images: a process that builds the image store and draws batches, over a small and a ten times larger
   dataset. The process's own (anonymous) memory must not grow; mapped file pages belong to the system's page cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from sido import ChunkSampler, ChunkWindow, FrameStore, create_dataset, open_dataset
from sido.demos import ACTION_SPECS, DatasetInfo
from sido.demos.synthetic import reach_and_lift

HERE = Path(__file__).resolve().parent
PEER = HERE.parent / ".venv-peers" / "robomimic" / "bin" / "python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demos", type=int, default=200, help="demonstrations of the small dataset (large: 10 times)")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each loader is timed")
    parser.add_argument("--image-size", type=int, default=32)
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)  # the second part's own process
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.memory_of:
        print(json.dumps(memory_with_images(arguments.memory_of)))
        return
    with tempfile.TemporaryDirectory() as folder:
        speed(Path(folder), arguments)
        memory(Path(folder), arguments)


def speed(folder: Path, arguments: argparse.Namespace) -> None:
    file = synthesize(folder / "low_dim.hdf5", arguments.demos, None)
    start = time.perf_counter()
    with open_dataset(file) as dataset:
        sampler = ChunkSampler(dataset)
    loading = time.perf_counter() - start
    ours = samples_per_second(sampler, arguments.batch_size, arguments.seconds)
    print(f"\nlow-dimensional batches of {arguments.batch_size}, {arguments.demos} demos, one thread")
    print(f"  {'sido.ChunkSampler':<45}{ours:>12,.0f} samples/s     loaded in {loading:.1f} s")
    if not PEER.exists():
        print("  robomimic is not installed here: run `make peers`")
        return
    best = 0.0
    for workers in (0, 1):
        command = [str(PEER), str(HERE / "peers" / "robomimic_loader.py"), str(file), str(arguments.batch_size),
                   str(arguments.seconds), str(workers)]  # fmt: skip
        theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        name = f"robomimic SequenceDataset, {workers} workers"
        print(f"  {name:<45}{theirs['samples_per_second']:>12,.0f} samples/s     loaded in {theirs['loading_s']:.1f} s")
        best = max(best, theirs["samples_per_second"])
    print(f"  ratio to the faster of them: {ours / best:.0f} (target: at least 20)")


def samples_per_second(sampler: ChunkSampler, batch_size: int, seconds: float) -> float:
    rng = torch.Generator().manual_seed(0)
    drawn, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        for batch in sampler.epoch(batch_size, rng):
            drawn += len(batch)
    return drawn / spent


def memory(folder: Path, arguments: argparse.Namespace) -> None:
    print(f"\nmemory with two cameras of {arguments.image_size} pixels, after 200 batches of 64")
    own: list[float] = []
    images: list[float] = []
    for demos in (arguments.demos, 10 * arguments.demos):
        file = synthesize(folder / f"images_{demos}.hdf5", demos, arguments.image_size)
        command = [sys.executable, str(Path(__file__).resolve()), "--memory-of", str(file)]
        used = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        own.append(used["peak_anonymous_mb"] - used["numbers_mb"])
        images.append(used["images_mb"])
        print(
            f"  {demos:>6} demos, {used['images_mb']:>6.0f} MB of images: own memory "
            f"{used['peak_anonymous_mb']:.0f} MB (of which numbers {used['numbers_mb']:.0f} MB), "
            f"mapped files {used['mapped_mb']:.0f} MB, {used['samples_per_second']:,.0f} samples/s"
        )
        file.unlink()
    print(
        f"  for {images[1] - images[0]:,.0f} MB more images, {own[1] - own[0]:.0f} MB more of own memory beside the "
        f"numbers: ratio {own[1] / own[0]:.2f} (target: about 1)"
    )


def memory_with_images(file: Path) -> dict[str, float]:
    with open_dataset(file) as dataset, tempfile.TemporaryDirectory(dir=file.parent) as folder:
        peak = 0.0

        def watch(done: int, total: int) -> None:
            nonlocal peak
            peak = max(peak, status_mb("RssAnon"))

        store = FrameStore.of(dataset, folder=Path(folder) / "frames", progress=watch)
        sampler = ChunkSampler(dataset, ChunkWindow(), frames=store, progress=watch)
        rng, start = torch.Generator().manual_seed(0), time.perf_counter()
        for _ in range(200):
            sampler.sample(64, rng)
            watch(0, 0)
        spent = time.perf_counter() - start
        images = sum(file.stat().st_size for file in store.folder.glob("*.u8"))
        rows = len(sampler._observed)  # the tables are the numbers' whole memory
        numbers = rows * (sampler._observed.shape[1] + sampler._actions.shape[1]) * 4
        return {
            "peak_anonymous_mb": peak,
            "mapped_mb": status_mb("RssFile"),
            "images_mb": images / 1e6,
            "numbers_mb": numbers / 1e6,
            "samples_per_second": 200 * 64 / spent,
        }


def status_mb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1e3
    raise RuntimeError(f"/proc/self/status has no {field}: this benchmark needs Linux")


def synthesize(path: Path, demos: int, image_size: int | None) -> Path:
    import numpy as np

    cameras = () if image_size is None else ("agentview", "robot0_eye_in_hand")
    info = DatasetInfo("synthetic", ACTION_SPECS["osc-delta"], cameras=cameras, object_position_source="made up")
    rng = np.random.default_rng(0)
    with create_dataset(path, info) as writer:
        for index in range(demos):
            writer.write(reach_and_lift(rng, name=f"demo_{index}", image_size=image_size))
    return path


if __name__ == "__main__":
    main()
