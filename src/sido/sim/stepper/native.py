"""Compiled code: how functions are compiled, and how they reach mujoco's memory and functions.

The functions see no Python objects. mujoco's structs are read at their addresses (`libmujoco` knows the offsets), and
mujoco's functions are called by name, through the linker. No BLAS and no fast-math: sums are taken in the order in
which they are written, so that they come out the same wherever and on whatever thread they are taken.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import carray, njit, types
from numba.extending import intrinsic

from sido.arrays import Array

__all__ = [
    "floats",
    "ints",
    "member",
    "mj_kinematics",
    "mj_step1",
    "mj_step2",
    "mju_mat2quat",
    "native",
    "native_entry",
    "sources_digest",
]

Function = TypeVar("Function", bound=Callable[..., Any])

_CALLERS = ("__init__.py", "stepper.py", "fault.py")
"""Python that calls compiled code and is none of it: to compile takes a minute, which a change there need not cost."""


def native(function: Function) -> Function:
    """Compile what compiled code calls; the interpreter's lock is not held within.

    Under pytest, functions are wrapped to check their types; the compiler wants the function itself.
    """
    return njit(nogil=True, error_model="numpy")(inspect.unwrap(function))


def native_entry(function: Function) -> Function:
    """Compile what Python calls, and keep the machine code on disk."""
    return njit(nogil=True, error_model="numpy", cache=True)(inspect.unwrap(function))


def sources_digest() -> str:
    """Of this folder's compiled sources. An entry that has it in its closure is compiled anew when one changes.

    numba keys what it keeps on disk by the entry's own file and closure, and would not notice a change in a function
    that the entry calls from another file.
    """
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.name not in _CALLERS:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _pointer_to(dtype: Any) -> Any:
    @intrinsic
    def pointer(_typing: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        kind = types.CPointer(dtype)
        return kind(types.intp), generate

    return pointer


_float_pointer = _pointer_to(types.float64)
_int_pointer = _pointer_to(types.int32)
_word_pointer = _pointer_to(types.intp)

mj_step1 = types.ExternalFunction("mj_step1", types.void(types.intp, types.intp))
mj_step2 = types.ExternalFunction("mj_step2", types.void(types.intp, types.intp))
mj_kinematics = types.ExternalFunction("mj_kinematics", types.void(types.intp, types.intp))
mju_mat2quat = types.ExternalFunction("mju_mat2Quat", types.void(types.intp, types.intp))


@native
def floats(address: int, count: int) -> Array:
    return carray(_float_pointer(address), (count,))


@native
def ints(address: int, count: int) -> Array:
    return carray(_int_pointer(address), (count,))


@native
def member(struct: int, offset: int) -> int:
    """The pointer that a struct holds."""
    return carray(_word_pointer(struct + offset), (1,))[0]
