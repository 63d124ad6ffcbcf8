"""Where the policy of an evaluation comes from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, final, runtime_checkable

from sido.errors import DataError
from sido.policies import Actor, Policy

__all__ = ["PolicySource", "RunPolicy"]


@runtime_checkable
class PolicySource(Protocol):
    """To be pickled: each process makes the policy for itself."""

    @property
    def identity(self) -> str:
        """Another one wherever the policy is another: rollouts of two policies are never mixed."""
        ...

    def __call__(self) -> Actor: ...


@final
@dataclass(frozen=True)
class RunPolicy:
    """The policy of a run of `sido train`."""

    folder: Path
    checkpoint: Literal["last", "best"] = "last"

    @property
    def weights(self) -> Path:
        """The checkpoint's folder."""
        return self.folder / "checkpoint" / self.checkpoint

    @property
    def identity(self) -> str:
        """Of its weights and config."""
        digest = hashlib.sha256()
        for name in ("policy.json", "policy.safetensors"):
            file = self.weights / name
            if not file.is_file():
                raise DataError(
                    "not a trained policy",
                    file=self.folder,
                    found=f"no {file.relative_to(self.folder)}",
                    expected="a folder that sido train made, with a checkpoint",
                )
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]

    def __call__(self) -> Policy:
        from sido.policies.weights import load_policy

        return load_policy(self.weights)
