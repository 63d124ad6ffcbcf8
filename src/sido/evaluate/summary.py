"""What many episodes of a cell come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sido.errors import DataError
from sido.evaluate.failure import Failure
from sido.evaluate.measures import Measures
from sido.proportion import Proportion

__all__ = ["Summary", "summarise"]


@final
@dataclass(frozen=True)
class Summary:
    """Of one policy in one setting. Means are over the episodes that have the measure; NaN where none has."""

    success: Proportion
    without_turns: Proportion | None
    """Of those whose object would not turn before it is first reached for; None if there is none."""
    with_turns: Proportion | None
    lifted: Proportion
    lost_grasps: int
    failures: dict[Failure, int]
    """By cause, the most frequent first."""
    time_to_success_s: float
    lead_at_closing_m: float
    fde_m: float
    hand_object_ta_m: float
    hand_object_tp_m: float
    sparc: float


def summarise(measures: Sequence[Measures]) -> Summary:
    """Put them together."""
    if not measures:
        raise DataError("no episodes to put together", field="measures")
    causes = Counter(each.failure for each in measures if each.failure is not None)
    return Summary(
        success=Proportion(sum(each.success for each in measures), len(measures)),
        without_turns=_rate([each.success for each in measures if not each.turns_early]),
        with_turns=_rate([each.success for each in measures if each.turns_early]),
        lifted=Proportion(sum(each.lifted for each in measures), len(measures)),
        lost_grasps=sum(each.lost_grasps for each in measures),
        failures=dict(causes.most_common()),
        time_to_success_s=_mean(each.time_to_success_s for each in measures),
        lead_at_closing_m=_mean(each.lead_at_closing_m for each in measures),
        fde_m=_mean(each.fde_m for each in measures),
        hand_object_ta_m=_mean(each.hand_object_ta_m for each in measures),
        hand_object_tp_m=_mean(each.hand_object_tp_m for each in measures),
        sparc=_mean(each.sparc for each in measures),
    )


def _rate(successes: Sequence[bool]) -> Proportion | None:
    return Proportion(sum(successes), len(successes)) if successes else None


def _mean(values: Iterable[float]) -> float:
    found = np.array([value for value in values if np.isfinite(value)])
    return float(found.mean()) if len(found) else float("nan")
