"""Learned predictors on disk: a folder with `predictor.json` and `weights.safetensors`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sido.arrays import Array
from sido.atomic import atomic_path, require_replaceable
from sido.demos.json_document import JsonNode, parse_json
from sido.errors import DataError
from sido.predict.fernn import FERNN
from sido.predict.mlp import MLP

__all__ = ["DOCUMENT", "WEIGHTS", "load_learned", "save_learned"]

DOCUMENT, WEIGHTS = "predictor.json", "weights.safetensors"
_FORMAT = 1


def save_learned(
    predictor: MLP | FERNN, folder: Path, *, about: Mapping[str, Any] | None = None, overwrite: bool = False
) -> None:
    """Write it, whole or not at all.

    Args:
        predictor: What was learned.
        folder: Where to.
        about: How it came to be: settings, tracks, versions. JSON.
        overwrite: Replace what is there.
    """
    from safetensors.numpy import save_file

    document: dict[str, Any] = {"format": _FORMAT, **_description(predictor), "about": dict(about or {})}
    if overwrite:
        require_replaceable(folder, DOCUMENT)
    with atomic_path(folder, overwrite=overwrite) as partial:
        partial.mkdir(parents=True)
        (partial / DOCUMENT).write_text(json.dumps(document, indent=2) + "\n")
        save_file({name: np.ascontiguousarray(array) for name, array in predictor.weights.items()}, partial / WEIGHTS)


def load_learned(folder: Path) -> MLP | FERNN:
    """Read it back, the same to the last bit.

    Raises:
        DataError: a folder that holds no predictor, or a damaged one.
    """
    document = folder / DOCUMENT
    if not document.is_file():
        raise DataError(
            "no learned predictor here", file=folder, expected=DOCUMENT, fix="make one with `sido predictor fit`"
        )
    try:
        return _read(parse_json(document.read_bytes(), place=DOCUMENT), _weights(folder / WEIGHTS))
    except DataError as error:
        raise error.at(file=folder) from error.__cause__


def _description(predictor: MLP | FERNN) -> dict[str, Any]:
    if isinstance(predictor, MLP):
        return {"network": "mlp", "observations": predictor.observations, "width": predictor.width}
    return {
        "network": "fernn",
        "observations": predictor.observations,
        "span_mps": predictor.span_mps,
        "side": predictor.side,
        "width": predictor.width,
    }


def _read(document: JsonNode, weights: Mapping[str, Array]) -> MLP | FERNN:
    if document["format"].whole() != _FORMAT:
        raise document["format"].wrong(str(_FORMAT))
    observations, width = document["observations"].whole(at_least=2), document["width"].whole(at_least=1)
    match document["network"].text():
        case "mlp":
            return MLP(weights, observations, width)
        case "fernn":
            span, side = document["span_mps"].number(above=0.0), document["side"].whole(at_least=1)
            return FERNN(weights, observations, span, side, width)
        case _:
            raise document["network"].wrong("mlp or fernn")


def _weights(path: Path) -> dict[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError("weights that cannot be read", field=WEIGHTS, found=str(error)) from error
