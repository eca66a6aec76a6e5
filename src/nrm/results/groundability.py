"""The paper's tables 1 and 2: how many shortcuts its tasks have, and how long three ways of counting them take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path

from nrm.errors import NrmError
from nrm.files import make_folder, write_text
from nrm.groundability import algorithm_1, brute_force, brute_force_formulas, shortcuts
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS, PaperTask
from nrm.machines import compile_formula
from nrm.results.formats import csv_table, markdown_table
from nrm.results.statistics import Spread
from nrm.timing import timed

BUDGET = 2.0
"""Seconds for each task that the brute force over formulas may take."""
PAPER_SECONDS = {
    1: (0.198, 270.364),
    2: (1.020, 668.362),
    3: (0.181, 214.006),
    4: (0.877, 585.556),
    5: (0.204, 416.242),
    6: (0.181, 431.972),
    7: (0.194, 369.701),
    8: (0.187, 381.943),
}
"""What the paper's table 2 prints for each task: Algorithm 1 and brute force."""
PAPER_CLASSES = {1: ("27.3 ± 17.8", "0.6 ± 0.4", "434.6 ± 195.6"), 2: ("6 ± 2", "0.2 ± 0.0", "399.7 ± 24.5")}
"""What the paper's table 1 prints for each class: count, Algorithm 1, brute force."""
COLUMNS = (
    *("task", "class", "pattern", "count", "paper_count", "closed_form_s", "algorithm_1_s", "brute_force_machines_s"),
    *("brute_force_formulas_s", "brute_force_formulas_maps", "maps", "paper_algorithm_1_s", "paper_brute_force_s"),
)


@dataclass(frozen=True)
class GroundabilityRow:
    """One task of the paper over its five symbols: the number of shortcuts, and seconds."""

    task: PaperTask
    count: int
    """What every way of counting that was run to its end found."""
    closed_form: float
    algorithm_1: float
    brute_force: float
    """Comparing machines: the machine, and itself with its letters renamed."""
    formulas: float
    """The paper's brute force, which translates every renamed formula: until it ended, or its budget was spent."""
    formulas_maps: int
    """The maps that it looked at in that time: all, or as far as the budget went."""
    maps: int
    """All maps, |P| ** |P|."""

    @property
    def finished(self) -> bool:
        """Whether the brute force over formulas looked at all maps."""
        return self.formulas_maps == self.maps

    @property
    def paper_algorithm_1(self) -> float:
        """Seconds that the paper prints."""
        return PAPER_SECONDS[self.task.number][0]

    @property
    def paper_brute_force(self) -> float:
        """Seconds that the paper prints."""
        return PAPER_SECONDS[self.task.number][1]


def measure_groundability(
    budget: float = BUDGET, tasks: Sequence[PaperTask] = PAPER_TASKS, least_seconds: float = 0.05
) -> list[GroundabilityRow]:
    """Count the shortcuts of the paper's tasks in every way, and time it.

    `budget`: seconds for each task that the brute force over formulas may take, 0 for none of it; all of it takes some
    four on a quiet core. `least_seconds`: each of the others is repeated for this long, and its shortest time kept.
    """
    return [_measure(task, budget, least_seconds) for task in tasks]


def groundability_csv(rows: Sequence[GroundabilityRow]) -> str:
    """Table 2 as CSV."""
    lines = []
    for row in rows:
        seconds = (row.closed_form, row.algorithm_1, row.brute_force, row.formulas if row.finished else None)
        lines.append(
            [
                *(row.task.number, row.task.task_class, row.task.pattern, row.count, row.task.shortcuts),
                *("" if value is None else f"{value:.6g}" for value in seconds),
                *(row.formulas_maps, row.maps, row.paper_algorithm_1, row.paper_brute_force),
            ]
        )
    return csv_table(COLUMNS, lines)


def groundability_markdown(rows: Sequence[GroundabilityRow]) -> str:
    """Tables 1 and 2 as Markdown, ours beside the paper's."""
    parts = [
        "Seconds for counting the unremovable reasoning shortcuts (#RS\\*) over five symbols. The closed form,",
        "Algorithm 1 and the brute force over machines start from the task's machine; the brute force over formulas,",
        "which is the paper's, translates every renamed formula. The paper's columns are what it prints, on its own",
        "computer.",
        "",
        "Table 1: mean ± deviation over the tasks of a class",
        "",
        _classes(rows),
        "Table 2: each task",
        "",
        _tasks(rows),
    ]
    return "\n".join(parts)


