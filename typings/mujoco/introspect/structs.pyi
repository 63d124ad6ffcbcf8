from mujoco.introspect.ast_nodes import StructDecl

STRUCTS: dict[str, StructDecl]
