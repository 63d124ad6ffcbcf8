from typing import Any

TableArena: Any
