from typing import Any

GRIPPER_MAPPING: dict[str | None, type[Any]]
