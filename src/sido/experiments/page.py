"""A table as one self-contained page of HTML: by it a person decides whether to trust the method."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from sido.experiments.charts import curves, intervals, shares
from sido.experiments.exhibit import Figure, Shown
from sido.experiments.experiment import World
from sido.experiments.films import films_of
from sido.experiments.pieces import pieces_of
from sido.experiments.table import Entry, Table
from sido.release import versions
from sido.train import read_clock, read_metrics

__all__ = ["page"]

_COLOURS = ("#4c78a8", "#e07b39", "#3c9d74", "#c2546b", "#8a6fc0", "#8c7a4f", "#3aa6b9", "#7f8894")
_CAUSES = (
    "#c2546b", "#e07b39", "#d9a441", "#8c7a4f", "#3c9d74", "#3aa6b9", "#4c78a8", "#8a6fc0", "#b36ab0", "#7f8894"
)  # fmt: skip


def page(table: Table, folder: Path) -> str:
    """The whole page: of the table, its exhibits, and the films that there are in the folder of its runs."""
    experiment = table.experiment
    sections = [
        f"<h1>{escape(experiment.title)}</h1>",
        f'<p class="lead">{escape(experiment.about)}</p>',
        _verdict(table),
        _filmed(table, folder),
        "<h2>Success</h2>",
        _rates(table),
        *(_exhibit(exhibit.shown(table, folder)) for exhibit in experiment.exhibits),
        "<h2>World by world</h2>",
        '<div class="grid2">' + "".join(_world(table, world) for world in experiment.worlds) + "</div>",
        "<h2>Where it fails, and why</h2>",
        _failures(table),
        "<h2>What was measured besides</h2>",
        _details(table),
        "<h2>Training</h2>",
        _training(table, folder),
        "<h2>How it was made</h2>",
        _made(table),
    ]
    style = resources.files("sido.experiments").joinpath("page.css").read_text()
    colours = "".join(
        f"svg .c{k}.dot{{fill:{colour}}}svg .c{k}.bar,svg .c{k}.line{{stroke:{colour}}}"
        for k, colour in enumerate(_COLOURS)
    ) + "".join(f"svg .f{k}{{fill:{colour}}}" for k, colour in enumerate(_CAUSES))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(experiment.title)} - sido</title><style>{style}{colours}</style></head>"
        f"<body><main>{''.join(sections)}</main></body></html>\n"
    )


# --- sections


def _verdict(table: Table) -> str:
    """What it comes to, in one paragraph of figures."""
    experiment, scale = table.experiment, table.scale
    small = (
        '<p class="note">This is a smoke test: the policies are hardly trained, and the numbers mean nothing.</p>'
        if scale.name == "smoke"
        else ""
    )
    setting = (
        f"<p>Policies see <b>{'the state' if experiment.obs == 'state' else 'images'}</b>. Each cell has "
        f"{scale.training_seeds} training seed{'s' if scale.training_seeds > 1 else ''} x {scale.rollouts} rollouts; "
        "all methods meet the same episodes. Intervals are 95 % (Wilson, widened where training seeds differ by more "
        "than chance).</p>"
    )
    if not experiment.reference:
        return setting + small
    moving = [world for world in experiment.worlds if world.motion != "still"]
    lines = "".join(_compared(table, method.name, moving or list(experiment.worlds)) for method in experiment.methods)
    head = "".join(f"<th>{title}</th>" for title in ("", "static", "moving, mean", "better in", "worse in"))
    return (
        f'{setting}{small}<div class="scroll"><table class="brief"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody>'
        f'</table></div><p class="note">Better, worse: in how many of {len(moving or experiment.worlds)} '
        f"{'moving ' if moving else ''}world(s) a method differs from {escape(experiment.reference)} by more than "
        "chance (exact McNemar test, p &lt; 0.05, not corrected for their number).</p>"
    )


def _compared(table: Table, method: str, worlds: Sequence[World]) -> str:
    """A line of the verdict."""
    entries = [table[method, world.name] for world in worlds]
    still = [table[method, world.name].pooled.rate for world in table.experiment.worlds if world.motion == "still"]
    sure = [entry.against.difference for entry in entries if entry.against and entry.against.p_value < 0.05]
    reference = method == table.experiment.reference
    cells = (
        f"{sum(still) / len(still):.2f}" if still else "-",
        f"{sum(entry.pooled.rate for entry in entries) / len(entries):.2f}",
        "the reference" if reference else str(sum(difference > 0 for difference in sure)),
        "" if reference else str(sum(difference < 0 for difference in sure)),
    )
    return f"<tr><th>{escape(method)}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _rates(table: Table) -> str:
    experiment = table.experiment
    head = "".join(f"<th>{_heading(table, world)}</th>" for world in experiment.worlds)
    best = {
        world.name: max(table[method.name, world.name].pooled.rate for method in experiment.methods)
        for world in experiment.worlds
    }
    rows: list[str] = []
    for method in experiment.methods:
        tag = ' <span class="tag">not in the paper</span>' if method.ours else ""
        cells = "".join(_cell(table[method.name, world.name], best[world.name]) for world in experiment.worlds)
        rows.append(f"<tr><th>{escape(method.name)}{tag}</th>{cells}</tr>")
    note = (
        f"p: exact McNemar test against {escape(experiment.reference)} on the same episodes, given these policies. "
        if experiment.reference
        else ""
    )
    paper = "Paper: its own number, 20 rollouts, another simulator version or real robots. " if experiment.paper else ""
    return (
        f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        f'</div><p class="note">{note}{paper}Green: the highest rate of its column.</p>'
    )


def _heading(table: Table, world: World) -> str:
    """Without the task, where all worlds are of the same."""
    task, rest = world.name.split(", ", 1)
    alone = len({each.task for each in table.experiment.worlds}) == 1
    return escape(rest) if alone else f"{escape(task)}<br>{escape(rest)}"


def _cell(entry: Entry, best: float) -> str:
    low, high = entry.pooled.interval()
    lines = [f"{low:.2f} to {high:.2f}"]
    if len(entry.pooled.policies) > 1:
        lines.append("seeds " + " ".join(f"{policy.rate:.2f}" for policy in entry.pooled.policies))
    if entry.against is not None:
        p = entry.against.p_value
        lines.append("p &lt; 0.001" if p < 0.001 else f"p = {p:.3f}")
    if entry.paper is not None:
        lines.append(f"paper {entry.paper:.2f}")
    mark = ' class="best"' if entry.pooled.rate == best > 0.0 else ""
    return f"<td{mark}><b>{entry.pooled.rate:.2f}</b>" + "".join(f"<small>{line}</small>" for line in lines) + "</td>"


def _world(table: Table, world: World) -> str:
    rows: list[tuple[str, float, float, float, float | None, int]] = []
    for k, method in enumerate(table.experiment.methods):
        entry = table[method.name, world.name]
        rows.append((method.name, entry.pooled.rate, *entry.pooled.interval(), entry.paper, k % len(_COLOURS)))
    return f"<div><h3>{escape(world.name)}</h3>{intervals(rows, f'success rates, {world.name}')}</div>"


def _failures(table: Table) -> str:
    causes = list(dict.fromkeys(cause.value for entry in table.entries for cause in entry.summary.failures))
    if not causes:
        return "<p>None did.</p>"
    blocks: list[str] = []
    for world in table.experiment.worlds:
        rows = [
            (
                method.name,
                {cause.value: count for cause, count in entry.summary.failures.items()},
                entry.summary.success.attempts,
            )
            for method in table.experiment.methods
            for entry in (table[method.name, world.name],)
        ]
        if any(counts for _name, counts, _total in rows):
            blocks.append(f"<div><h3>{escape(world.name)}</h3>{shares(rows, causes, f'failures, {world.name}')}</div>")
    legend = "".join(
        f'<li><i style="background:{_CAUSES[k % len(_CAUSES)]}"></i>{escape(cause)}</li>'
        for k, cause in enumerate(causes)
    )
    return f'<ul class="legend">{legend}</ul><div class="grid2">{"".join(blocks)}</div>'


def _details(table: Table) -> str:
    """World by world, folded up but for the first."""
    head = (
        "method", "no early turn", "early turn", "lifted", "lost grasps", "time to success", "lead at closing",
        "forecast error", "hand-object at T_a", "at T_p", "SPARC",
    )  # fmt: skip
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    parts: list[str] = []
    for number, world in enumerate(table.experiment.worlds):
        rows = "".join(_detailed(table[method.name, world.name]) for method in table.experiment.methods)
        parts.append(
            f'<details{" open" if number == 0 else ""}><summary>{escape(world.name)}</summary><div class="scroll">'
            f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div></details>"
        )
    return (
        "".join(parts)
        + '<p class="note">Means over episodes, before the grasp. An early turn: the object\'s plan turns '
        "within 3 s. Lead: how far the hand is ahead of the object along its way when the gripper is told to close. "
        "Forecast error: of what the policy was told, at the time that it speaks of.</p>"
    )


def _detailed(entry: Entry) -> str:
    summary = entry.summary
    cells = (
        _fraction(summary.without_turns),
        _fraction(summary.with_turns),
        _fraction(summary.lifted),
        str(summary.lost_grasps),
        _number(summary.time_to_success_s, 1.0, " s", 1),
        _number(summary.lead_at_closing_m, 100.0, " cm", 1),
        _number(summary.fde_m, 100.0, " cm", 2),
        _number(summary.hand_object_ta_m, 100.0, " cm", 1),
        _number(summary.hand_object_tp_m, 100.0, " cm", 1),
        _number(summary.sparc, 1.0, "", 2),
    )
    return (
        f"<tr><th>{escape(entry.method)}</th>" + "".join(f'<td class="plain">{cell}</td>' for cell in cells) + "</tr>"
    )


def _training(table: Table, folder: Path) -> str:
    losses: dict[str, Sequence[tuple[float, float]]] = {}
    rows: list[str] = []
    for piece in pieces_of(table.experiment, table.scale):
        run = piece.path(folder)
        lines = read_metrics(run / "metrics.jsonl")
        losses[run.name] = [(line["step"], line["loss"]) for line in lines if "loss" in line]
        clock = read_clock(run)
        elapsed = clock.get("elapsed_s") if clock else None
        time = "-" if elapsed is None else f"{elapsed / 60:.1f} min"
        steps = f"{lines[-1]['step']:.0f}" if lines else "-"
        rows.append(f"<tr><th>{escape(run.name)}</th><td>{steps}</td><td>{time}</td></tr>")
    shown = dict(list(losses.items())[: len(_COLOURS)])
    return (
        curves(shown, "training losses", "updates")
        + '<div class="scroll"><table><thead><tr><th>policy</th><th>updates</th><th>time</th></tr></thead>'
        + f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _filmed(table: Table, folder: Path) -> str:
    """Those of the films that there are."""
    films = [film for film in films_of(table, folder) if film.path.exists()]
    if not films:
        return ""
    figures: list[str] = []
    for film in films:
        data = base64.b64encode(film.path.read_bytes()).decode()
        outcome = '<span class="good">success</span>' if film.success else "<span>failure</span>"
        figures.append(
            f'<figure><video autoplay loop muted playsinline src="data:video/mp4;base64,{data}"></video>'
            f"<figcaption>{escape(film.method)}{outcome}</figcaption></figure>"
        )
    return (
        f"<h2>The same episode under each method</h2><p>{escape(films[0].setting.world)}, seed {films[0].seed}, "
        'training seed 0. Where episodes are shorter, their films begin again sooner.</p><div class="films">'
        + "".join(figures)
        + "</div>"
    )


def _exhibit(shown: Shown) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in shown.columns)
    rows = "".join(
        f"<tr><th>{escape(first)}</th>" + "".join(f'<td class="plain">{escape(cell)}</td>' for cell in others) + "</tr>"
        for first, *others in shown.rows
    )
    note = f'<p class="note">{escape(shown.note)}</p>' if shown.note else ""
    return (
        f'<h2>{escape(shown.title)}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        f"</table></div>{note}"
        + _drawn("figures", [figure for figure in shown.figures if not figure.small])
        + _drawn("figures small", [figure for figure in shown.figures if figure.small])
    )


def _drawn(group: str, figures: Sequence[Figure]) -> str:
    shown = "".join(
        f'<figure class="drawn">{figure.html}<figcaption>{escape(figure.caption)}</figcaption></figure>'
        for figure in figures
        if figure.html
    )
    return f'<div class="{group}">{shown}</div>'


def _made(table: Table) -> str:
    scale = table.scale
    made = versions(("torch", "mujoco", "robosuite", "numpy"))
    facts = {
        "command": f"sido reproduce {table.experiment.name} --scale {scale.name} --rollouts {scale.rollouts} "
        f"--training-seeds {scale.training_seeds}",
        "episodes": f"seeds {scale.seeds.start} to {scale.seeds.stop - 1}; demonstrations have seeds from 0 on",
        "training seeds": ", ".join(map(str, range(scale.training_seeds))),
        "demonstrations": ", ".join(
            f"{scale.demos[task]} of {task}" for task in dict.fromkeys(world.task for world in table.experiment.worlds)
        ),
        "software": ", ".join(f"{name} {version}" for name, version in made.items() if version),
        "machine": f"{os.cpu_count()} processors, {platform.machine()}, {platform.system()}, Python "
        f"{platform.python_version()}",
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>" for name, value in facts.items())
    return f"<dl>{rows}</dl>"


def _fraction(proportion: object) -> str:
    from sido.proportion import Proportion

    return f"{proportion.successes}/{proportion.attempts}" if isinstance(proportion, Proportion) else "-"


def _number(value: float, scale: float, unit: str, digits: int) -> str:
    return "-" if value != value else f"{scale * value:.{digits}f}{unit}"
