"""The one door through which JSON that others wrote comes in: of the kind that is expected, or a `DataError`.

```python
document = parse_json(text, place="meta/info.json")
rate_hz = document["fps"].number(above=0.0)          # DataError: meta/info.json > fps: ...
names = [name.text() for name in document["names"].each()]
pose = document.get("pose")                          # None where it is absent or null
```
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from sido.errors import DataError

__all__ = ["JsonNode", "mended_by", "parse_json"]

_SHOWN = 80  # characters of what was found


def parse_json(text: str | bytes, *, place: str = "") -> JsonNode:
    """Parse a document, which is called `place` in errors. Bytes are UTF-8."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return JsonNode(json.loads(decoded), place)
    # Not text; not UTF-8, not JSON, a number of 5,000 digits; nested too deeply.
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError("not JSON", field=place or None, found=str(error)) from error


@contextmanager
def mended_by(fix: str) -> Generator[None]:
    """Add what a person can do to the errors of documents that are read in the block."""
    try:
        yield
    except DataError as error:
        error.fix = error.fix or fix
        raise


@dataclass(frozen=True)
class JsonNode:
    """A value within a document, and where it stands there. Whoever takes it says of what kind it must be."""

    value: Any
    place: str = ""
    """For errors: "env_args > env_kwargs > robots[0]"."""

    def __getitem__(self, key: str) -> JsonNode:
        """An entry of an object that must be there (it may be null)."""
        entries = self._object()
        if key not in entries:
            raise DataError(
                "an entry is missing", field=self._under(key), found=_shown(sorted(entries)), expected=repr(key)
            )
        return JsonNode(entries[key], self._under(key))

    def get(self, key: str) -> JsonNode | None:
        """An entry of an object; None where it is absent or null."""
        value = self._object().get(key)
        return None if value is None else JsonNode(value, self._under(key))

    def items(self) -> Iterator[tuple[str, JsonNode]]:
        """The entries of an object."""
        for key, value in self._object().items():
            yield key, JsonNode(value, self._under(key))

    def each(self) -> list[JsonNode]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        entries = cast("list[Any]", self.value)
        return [JsonNode(entry, f"{self.place}[{number}]") for number, entry in enumerate(entries)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(entry.text() for entry in self.each())

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def whole(self, *, at_least: int | None = None) -> int:
        """A whole number; neither 3.5 nor true."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("a whole number")
        if abs(self.value) > 2**62 or (at_least is not None and self.value < at_least):
            raise self.wrong("a whole number" + ("" if at_least is None else f", at least {at_least}"))
        return self.value

    def number(self, *, above: float | None = None) -> float:
        """A finite number; not true, not "5"."""
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(_float(value)):
            raise self.wrong("a finite number")
        if above is not None and not value > above:
            raise self.wrong(f"a number above {above:g}")
        return float(value)

    def wrong(self, expected: str) -> DataError:
        """The error that says what stands here, and what should."""
        return DataError("not what is expected here", field=self.place, found=_shown(self.value), expected=expected)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong("an object {...}")
        return cast("dict[str, Any]", self.value)

    def _under(self, key: str) -> str:
        return f"{self.place} > {key}" if self.place else key


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
