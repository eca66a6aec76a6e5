"""The paper's groundability tables with a picture of their times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nrm.figures.style import BLUE, GREEN, GREY, ORANGE, VERMILION, new_figure, save
from nrm.results.groundability import BUDGET, GroundabilityRow, measure_groundability, write_groundability_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_groundability(
    out: Path, budget: float = BUDGET, rows: Sequence[GroundabilityRow] | None = None
) -> list[Path]:
    """Write the paper's tables 1 and 2, ours beside its figures, and say where: Markdown, CSV and a picture.

    `budget`: seconds for each task that the brute force over formulas may take; where that ends it, the tables say
    so. `rows`: times measured already. Where matplotlib is missing the tables are written before that is an error.
    """
    measured = measure_groundability(budget) if rows is None else rows
    paths = write_groundability_tables(measured, out)
    return [*paths, *save(draw_groundability(measured), out, "groundability")]


def draw_groundability(rows: Sequence[GroundabilityRow]) -> Figure:
    """Times by task on a logarithmic scale; where the budget ended the work, the time is a lower bound."""
    figure, (panel,) = new_figure(1, 1, 3.2)
    tasks = np.arange(len(rows))
    lines = (
        ("closed form", BLUE, "o", [row.closed_form for row in rows]),
        ("Algorithm 1", VERMILION, "s", [row.algorithm_1 for row in rows]),
        ("brute force, machines", GREEN, "P", [row.brute_force for row in rows]),
    )
    for label, colour, marker, seconds in lines:
        panel.plot(tasks, seconds, color=colour, marker=marker, linestyle="", markersize=6, label=label)
    for finished, label in ((True, "brute force, formulas"), (False, "brute force, formulas (stopped there)")):
        some = [place for place, row in enumerate(rows) if row.formulas_maps and row.finished is finished]
        if some:
            panel.plot(
                some, [rows[place].formulas for place in some], color=ORANGE, marker="D" if finished else 6,
                linestyle="", markersize=6 if finished else 8, label=label,
            )  # fmt: skip
    for label, marker, seconds in (
        ("paper's Algorithm 1", "s", [row.paper_algorithm_1 for row in rows]),
        ("paper's brute force", "D", [row.paper_brute_force for row in rows]),
    ):
        panel.plot(
            tasks, seconds, color=GREY, marker=marker, markerfacecolor="none", linestyle="", markersize=6, label=label
        )
    panel.set_yscale("log")
    panel.set_xticks(tasks, [f"{row.task.number}\n({row.count})" for row in rows])
    panel.set_xlabel("task (number of shortcuts)", fontsize=9)
    panel.set_ylabel("seconds", fontsize=9)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure
