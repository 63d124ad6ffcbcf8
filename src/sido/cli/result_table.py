"""A table of success on a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from sido.experiments import Entry, Shown, Table, World

__all__ = ["print_table"]

_METHOD, _CELL = 23, 8
"""Columns of the terminal."""


def print_table(table: Table, folder: Path, console: Console) -> None:
    """Its rates in blocks that fit, then what is shown beside."""
    experiment, scale = table.experiment, table.scale
    console.print(
        f"\n[bold]{escape(experiment.title)}[/]\nfrom {experiment.obs}, scale {scale.name}: "
        f"{scale.training_seeds} training seed{'s' if scale.training_seeds > 1 else ''} x {scale.rollouts} rollouts"
    )
    for worlds in _blocks(experiment.worlds, max(1, (console.width - _METHOD) // _CELL)):
        console.print(_block(table, worlds))
    told = ["each cell: success rate, 95 % interval"]
    if experiment.paper:
        told.append("[paper's]")
    if experiment.reference:
        told.append(f"* differs from {experiment.reference} on the same episodes (McNemar, p < 0.05)")
    console.print(escape("; ".join(told)), style="dim")
    for exhibit in experiment.exhibits:
        _print_shown(exhibit.shown(table, folder), console)


def _blocks(worlds: Sequence[World], most: int) -> list[list[World]]:
    """Worlds of one task, as many as fit."""
    blocks: list[list[World]] = []
    for world in worlds:
        if not blocks or len(blocks[-1]) == most or blocks[-1][0].task != world.task:
            blocks.append([])
        blocks[-1].append(world)
    return blocks


def _block(table: Table, worlds: Sequence[World]) -> RichTable:
    shown = RichTable(box=None, padding=(0, 1, 0, 0), header_style="bold")
    shown.add_column(worlds[0].task, max_width=_METHOD - 1)
    for world in worlds:
        speed = f"{100 * world.speed_mps:g} cm/s"
        speed = speed if len(speed) < _CELL else speed.replace(" ", "")
        how = "static\n" if world.motion == "still" else f"{world.motion}\n{speed}"
        shown.add_column(how, max_width=_CELL - 1, justify="right")
    for method in table.experiment.methods:
        shown.add_row(escape(method.name), *(_cell(table[method.name, world.name]) for world in worlds))
    return shown


def _cell(entry: Entry) -> str:
    low, high = entry.pooled.interval()
    star = "*" if entry.against is not None and entry.against.p_value < 0.05 else ""
    lines = [f"[bold]{_short(entry.pooled.rate)}[/]{star}", f"[dim]{_short(low)}-{_short(high)}[/]"]
    if entry.paper is not None:
        lines.append(f"[dim]\\[{_short(entry.paper)}][/]")
    return "\n".join(lines)


def _short(rate: float) -> str:
    """Two figures: .95; all is 1.0."""
    text = f"{rate:.2f}"
    return "1.0" if text == "1.00" else text[1:]


def _print_shown(shown: Shown, console: Console) -> None:
    console.print(f"\n[bold]{escape(shown.title)}[/]")
    table = RichTable(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for column in shown.columns:
        table.add_column(escape(column))
    for row in shown.rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)
    if shown.note:
        console.print(escape(shown.note), style="dim")
