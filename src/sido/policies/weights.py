"""A policy on disk: `policy.safetensors`, its weights, and `policy.json`, all else that it takes to build it again."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from sido.demos.action_spec import ActionSpec
from sido.demos.json_document import parse_json
from sido.errors import DataError, SettingError
from sido.policies.build import build_policy
from sido.policies.config import policy_config_from_json
from sido.policies.policy import Policy

__all__ = ["POLICY_FILES", "load_policy", "save_policy"]

POLICY_FILES = ("policy.json", "policy.safetensors")
"""What a folder with a policy in it has."""
_FORMAT = "sido policy 1"


def save_policy(policy: Policy, folder: Path) -> None:
    """Write the two files into a folder that exists."""
    document = {
        "format": _FORMAT,
        "action_spec": json.loads(policy.action_spec.to_json()),
        "config": json.loads(policy.config.to_json()),
    }
    (folder / "policy.json").write_text(json.dumps(document, indent=2))
    weights = {name: tensor.detach().contiguous() for name, tensor in policy.state_dict().items()}
    save_file(weights, folder / "policy.safetensors")


def load_policy(folder: Path, *, action_spec: ActionSpec | None = None, device: torch.device | str = "cpu") -> Policy:
    """The policy that was saved there, in evaluation mode.

    Args:
        folder: Where the two files are.
        action_spec: That of the robot or the data it is meant for; None takes the policy's own as right.
        device: Where it will compute.

    Raises:
        DataError: a file is missing or damaged, or the policy's actions are others than `action_spec`.
    """
    folder = Path(folder)
    missing = [name for name in POLICY_FILES if not (folder / name).is_file()]
    if missing:
        raise DataError(
            "no policy here", file=folder, found=f"no {', no '.join(missing)}", expected="a folder of sido's weights"
        )
    try:
        document = parse_json((folder / "policy.json").read_bytes(), place="policy.json")
        if document["format"].text() != _FORMAT:
            raise document["format"].wrong(repr(_FORMAT))
        config = policy_config_from_json(json.dumps(document["config"].value))
        own = ActionSpec.from_json_node(document["action_spec"])
    except (DataError, SettingError) as error:
        raise error.at(file=folder) from None
    if action_spec is not None:
        own.require_same(action_spec, here="the policy", there="what it is used with")
    with torch.random.fork_rng(devices=[]):  # fresh weights are drawn, and then overwritten
        policy = build_policy(config, None, own)
    try:
        policy.load_state_dict(load_file(folder / "policy.safetensors"))
    except (RuntimeError, SafetensorError) as error:
        raise DataError(
            "the weights are damaged, or of another policy",
            file=folder / "policy.safetensors",
            found=" ".join(str(error).split())[:200],
            expected="those of the policy.json beside them",
        ) from error
    return policy.to(device).eval()
