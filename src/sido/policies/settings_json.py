"""Frozen dataclasses of settings as JSON, and back to the same: `read_settings(KINDS, write_settings(s)) == s`.

A dataclass becomes an object with its `kind`, by which it is found again among the choices that its place allows.
Fields may be numbers, text, flags, literals, tuples of one type, settings, unions of settings, and None.
"""

from __future__ import annotations

import dataclasses
import json
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sido.demos.json_document import JsonNode, parse_json

__all__ = ["read_settings", "write_settings"]


def write_settings(settings: Any) -> str:
    return json.dumps(_document(settings), indent=2)


def read_settings(allowed: Any, text: str | bytes, *, place: str = "settings") -> Any:
    """Settings of the type `allowed` (a dataclass, or a union of them), or a `DataError` that says where they stray."""
    return _value(allowed, parse_json(text, place=place))


def _document(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _document(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": _kind(type(value)), **fields}
    return [_document(entry) for entry in value] if isinstance(value, tuple) else value


def _kind(settings: Any) -> str:
    return settings.kind


def _value(allowed: Any, node: JsonNode) -> Any:
    origin, choices = get_origin(allowed), get_args(allowed)
    if origin in (Union, types.UnionType):
        return _one_of(choices, node)
    if origin is Literal:
        if node.value not in choices or isinstance(node.value, bool):
            raise node.wrong(f"one of {', '.join(map(repr, choices))}")
        return node.value
    if origin is tuple:
        return tuple(_value(choices[0], entry) for entry in node.each())
    if dataclasses.is_dataclass(allowed):
        return _settings(allowed, node)
    readers: dict[Any, Any] = {int: node.whole, float: node.number, bool: node.flag, str: node.text}
    return readers[allowed]()


def _one_of(choices: tuple[Any, ...], node: JsonNode) -> Any:
    settings = {_kind(choice): choice for choice in choices if dataclasses.is_dataclass(choice)}
    if node.value is None and type(None) in choices:
        return None
    if not settings:
        (choice,) = (choice for choice in choices if choice is not type(None))
        return _value(choice, node)
    kind = node["kind"]
    if kind.text() not in settings:
        raise kind.wrong(f"one of {', '.join(map(repr, sorted(settings)))}")
    return _settings(settings[kind.text()], node)


def _settings(allowed: Any, node: JsonNode) -> Any:
    hints = get_type_hints(allowed)
    fields = [field.name for field in dataclasses.fields(allowed)]
    if node["kind"].text() != _kind(allowed):
        raise node["kind"].wrong(repr(_kind(allowed)))
    for name, entry in node.items():
        if name not in ("kind", *fields):
            raise entry.wrong(f"only {', '.join(fields)}")
    return allowed(**{name: _value(hints[name], node[name]) for name in fields})
