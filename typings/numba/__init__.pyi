from collections.abc import Callable
from typing import Any, TypeVar

from numba import types as types

_Function = TypeVar("_Function", bound=Callable[..., Any])

def njit(*, nogil: bool = ..., cache: bool = ..., error_model: str = ...) -> Callable[[_Function], _Function]: ...
def carray(pointer: Any, shape: tuple[int, ...]) -> Any: ...
