"""How far off predictors are: the final displacement error, and when it is large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.errors import DataError
from sido.motion.settings import require_above
from sido.predict.history import History
from sido.predict.predictor import Predictor
from sido.predict.track import Track
from sido.predict.watching import Watching

__all__ = [
    "SINCE_TURN_S",
    "Exam",
    "ExamSettings",
    "Score",
    "examine",
    "longest_window",
    "score",
    "since_turn_bins",
    "sit",
]

SINCE_TURN_S = (0.0, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Where the bins of the time since the last turn begin."""
_STEP_S = 0.05


@final
@dataclass(frozen=True)
class ExamSettings:
    """What is asked of every predictor."""

    horizon_s: float = 0.8
    """`T_p`."""
    grasp_s: float = 8.0
    """`T_g`, from when the object came into sight: every question's horizon ends before, `t + T_p <= T_g`."""
    settle_s: float = 0.4
    """How long it is watched before the first question: eight poses at 20 Hz, as many as the paper's networks need."""

    def __post_init__(self) -> None:
        for name in ("horizon_s", "grasp_s"):
            require_above(0.0, getattr(self, name), f"ExamSettings.{name}")
        require_above(self.settle_s + self.horizon_s, self.grasp_s, "ExamSettings.grasp_s")


class Exam(NamedTuple):
    """Questions, the same for every predictor, with what is known of each."""

    history: History
    horizon_s: float
    truth: Float[Array, "N 3"]
    episode: Int[Array, " N"]
    since_turn_s: Float[Array, " N"]
    """Since its velocity jumped last; infinite where it has not since it came into sight."""
    turns: Bool[Array, " N"]
    """Whether it jumps before the horizon."""


class Score(NamedTuple):
    """A mean distance, over questions; its standard error, over episodes."""

    fde_m: float
    error_m: float
    questions: int
    episodes: int


def examine(
    tracks: Iterable[Track],
    watching: Watching,
    observations: int,
    rng: np.random.Generator,
    settings: ExamSettings | None = None,
) -> Exam:
    """Ask at every control step of the pre-grasp window. Longer tracks are cut into episodes; shorter ones end early.

    Args:
        tracks: Where the objects were. What a recorded one says is taken to be true, its noise included.
        watching: How they are seen.
        observations: The most that any of the predictors looks at.
        rng: Draws noise and gaps.
        settings: What is asked.

    Raises:
        DataError: no track is long enough for a question.
    """
    settings = settings or ExamSettings()
    parts = [
        _episode(track, begin, watching, observations, rng, settings)
        for track in tracks
        for begin in np.arange(track.times_s[0], track.times_s[-1], settings.grasp_s)
    ]
    parts = [part for part in parts if len(part.truth)]
    if not parts:
        raise DataError(
            "no track is long enough for a question", expected=f"{settings.settle_s + settings.horizon_s:g} s or more"
        )
    history = History(
        *(
            np.concatenate([getattr(part.history, name) for part in parts])
            for name in ("positions", "times_s", "valid")
        ),
        highest_speed_mps=parts[0].history.highest_speed_mps,
    )
    return Exam(
        history,
        settings.horizon_s,
        np.concatenate([part.truth for part in parts]),
        np.repeat(np.arange(len(parts)), [len(part.truth) for part in parts]),
        np.concatenate([part.since_turn_s for part in parts]),
        np.concatenate([part.turns for part in parts]),
    )


def sit(exam: Exam, predictor: Predictor) -> Float[Array, " N"]:
    """How far off each answer is, in metres; of an object that was never seen, as far as it is from nowhere: NaN."""
    return np.linalg.norm(predictor(exam.history, exam.horizon_s).positions - exam.truth, axis=1)


def score(exam: Exam, distances: Float[Array, " N"], where: Bool[Array, " N"] | None = None) -> Score:
    """The final displacement error, of all questions or of some."""
    kept = np.isfinite(distances) if where is None else np.isfinite(distances) & where
    if not kept.any():
        return Score(float("nan"), float("nan"), 0, 0)
    fde = float(distances[kept].mean())
    episodes, index = np.unique(exam.episode[kept], return_inverse=True)
    # Questions of an episode are much alike; a ratio estimator's residuals, summed by episode.
    off = np.bincount(index, weights=distances[kept] - fde)
    spread = float(np.sqrt((off**2).sum() * len(episodes) / max(len(episodes) - 1, 1)))
    error = spread / int(kept.sum()) if len(episodes) > 1 else float("nan")
    return Score(fde, error, int(kept.sum()), len(episodes))


def since_turn_bins(exam: Exam) -> list[tuple[str, Bool[Array, " N"]]]:
    """The questions by how long ago the object turned; those with a turn before the horizon apart."""
    ends = (*SINCE_TURN_S[1:], np.inf)
    settled = ~exam.turns
    bins = [
        (
            f"{low:g}-{high:g}" if np.isfinite(high) else f"{low:g} on",
            settled & (exam.since_turn_s >= low) & (exam.since_turn_s < high) & np.isfinite(exam.since_turn_s),
        )
        for low, high in zip(SINCE_TURN_S, ends, strict=True)
    ]
    never = settled & np.isinf(exam.since_turn_s)
    return [*bins, ("none yet", never), ("one ahead", exam.turns)]


def _episode(
    track: Track,
    begin_s: float,
    watching: Watching,
    observations: int,
    rng: np.random.Generator,
    settings: ExamSettings,
) -> Exam:
    end = min(begin_s + settings.grasp_s, float(track.times_s[-1])) - settings.horizon_s
    asked = np.arange(begin_s + settings.settle_s, end + 1e-9, _STEP_S)
    history = watching.episode(track, rng, begin_s, asked, observations)
    turns = np.concatenate([[-np.inf], track.turns_s])
    turns = np.where(turns > begin_s, turns, -np.inf)
    last = turns[np.searchsorted(turns, asked, side="right") - 1]
    ahead = np.searchsorted(turns, asked + settings.horizon_s) > np.searchsorted(turns, asked, side="right")
    return Exam(
        history,
        settings.horizon_s,
        track.at(asked + settings.horizon_s),
        np.zeros(len(asked), dtype=np.int64),
        asked - last,
        ahead,
    )


def longest_window(predictors: Sequence[Predictor]) -> int:
    """The most observations that any of them looks at."""
    return max(predictor.observations for predictor in predictors)
