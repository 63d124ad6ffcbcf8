class ValueType:
    name: str

class ArrayType:
    inner_type: ValueType | PointerType | ArrayType
    extents: tuple[int, ...]

class PointerType:
    inner_type: ValueType | PointerType | ArrayType

class StructFieldDecl:
    name: str
    type: ValueType | PointerType | ArrayType

class AnonymousStructDecl: ...
class AnonymousUnionDecl: ...

class StructDecl:
    fields: tuple[StructFieldDecl | AnonymousStructDecl | AnonymousUnionDecl, ...]
