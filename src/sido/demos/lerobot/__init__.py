"""LeRobot datasets: version 3.0 read and written, version 2.1 read; nothing of lerobot itself is needed."""

from sido.demos.lerobot.source import LeRobotSource
from sido.demos.lerobot.writer import LeRobotWriter

__all__ = ["LeRobotSource", "LeRobotWriter"]
