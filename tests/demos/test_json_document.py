"""The door for JSON: what comes in is of the kind that was asked for, and what is not is named with its place."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.demos.json_document import JsonNode, parse_json
from sido.errors import DataError, SidoError

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("take", "kind"),
    [
        (JsonNode.text, str),
        (JsonNode.flag, bool),
        (JsonNode.whole, int),
        (JsonNode.number, float),
        (JsonNode.each, list),
        (lambda node: dict(node.items()), dict),
        (lambda node: node["x"], JsonNode),
        (lambda node: node.get("x"), JsonNode | None),
    ],
)
@given(value=_values)
def test_anything_is_of_the_kind_asked_for_or_refused(take: Callable[[JsonNode], Any], kind: Any, value: Any) -> None:
    refused: DataError | None = None
    taken: Any = None
    try:
        taken = take(JsonNode(value, "here"))
    except DataError as error:
        refused = error
    if refused is None:
        assert isinstance(taken, kind)
        assert not (kind in (int, float) and isinstance(value, bool))
        assert not (kind is float and not math.isfinite(taken))
    else:
        assert refused.expected
        assert (refused.field or "").startswith("here")


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\0\0\0{", "{", "", "[" * 100_000, "1" * 10_000])
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(SidoError, match="not JSON"):
        parse_json(text, place="notes")


def test_an_error_names_the_place() -> None:
    document = parse_json(json.dumps({"poses": [{"x": 1.0}, {"x": "one"}]}), place="notes")
    with pytest.raises(DataError, match=r"^notes > poses\[1\] > x: .*found 'one'; expected a finite number$"):
        [pose["x"].number() for pose in document["poses"].each()]


def test_limits() -> None:
    with pytest.raises(DataError, match="above 0"):
        JsonNode(0.0, "rate").number(above=0.0)
    with pytest.raises(DataError, match="at least 0"):
        JsonNode(-1, "fingers").whole(at_least=0)
    assert JsonNode(3, "rate").number() == 3.0
