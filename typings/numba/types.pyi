from typing import Any

class Type:
    def __call__(self, *arguments: Type) -> Any: ...

void: Type
intp: Type
int32: Type
float64: Type

class CPointer(Type):
    def __init__(self, dtype: Type) -> None: ...

class ExternalFunction(Type):
    def __init__(self, symbol: str, signature: Any) -> None: ...
    def __call__(self, *arguments: Any) -> Any: ...
