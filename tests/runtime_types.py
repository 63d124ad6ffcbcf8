"""The type checker that runs under pytest: beartype, with PEP 484's tower (an int may stand where a float is asked)."""

from __future__ import annotations

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
