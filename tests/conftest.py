"""Shapes and types are checked for real under pytest, and only there."""

from __future__ import annotations

import os

from jaxtyping import install_import_hook

os.environ.setdefault("MPLBACKEND", "Agg")
install_import_hook("sido", "beartype.beartype")
