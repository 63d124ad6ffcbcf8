"""Six numbers to the rotation beside them, whichever way the scene is turned."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["orthonormal_rows"]


def orthonormal_rows(rot6d: Float[Tensor, "*batch 6"]) -> Float[Tensor, "*batch 6"]:
    """The two orthonormal rows nearest to any two rows `M`: `(M M^T)^(-1/2) M`.

    Gram and Schmidt would take the first row as it is and bend the second. A turn of the scene mixes the two rows, so
    it would then matter which way the scene is turned: by as much as the rows are not yet orthonormal.
    """
    rows = rot6d.unflatten(-1, (2, 3))
    first, second = rows[..., 0, :], rows[..., 1, :]
    aa, ab, bb = (first * first).sum(-1), (first * second).sum(-1), (second * second).sum(-1)
    # The square root of a symmetric S of two rows: (S + s) / t, s^2 = det S, t^2 = trace S + 2 s. Its inverse is
    # (trace S + s - S) / (s t).
    area = torch.linalg.vector_norm(torch.linalg.cross(first, second), dim=-1)
    trace = aa + bb
    scale = 1 / (area * (trace + 2 * area).sqrt())
    onto = torch.stack([bb + area, -ab, -ab, aa + area], dim=-1).unflatten(-1, (2, 2)) * scale[..., None, None]
    return (onto @ rows).flatten(-2)
