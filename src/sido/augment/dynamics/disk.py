"""A dynamics model in a folder: what it is as JSON, its weights as safetensors."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from sido.atomic import atomic_path
from sido.augment.dynamics.model import DynamicsModel
from sido.demos.action_spec import ActionSpec
from sido.demos.json_document import parse_json
from sido.errors import DataError

__all__ = ["load_dynamics", "save_dynamics"]

_DOCUMENT, _WEIGHTS = "dynamics.json", "dynamics.safetensors"


def save_dynamics(model: DynamicsModel, folder: Path) -> None:
    """Write a new folder; it appears whole, or not at all."""
    with atomic_path(folder) as partial:
        partial.mkdir()
        document = {
            "sido_dynamics": 1,
            "action_spec": json.loads(model.action_spec.to_json()),
            "gripper_joints": model.gripper_joints,
            "width": model.width,
            "digest": model.digest,
        }
        (partial / _DOCUMENT).write_text(json.dumps(document, indent=2))
        save_file({name: weight.contiguous() for name, weight in model.state_dict().items()}, partial / _WEIGHTS)


def load_dynamics(folder: Path) -> DynamicsModel:
    """The model in a folder.

    Raises:
        DataError: there is none, or its files do not belong together.
    """
    file = folder / _DOCUMENT
    try:
        node = parse_json(file.read_bytes(), place=file.name)
        spec = ActionSpec.from_json_node(node["action_spec"])
        model = DynamicsModel(spec, node["gripper_joints"].whole(at_least=0), node["width"].whole(at_least=1))
        model.load_state_dict(load_file(folder / _WEIGHTS))
        wanted = node["digest"].text()
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DataError("no dynamics model", file=folder, found=error, fix="generate the cache anew") from error
    if model.digest != wanted:
        raise DataError("the dynamics model's weights are other ones", file=folder, found=model.digest, expected=wanted)
    return model.requires_grad_(False)
