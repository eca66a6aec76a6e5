"""All figures of some runs, as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nrm.figures.curves import figure_2, grounding_figures, summary_figures, task_figures
from nrm.figures.series import collect
from nrm.figures.style import BLUE, GREEN, GREY, ORANGE, VERMILION, matplotlib_or_error, new_figure, save
from nrm.files import make_folder, write_text
from nrm.results import GroundabilityRow, Record, groundability_markdown, measure_groundability

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_groundability(out: Path, budget: float = 2.0, rows: Sequence[GroundabilityRow] | None = None) -> list[Path]:
    """Write the paper's tables 1 and 2, ours beside its figures, and say where: Markdown and a picture.

    `budget`: seconds for each task that the brute force over formulas may take; where that ends it, the tables say
    so. `rows`: times measured already. Where matplotlib is missing the tables are written before that is an error.
    """
    measured = measure_groundability(budget) if rows is None else rows
    write_text(make_folder(out) / "groundability.md", groundability_markdown(measured))
    return [out / "groundability.md", *save(draw_groundability(measured), out, "groundability")]


def draw_groundability(rows: Sequence[GroundabilityRow]) -> Figure:
    """Times by task on a logarithmic scale; where the budget ended the work, the time is a lower bound."""
    figure, (panel,) = new_figure(1, 3.2)
    tasks = np.arange(len(rows))
    points = (
        ("closed form", BLUE, "o", [row.closed_form for row in rows]),
        ("Algorithm 1", VERMILION, "s", [row.algorithm_1 for row in rows]),
        ("brute force, machines", GREEN, "P", [row.brute_force for row in rows]),
        ("brute force, formulas", ORANGE, "D", [_formulas(row, finished=True) for row in rows]),
        ("brute force, formulas (stopped there)", ORANGE, 6, [_formulas(row, finished=False) for row in rows]),
        ("paper's Algorithm 1", GREY, "s", [row.printed[0] for row in rows]),
        ("paper's brute force", GREY, "D", [row.printed[1] for row in rows]),
    )
    for label, colour, marker, seconds in points:
        if not np.isnan(seconds).all():
            face = "none" if colour == GREY else colour
            panel.plot(tasks, seconds, label=label, color=colour, marker=marker, markerfacecolor=face, linestyle="")
    panel.set_yscale("log")
    panel.set_xticks(tasks, [f"{row.task.number}\n({row.count})" for row in rows])
    panel.set_xlabel("task (number of shortcuts)", fontsize=9)
    panel.set_ylabel("seconds", fontsize=9)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def _formulas(row: GroundabilityRow, finished: bool) -> float:
    """The time of the brute force over formulas where it ended so; NaN, which is not drawn, elsewhere."""
    return row.formulas if row.formulas_maps and row.finished is finished else float("nan")


def write_figures(records: Iterable[Record], out: Path, seed: int = 0) -> list[Path]:
    """Draw figures of all finished runs, each as SVG and PNG; returns their paths.

    `figure-2`: returns by environment and class of tasks. `tasks-ENV`: returns by task. `families-ENV`: success of
    agents of many tasks. `grounding-ENV`: accuracy of the grounder. `iqm`, `profiles`, `improvement`: all tasks
    together. Curves are moving means over 100 episodes with the standard deviation over runs. `seed`: of the bootstrap.
    Without a finished run, `StatisticsError` is raised.
    """
    runs = collect(records)
    paths: list[Path] = []
    with matplotlib_or_error().rc_context({"text.parse_math": False}):  # names may have dollar signs
        curves = chain(figure_2(runs), task_figures(runs), grounding_figures(runs))
        for name, figure in chain(curves, summary_figures(runs, seed)):
            paths.extend(save(figure, out, name))
    return paths
