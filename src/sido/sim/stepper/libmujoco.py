"""The C library under the `mujoco` package: its functions by name, and where its structs keep things."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import mujoco
from mujoco.introspect import ast_nodes
from mujoco.introspect.structs import STRUCTS

from sido.errors import SidoError

__all__ = ["ALREADY_WARNED", "Offsets", "address_of", "link", "offsets", "verify"]

FUNCTIONS = ("mj_step1", "mj_step2", "mj_kinematics", "mju_mat2Quat")

ALREADY_WARNED = 2
"""Where every environment's warning counts start. mujoco prints and logs the first warning of a kind only, and counts
on; what has diverged it resets, and the counts with it. So nothing is printed, and any other number is a warning."""

_C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "uintptr_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtByte": ctypes.c_uint8,
    "mjtBool": ctypes.c_uint8,
}


class Offsets(NamedTuple):
    """Where `mjData` keeps what the kernel reads, bytes from its start."""

    time: int
    ncon: int
    contact: int
    contact_size: int
    contact_geom: int
    """Within one contact."""
    warning_number: int
    warning_stride: int
    """In ints."""
    qpos: int
    qvel: int
    ctrl: int
    qfrc_bias: int
    qM: int  # noqa: N815  # mujoco's name
    site_xpos: int
    site_xmat: int
    xanchor: int
    xaxis: int


@cache
def link() -> None:
    """Let compiled code find mujoco's functions, in the very library that the Python package uses."""
    package = Path(mujoco.__file__).parent
    found = sorted(
        path for pattern in ("libmujoco*.so*", "libmujoco*.dylib", "mujoco.dll") for path in package.glob(pattern)
    )
    if not found:
        raise SidoError("mujoco's C library is missing", file=package, expected="libmujoco beside the package")
    library = ctypes.CDLL(str(found[0]))
    for name in FUNCTIONS:
        llvmlite.binding.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


def address_of(struct: mujoco.MjModel | mujoco.MjData) -> int:
    """Where the C struct behind a Python object stands."""
    return struct._address  # pyright: ignore[reportPrivateUsage]


@cache
def offsets() -> Offsets:
    """Lay mujoco's structs out as C does, from the package's own description of them."""
    data, contact, warning = (_structure(name) for name in ("mjData", "mjContact", "mjWarningStat"))
    return Offsets(
        contact_size=ctypes.sizeof(contact),
        contact_geom=contact.geom.offset,
        warning_number=data.warning.offset + warning.number.offset,
        warning_stride=ctypes.sizeof(warning) // ctypes.sizeof(ctypes.c_int),
        **{
            name: getattr(data, name).offset
            for name in (
                "time",
                "ncon",
                "contact",
                "qpos",
                "qvel",
                "ctrl",
                "qfrc_bias",
                "qM",
                "site_xpos",
                "site_xmat",
                "xanchor",
                "xaxis",
            )
        },
    )


def verify(data: mujoco.MjData) -> None:
    """Make sure that the offsets lead to what Python sees in `data`, before anything is written through them.

    Raises:
        SidoError: they do not; this mujoco is laid out in a way that sido does not know.
    """
    start, at = address_of(data), offsets()
    seen: dict[str, bool] = {
        "ncon": ctypes.c_int.from_address(start + at.ncon).value == data.ncon,
        "time": ctypes.c_double.from_address(start + at.time).value == data.time,
        "warning": start + at.warning_number == data.warning.number.ctypes.data,
    }
    arrays = {name: getattr(data, name) for name in ("qpos", "qvel", "ctrl", "qfrc_bias", "qM", "site_xpos", "xaxis")}
    if data.ncon:
        arrays["contact"] = data.contact.dist
    for name, array in arrays.items():
        pointer = ctypes.c_void_p.from_address(start + getattr(at, name)).value
        seen[name] = array.size == 0 or pointer == array.ctypes.data
    if not all(seen.values()):
        raise SidoError(
            "mujoco's mjData is not laid out as its package describes",
            field=", ".join(name for name, right in seen.items() if not right),
            found=f"mujoco {mujoco.__version__}",
            fix="install a mujoco of the range that sido asks for",
        )


@cache
def _structure(name: str) -> Any:
    """A ctypes structure of the fields that mujoco says `name` has, as far as they are of known types."""
    fields: list[tuple[str, Any]] = []
    for field in STRUCTS[name].fields:
        if not isinstance(field, ast_nodes.StructFieldDecl):
            raise SidoError("a struct of mujoco has an unnamed part", field=name)
        fields.append((field.name, _c_type(field.type)))
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _c_type(declared: Any) -> Any:
    if isinstance(declared, ast_nodes.PointerType):
        return ctypes.c_void_p
    if isinstance(declared, ast_nodes.ArrayType):
        kind = _c_type(declared.inner_type)
        for extent in reversed(declared.extents):
            kind = kind * extent
        return kind
    return _C_TYPES[declared.name] if declared.name in _C_TYPES else _structure(declared.name)
