"""What has been played so far, on disk beside the dataset to be: whoever is killed goes on from there."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, final

import numpy as np

from sido.atomic import disk_refusals
from sido.errors import DataError, SettingError
from sido.sim.collect.attempt import Played

__all__ = ["Entry", "Journal"]

_ABOUT = "about"


class Entry(NamedTuple):
    """An attempt in brief."""

    ending: str
    steps: int
    usable: bool


@final
class Journal:
    """A folder with a file for each attempt, which appears whole or not at all.

        attempt_000012.npz   numpy's own format, without pickles: its outcome and its arrays
        settings.json        what decides the attempts; nothing else may go on here
        elapsed_s.json       how long it took so far
        dataset.json         the dataset that was finished here and is to be moved to its place

    Use `open_journal`. Only one process at a time has it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries = dict(self._read_entries())
        """By the attempts' numbers."""

    @property
    def elapsed_s(self) -> float:
        """How long collecting took so far, all sessions together."""
        return float(_load(self.folder / "elapsed_s.json") or 0.0)

    def save(self, played: Played, elapsed_s: float) -> None:
        """Keep an attempt."""
        about = {name: getattr(played, name) for name in ("number", "seed", "steps", "ending", "usable")}
        final = self._file(played.number)
        partial = final.with_name(f".{final.name}")  # numpy appends .npz to other endings
        contents = io.BytesIO()  # numpy's archive complains a second time, and to nobody, where a disk is full
        np.savez(contents, **{_ABOUT: np.array(json.dumps(about))}, **played.arrays)
        try:
            with partial.open("wb") as stream:
                stream.write(contents.getbuffer())
                stream.flush()
                os.fsync(stream.fileno())  # else a machine that loses power may keep the name and not the contents
            partial.replace(final)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
        self.entries[played.number] = Entry(played.ending, played.steps, played.usable)
        _store(self.folder / "elapsed_s.json", elapsed_s)

    def read(self, number: int) -> Played:
        """A kept attempt."""
        with np.load(self._file(number), allow_pickle=False) as file:
            about: Any = json.loads(str(file[_ABOUT]))
            arrays = {name: file[name] for name in file.files if name != _ABOUT}
        return Played(about["number"], about["seed"], about["steps"], about["ending"], arrays)

    def finish(self, built: Path, output: Path) -> None:
        """Move the dataset, built in the folder, to its place, and remove the folder."""
        _store(self.folder / "dataset.json", _identity(built))
        if built.is_dir() and output.exists():
            output.rename(self.folder / "replaced")  # folders are not replaced in one step
        built.replace(output)
        self.remove()

    def is_finished(self, output: Path) -> bool:
        """Whether `output` is the dataset that was finished here, and only the folder was left behind."""
        return output.exists() and _load(self.folder / "dataset.json") == _identity(output)

    def remove(self) -> None:
        """Everything that was kept."""
        shutil.rmtree(self.folder)

    def _file(self, number: int) -> Path:
        return self.folder / f"attempt_{number:06d}.npz"

    def _read_entries(self) -> Iterator[tuple[int, Entry]]:
        for path in sorted(self.folder.glob("attempt_*.npz")):
            try:
                # Opened here, as numpy leaves a damaged file open.
                with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                    about: Any = json.loads(str(file[_ABOUT]))
                yield about["number"], Entry(about["ending"], about["steps"], about["usable"])
            except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
                raise DataError(
                    "an attempt that was kept is damaged",
                    file=path,
                    found=error,
                    fix="delete the file: the attempt is then played again",
                ) from error


@contextmanager
def open_journal(output: Path, settings: Mapping[str, Any]) -> Generator[Journal]:
    """The journal of the dataset `output`: a new one, or the one that was left with the same settings.

    Raises:
        SettingError: it was begun with other settings; another process is at it.
        DataError: the disk is full, may not be written to, and the like, now or within the block. What was kept stays.
    """
    folder = output.with_name(f".partial-{output.name}")
    with disk_refusals(output), _opened(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it ends with the process, however that ends
        except BlockingIOError as error:
            raise SettingError(
                "another process is collecting this", file=output, fix="wait for it, or choose another name"
            ) from error
        _require_same(folder, json.loads(json.dumps(settings)), output)
        yield Journal(folder)


@contextmanager
def _opened(folder: Path) -> Generator[IO[str]]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        yield lock


def _require_same(folder: Path, settings: dict[str, Any], output: Path) -> None:
    kept = _load(folder / "settings.json")
    if kept is None or not any(folder.glob("attempt_*.npz")):
        _store(folder / "settings.json", settings)
    elif kept != settings:
        before, now = _flat(kept), _flat(settings)
        differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        raise SettingError(
            "it was begun with other settings, and demonstrations of both cannot be mixed",
            file=output,
            field=", ".join(differing),
            found=", ".join(f"{name} = {now.get(name)!r}" for name in differing),
            expected=", ".join(f"{name} = {before.get(name)!r}" for name in differing),
            fix=f"go on with the settings as they were, choose another name, or begin anew: rm -r {folder}",
        )


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested names, joined by points."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}  # pyright: ignore[reportUnknownArgumentType]
    return flat


def _identity(path: Path) -> list[int]:
    """What a file keeps when it is moved."""
    status = path.stat()
    return [status.st_dev, status.st_ino]


def _load(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _store(path: Path, document: Any) -> None:
    partial = path.with_name(f".{path.name}")
    partial.write_text(json.dumps(document, indent=1))
    partial.replace(path)
