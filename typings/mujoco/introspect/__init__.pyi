from mujoco.introspect import ast_nodes as ast_nodes
