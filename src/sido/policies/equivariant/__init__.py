"""Equivariant Diffusion Policy: turn the scene about the vertical, and the actions turn with it.

| file | what it holds |
|---|---|
| `representation.py` | how numbers change when the scene turns: scalars, vectors, fields |
| `linear.py` | `ToFields`, `FromFields`: linear maps from numbers to fields, and back |
| `harmonics.py`, `convolution.py` | filters whose turned copies are exact, and convolutions with them |
| `image_encoder.py` | `EquivariantImageEncoder`: an image that turns with the scene, to fields |
| `state.py` | `EquivariantState`: what the policy is told besides images, and how that turns |
| `observer.py` | `Observer`: state and images to fields |
| `action_field.py` | `ActionField`: one denoiser for all directions |
| `rotation.py` | six numbers to a rotation, whichever way the scene is turned |
| `policy.py`, `build.py` | `EquivariantPolicy`, and how it is put together |
"""

from sido.policies.equivariant.build import build_equivariant_policy
from sido.policies.equivariant.policy import EquivariantPolicy

__all__ = ["EquivariantPolicy", "build_equivariant_policy"]
