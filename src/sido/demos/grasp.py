"""Finding `T_g`, the first step whose action closes the gripper for the grasp that moves the object.

Sources, best first: the file's own annotation (a reader sets `Demo.grasp`), the dataset's subtask signal, a sustained
close command on which the fingers stall, a sustained close command alone. They are cross-checked by the object's
displacement wherever its position is known: a close that moves nothing is no grasp (a signal is believed all the same
where no close moves anything).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.demos.demo import Demo, Grasp
from sido.errors import DataError

__all__ = ["find_grasp"]

_SUSTAINED_STEPS = 5  # a shorter close is a flicker of the operator's thumb
_MOVED_M = 0.01  # what a held object moves at least; pose estimates jitter by less
_STALLED_SHARE = 0.03  # of the widest opening that is left between fingers with something in between
_SETTLED_SHARE = 0.02  # of the widest opening by which settled fingers still move in a step


def find_grasp(demo: Demo) -> Grasp:
    """The grasp of a demonstration, with the source that it was found by. Raises `DataError` where there is none."""
    closing = demo.action_spec.closes(demo.actions)
    signal = _grasp_signal(demo)
    if signal is not None:
        return _by_signal(demo, signal, closing)
    runs = _runs(closing)
    if not runs:
        longest = max((run.stop - run.start for run in _runs(closing, at_least=1)), default=0)
        raise _no_grasp(demo, f"no close command that lasts {_SUSTAINED_STEPS} steps (the longest lasts {longest})")
    return _by_gripper(demo, runs)


@dataclass(frozen=True)
class _Run:
    """A stretch of steps `[start, stop)` through which the gripper is told to close."""

    start: int
    stop: int


def _runs(closing: Bool[Array, " T"], at_least: int = _SUSTAINED_STEPS) -> list[_Run]:
    edges = np.diff(np.concatenate([[False], closing, [False]]).astype(np.int8))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [_Run(int(start), int(stop)) for start, stop in zip(starts, stops, strict=True) if stop - start >= at_least]


def _grasp_signal(demo: Demo) -> str | None:
    """The signal that ends the grasp: "grasp", else the first to rise of those that start with the word."""
    if "grasp" in demo.subtask_signals:
        return "grasp"
    named = [name for name in demo.subtask_signals if name.startswith("grasp")]
    return min(named, key=lambda name: _first_rise(demo.subtask_signals[name]), default=None)


def _first_rise(signal: Bool[Array, " T"]) -> int:
    """The first step at which the signal is on, or the length where it never is."""
    return int(np.argmax(signal)) if signal.any() else len(signal)


def _by_signal(demo: Demo, name: str, closing: Bool[Array, " T"]) -> Grasp:
    # The signal is a contact check on what is seen, so it comes a few steps after the command, and it flickers on
    # when closed fingers brush past: what counts is contact while the gripper is being closed.
    contact = demo.subtask_signals[name] & closing
    touching = [run for run in _runs(closing, at_least=1) if contact[run.start : run.stop].any()]
    if not touching:
        raise _no_grasp(demo, f"the subtask signal {name!r} is never on while the gripper is told to close")
    index = next((run.start for run in touching if _carries(demo, contact, run)), touching[0].start)
    return Grasp(index, f"subtask signal {name!r}", _end_of_earlier_subtasks(demo, index, name))


def _carries(demo: Demo, contact: Bool[Array, " T"], run: _Run) -> bool:
    """Whether the object moves while it is held: one that slipped out of the fingers was not grasped."""
    if demo.object_position is None:
        return True
    held = demo.object_position[run.start : run.stop][contact[run.start : run.stop]]
    return bool(np.linalg.norm(held - held[0], axis=1).max() > _MOVED_M)


def _end_of_earlier_subtasks(demo: Demo, index: int, grasp_signal: str = "grasp") -> int:
    """The first step at which every subtask that ends before the grasp has ended (Mug opens the drawer first)."""
    ends = [_first_rise(signal) for name, signal in demo.subtask_signals.items() if name != grasp_signal]
    return max((end for end in ends if end <= index), default=0)


def _by_gripper(demo: Demo, runs: list[_Run]) -> Grasp:
    opening = _opening(demo)
    found: list[str] = []
    released = 0  # after a close that held something else: a drawer's handle
    for run in runs:
        stalled = None if opening is None else _stalls(opening, run)
        moved = None if demo.object_position is None else _moves(demo.object_position, run)
        if stalled is False or moved is False:
            found.append(f"steps {run.start}-{run.stop - 1}: " + _reason(stalled, moved))
            released = run.stop if stalled else released
            continue
        start = max(released, _end_of_earlier_subtasks(demo, run.start))
        return Grasp(run.start, _source(stalled, moved), start)
    raise _no_grasp(demo, "close commands that hold nothing (" + "; ".join(found) + ")")


def _source(stalled: bool | None, moved: bool | None) -> str:
    seen = ["fingers stalled"] * bool(stalled) + ["object moved"] * bool(moved)
    return "close command, " + " and ".join(seen) if seen else "close command alone"


def _reason(stalled: bool | None, moved: bool | None) -> str:
    reasons = ["the fingers shut on nothing"] * (stalled is False) + ["the object stays"] * (moved is False)
    return " and ".join(reasons)


def _moves(object_position: Float[Array, "T 3"], run: _Run) -> bool:
    path = object_position[run.start : run.stop + 1]
    return bool(np.linalg.norm(path - path[0], axis=1).max() > _MOVED_M)


def _opening(demo: Demo) -> Float[Array, " T"] | None:
    """How far the fingers are apart, 0 for shut, in the gripper's own unit; None where the joints don't tell.

    Two-finger grippers report joints that are 0 when shut. A single joint may count the other way (DROID: 0 open,
    1 closed); then the commanded range says where shut is.
    """
    spec, joints = demo.action_spec, demo.gripper
    if joints.shape[1] == 2:
        opening = np.abs(joints[:, 0] - joints[:, 1])
    elif joints.shape[1] == 1:
        opening = np.abs(joints[:, 0])
        closing = spec.closes(demo.actions)
        if closing.any() and not closing.all() and opening[closing].mean() > opening[~closing].mean():
            opening = np.abs(spec.gripper_closed - joints[:, 0])
    else:
        return None
    return opening if opening.max() > 0 else None


def _stalls(opening: Float[Array, " T"], run: _Run) -> bool:
    widest = opening.max()
    during = opening[run.start : run.stop + 1]
    settled = np.flatnonzero(np.abs(np.diff(during)) < _SETTLED_SHARE * widest)
    # Before they react, fingers are as settled as can be: only those count that have begun to close.
    settled = settled[during[settled] < during[0] - _SETTLED_SHARE * widest]
    return bool(settled.size and during[settled[0]] > _STALLED_SHARE * widest)


def _no_grasp(demo: Demo, found: str) -> DataError:
    return DataError(
        "no grasp found",
        demo=demo.name,
        field="grasp_index",
        found=found,
        expected="one close command that holds and moves the object",
        fix="annotate the grasp in the file, check --action-spec (which command closes?), or leave the demo out",
    )
