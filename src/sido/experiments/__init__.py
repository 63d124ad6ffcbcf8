"""The paper's tables and figures, declared, and made.

| file | what it holds |
|---|---|
| `experiment.py` | `Experiment`: methods x worlds, and the paper's own numbers; `Scale`: how much of everything |
| `exhibit.py` | `Exhibit`: what is shown beside success |
| `declarations.py`, `scales.py` | `EXPERIMENTS`; `SCALES` |
| `pieces.py`, `making.py` | demonstrations, taught predictors, chunks, runs: each made once |
| `agenda.py` | what is left, and how long that takes |
| `reproduce.py` | `reproduce`: makes what is missing |
| `table.py` | `Table`: what came out |
| `exhibits/` | the tracking slope, forecast errors, the cost of demonstrations, wrist views, the study of chunks |
| `page.py`, `page.css`, `charts.py`, `plots.py`, `films.py` | the report: a page of HTML |
| `chunk_execution.py` | chunks executed in the simulator from moments of demonstrations |
| `chunk_study.py` | H-SIDO and DynaSIDO, chunk by chunk (the paper's generator-level test) |
| `watch.py` | looking after work that does not report itself |
"""

from sido.experiments.agenda import Agenda, Timekeeper, agenda_of
from sido.experiments.declarations import EXPERIMENTS, experiment_named
from sido.experiments.exhibit import Exhibit, Figure, Shown, Task
from sido.experiments.experiment import Experiment, Method, Scale, Taught, World
from sido.experiments.reproduce import reproduce
from sido.experiments.scales import SCALES
from sido.experiments.table import Entry, Table, table_of

__all__ = [
    "EXPERIMENTS",
    "SCALES",
    "Agenda",
    "Entry",
    "Exhibit",
    "Experiment",
    "Figure",
    "Method",
    "Scale",
    "Shown",
    "Table",
    "Task",
    "Taught",
    "Timekeeper",
    "World",
    "agenda_of",
    "experiment_named",
    "reproduce",
    "table_of",
]
