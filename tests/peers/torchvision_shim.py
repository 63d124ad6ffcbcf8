"""Import this before torchvision where torch is a CPU build and torchvision's wheel is not.

The wheel's compiled library then does not load, and `import torchvision` fails with "operator torchvision::nms does not
exist", because it registers shapes for operators that nobody defined. Declaring them is enough for the transforms and
the models; the compiled operators themselves (nms, roi_align) and image IO stay unavailable. A convenience for peer
environments only: sido itself does not use torchvision.
"""

from __future__ import annotations

import torch

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def _declare() -> torch.library.Library:
    # FRAGMENT, not DEF: where the wheel does load after all, a second declaration must not be an error of its own.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, operator):
            library.define(f"{operator}{_SCHEMA}")
    return library


LIBRARY = _declare()
"""Kept alive by the module: the declarations vanish with it."""
