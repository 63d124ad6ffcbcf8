"""Which contacts are watched, and which there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Int64

from sido.arrays import Array
from sido.errors import SettingError
from sido.sim.stepper.native import ints, member, native
from sido.sim.stepper.tables import Fleet, Plant, Watch

__all__ = ["MAX_PAIRS", "ContactPair", "pair_bits", "touching"]

MAX_PAIRS = 63
"""They are counted in the bits of a signed word."""


@final
@dataclass(frozen=True)
class ContactPair:
    """Contact between any geom of one set and any geom of another, by a name of your choice."""

    name: str
    first: tuple[int, ...]
    second: tuple[int, ...]


def pair_bits(pairs: Sequence[ContactPair], geoms: int) -> tuple[Int64[Array, "{geoms}"], Int64[Array, "{geoms}"]]:
    """Bit `k` of `first[g]` is set where geom `g` is in the first set of `pairs[k]`; of `second[g]`, in the second.

    Raises:
        SettingError: two pairs of one name, too many of them, or a geom that the model has not.
    """
    names = [pair.name for pair in pairs]
    if len(set(names)) < len(names):
        raise SettingError("contacts need names that differ", field="contacts", found=", ".join(names))
    if len(pairs) > MAX_PAIRS:
        raise SettingError("too many contacts", field="contacts", found=len(pairs), expected=f"up to {MAX_PAIRS}")
    first, second = np.zeros(geoms, dtype=np.int64), np.zeros(geoms, dtype=np.int64)
    for k, pair in enumerate(pairs):
        unknown = [geom for geom in (*pair.first, *pair.second) if not 0 <= geom < geoms]
        if unknown:
            raise SettingError(
                "no such geom", field=f"contacts[{pair.name!r}]", found=unknown, expected=f"ids from 0 to {geoms - 1}"
            )
        first[list(pair.first)] |= 1 << k
        second[list(pair.second)] |= 1 << k
    return first, second


@native
def touching(i: int, plant: Plant, watch: Watch, fleet: Fleet, k: int) -> int:
    """Which watched pairs of geoms touch in substep `k`, as bits; also written into the report."""
    offsets = plant.offsets
    count = ints(fleet.data[i] + offsets.ncon, 1)[0]
    contact = member(fleet.data[i], offsets.contact) + offsets.contact_geom
    bits = 0
    for _ in range(count):
        geoms = ints(contact, 2)
        g, h = geoms[0], geoms[1]
        if g >= 0 and h >= 0:  # -1 stands for a soft body
            bits |= int((watch.first[g] & watch.second[h]) | (watch.first[h] & watch.second[g]))
        contact += offsets.contact_size
    for pair in range(watch.pairs):
        fleet.contacts[i, k, pair] = (bits >> pair) & 1
    return bits