def write_groundability_tables(rows: Sequence[GroundabilityRow], out: Path) -> list[Path]:
    """Write groundability.md and groundability.csv into a folder, and say where."""
    make_folder(out)
    paths = [out / "groundability.md", out / "groundability.csv"]
    for path, text in zip(paths, (groundability_markdown(rows), groundability_csv(rows)), strict=True):
        write_text(path, text)
    return paths


def _measure(task: PaperTask, budget: float, least_seconds: float) -> GroundabilityRow:
    machine = compile_formula(task.formula(), PAPER_SYMBOLS)
    count, closed_form = timed(lambda: shortcuts(machine).count, least_seconds, most_runs=500)
    found, first = timed(lambda: algorithm_1(machine), least_seconds)
    kept, second = timed(lambda: sum(1 for _ in brute_force(machine)), least_seconds)
    maps = len(PAPER_SYMBOLS) ** len(PAPER_SYMBOLS)
    looked_at, same, third = _formulas(task, budget) if budget > 0 else (0, 0, 0.0)
    counts = {"closed form": count, "Algorithm 1": len(found.maps), "brute force": kept}
    if looked_at == maps:
        counts["brute force over formulas"] = same
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name}: {value}" for name, value in counts.items())
        raise NrmError(f"the ways of counting disagree on paper task {task.number} ({told}); please report this")
    return GroundabilityRow(task, count, closed_form, first, second, third, looked_at, maps)


def _formulas(task: PaperTask, budget: float) -> tuple[int, int, float]:
    """Maps looked at within the budget, how many of them were shortcuts, and the time spent."""
    began = time.perf_counter()
    looked_at = kept = 0
    for _, same in brute_force_formulas(task.formula(), PAPER_SYMBOLS):
        looked_at, kept = looked_at + 1, kept + same
        if time.perf_counter() - began >= budget:
            break
    return looked_at, kept, time.perf_counter() - began


def _tasks(rows: Sequence[GroundabilityRow]) -> str:
    headings = (
        *("task", "formula", "#RS\\*", "paper's", "closed form", "Algorithm 1", "paper's"),
        *("brute force, machines", "brute force, formulas", "paper's"),
    )
    lines = []
    for row in rows:
        task = row.task
        numbers = (_seconds(row.closed_form), _seconds(row.algorithm_1), _seconds(row.paper_algorithm_1))
        brute = (_seconds(row.brute_force), _formulas_text(row), _seconds(row.paper_brute_force))
        counts = (str(row.count), str(task.shortcuts))
        lines.append([str(task.number), f"`{task.formula()}`", *counts, *numbers, *brute])
    return markdown_table(headings, lines, left=2)


def _classes(rows: Sequence[GroundabilityRow]) -> str:
    headings = (
        *("class", "#RS\\*", "paper's", "closed form", "Algorithm 1", "paper's"),
        *("brute force, machines", "brute force, formulas", "paper's"),
    )
    lines = []
    for number, printed in PAPER_CLASSES.items():
        tasks = [row for row in rows if row.task.task_class == number]
        if not tasks:
            continue
        count = Spread.of([float(row.count) for row in tasks])
        formulas = _spread([row.formulas for row in tasks]) if all(row.finished for row in tasks) else "not finished"
        lines.append(
            [
                str(number),
                *(f"{count.mean:.2f} ± {count.deviation:.2f}", printed[0]),
                *(_spread([row.closed_form for row in tasks]), _spread([row.algorithm_1 for row in tasks]), printed[1]),
                *(_spread([row.brute_force for row in tasks]), formulas, printed[2]),
            ]
        )
    return markdown_table(headings, lines)


def _formulas_text(row: GroundabilityRow) -> str:
    if not row.formulas_maps:
        return "not run"
    if row.finished:
        return _seconds(row.formulas)
    return f"stopped at {row.formulas:.1f} ({row.formulas_maps:,} of {row.maps:,} maps)"


def _spread(values: Sequence[float]) -> str:
    spread = Spread.of(values)
    return f"{_seconds(spread.mean, 2)} ± {_seconds(spread.deviation, 2)}"


def _seconds(value: float, digits: int = 3) -> str:
    """Seconds with so many digits that count, and never in powers of ten."""
    if value <= 0:
        return "0"
    decimals = max(1, digits - 1 - floor(log10(value)))
    return f"{value:.{decimals}f}"
