from typing import Any

ManipulationTask: Any
