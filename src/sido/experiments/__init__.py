"""The paper's tables and figures, declared, and made.

| file | what it holds |
|---|---|
| `experiment.py` | `Experiment`: methods x worlds, and the paper's own numbers; `Scale`: how much of everything |
| `declarations.py` | `EXPERIMENTS`, `SCALES` |
| `pieces.py` | the demonstrations and runs that an experiment needs, each made once |
| `reproduce.py` | `reproduce`: makes what is missing |
| `table.py` | `Table`: what came out |
| `page.py`, `page.css`, `charts.py`, `films.py` | the report: a page of HTML |
| `chunk_execution.py` | chunks executed in the simulator from moments of demonstrations |
| `chunk_study.py` | H-SIDO and DynaSIDO, chunk by chunk (the paper's generator-level test) |
| `watch.py` | looking after work that does not report itself |
"""

from sido.experiments.declarations import EXPERIMENTS, SCALES, experiment_named
from sido.experiments.experiment import Experiment, Method, Scale, World
from sido.experiments.reproduce import Left, Task, left_of, reproduce
from sido.experiments.table import Entry, Table, table_of

__all__ = [
    "EXPERIMENTS",
    "SCALES",
    "Entry",
    "Experiment",
    "Left",
    "Method",
    "Scale",
    "Table",
    "Task",
    "World",
    "experiment_named",
    "left_of",
    "reproduce",
    "table_of",
]
