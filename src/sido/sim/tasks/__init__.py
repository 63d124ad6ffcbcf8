"""What is to be done: the contract of a task, and the tasks by name."""

from sido.sim.tasks.gantry import Gantry
from sido.sim.tasks.mug import Mug
from sido.sim.tasks.peachtree import Peachtree
from sido.sim.tasks.square import Square
from sido.sim.tasks.stack import Stack
from sido.sim.tasks.state import TaskState
from sido.sim.tasks.task import Task
from sido.sim.tasks.tasks import TASKS, shared_task, task_named
from sido.sim.tasks.workspace import Workspace

__all__ = [
    "TASKS",
    "Gantry",
    "Mug",
    "Peachtree",
    "Square",
    "Stack",
    "Task",
    "TaskState",
    "Workspace",
    "shared_task",
    "task_named",
]
