"""The paper's tables 1 and 2: how many shortcuts its tasks have, and how long three ways of counting them take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from typing import TypeVar

from nrm.errors import NrmError
from nrm.files import csv_text, make_folder, write_text
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS, PaperTask
from nrm.machines import compile_formula
from nrm.results.statistics import Spread
from nrm.results.table import markdown_table
from nrm.shortcuts import algorithm_1, brute_force, brute_force_formulas, shortcuts

Result = TypeVar("Result")
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
HEADINGS = (
    *("#RS\\*", "paper's", "closed form", "Algorithm 1", "paper's"),
    *("brute force, machines", "brute force, formulas", "paper's"),
)


@dataclass(frozen=True)
class GroundabilityRow:
    """One task of the paper over its five symbols: the number of shortcuts, and CPU seconds."""

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
    def printed(self) -> tuple[float, float]:
        """Seconds that the paper prints: Algorithm 1 and brute force."""
        return PAPER_SECONDS[self.task.number]


def measure_groundability(
    budget: float = 2.0, tasks: Sequence[PaperTask] = PAPER_TASKS, least_seconds: float = 0.05
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
        task, formulas = row.task, f"{row.formulas:.6g}" if row.finished else ""
        seconds = (f"{value:.6g}" for value in (row.closed_form, row.algorithm_1, row.brute_force))
        about = (task.number, task.task_class, task.pattern, row.count, task.shortcuts)
        lines.append([*about, *seconds, formulas, row.formulas_maps, row.maps, *row.printed])
    return csv_text(COLUMNS, lines)


def groundability_markdown(rows: Sequence[GroundabilityRow]) -> str:
    """Tables 1 and 2 as Markdown, ours beside the paper's."""
    of_class = {number: [row for row in rows if row.task.task_class == number] for number in PAPER_CLASSES}
    classes = [_line((str(number),), some, PAPER_CLASSES[number]) for number, some in of_class.items() if some]
    tasks = []
    for row in rows:
        printed = (str(row.task.shortcuts), *(_seconds([value]) for value in row.printed))
        tasks.append(_line((str(row.task.number), f"`{row.task.formula()}`"), [row], printed))
    return f"""\
CPU seconds for counting the unremovable reasoning shortcuts (#RS\\*) over five symbols. The closed form,
Algorithm 1 and the brute force over machines start from the task's machine; the brute force over formulas,
which is the paper's, translates every renamed formula. The paper's columns are what it prints, on its own
computer.

Table 1: mean ± deviation over the tasks of a class

{markdown_table(("class", *HEADINGS), classes)}
Table 2: each task

{markdown_table(("task", "formula", *HEADINGS), tasks, left=2)}"""


def write_groundability_tables(rows: Sequence[GroundabilityRow], out: Path) -> list[Path]:
    """Write groundability.md and groundability.csv into a folder, and say where."""
    make_folder(out)
    paths = [out / "groundability.md", out / "groundability.csv"]
    write_text(paths[0], groundability_markdown(rows))
    write_text(paths[1], groundability_csv(rows))
    return paths


def _measure(task: PaperTask, budget: float, least_seconds: float) -> GroundabilityRow:
    machine = compile_formula(task.formula(), PAPER_SYMBOLS)
    count, closed_form = timed(lambda: shortcuts(machine).count, least_seconds, most_runs=500)
    found, first = timed(lambda: algorithm_1(machine), least_seconds)
    kept, second = timed(lambda: sum(1 for _ in brute_force(machine)), least_seconds)
    counts = {"closed form": count, "Algorithm 1": len(found.maps), "brute force": kept}
    maps, same, began = 0, 0, time.process_time()
    for _, one in brute_force_formulas(task.formula(), PAPER_SYMBOLS) if budget > 0 else ():
        maps, same = maps + 1, same + one
        if time.process_time() - began >= budget:
            break
    third, most = time.process_time() - began, len(PAPER_SYMBOLS) ** len(PAPER_SYMBOLS)
    if maps == most:
        counts["brute force over formulas"] = same
    if len(set(counts.values())) > 1:
        raise NrmError(f"the ways of counting disagree on paper task {task.number}: {counts}; please report this")
    return GroundabilityRow(task, count, closed_form, first, second, third if maps else 0.0, maps, most)


def _line(names: Sequence[str], rows: Sequence[GroundabilityRow], printed: Sequence[str]) -> list[str]:
    """A task, or the mean of several, with what the paper prints: count, Algorithm 1, brute force."""
    count = Spread.of([float(row.count) for row in rows])
    return [
        *names,
        f"{count.mean:.2f} ± {count.deviation:.2f}" if len(rows) > 1 else str(rows[0].count),
        printed[0],
        _seconds([row.closed_form for row in rows]),
        _seconds([row.algorithm_1 for row in rows]),
        printed[1],
        _seconds([row.brute_force for row in rows]),
        _formulas_text(rows),
        printed[2],
    ]


def _formulas_text(rows: Sequence[GroundabilityRow]) -> str:
    if all(row.finished for row in rows):
        return _seconds([row.formulas for row in rows])
    if len(rows) > 1:
        return "not finished"
    (row,) = rows
    stopped = f"stopped at {row.formulas:.1f} ({row.formulas_maps:,} of {row.maps:,} maps)"
    return stopped if row.formulas_maps else "not run"


def _seconds(values: Sequence[float]) -> str:
    """One time, or mean and deviation of several, which deserve fewer digits."""
    if len(values) == 1:
        return _decimal(values[0], 3)
    spread = Spread.of(values)
    return f"{_decimal(spread.mean, 2)} ± {_decimal(spread.deviation, 2)}"


def _decimal(value: float, digits: int) -> str:
    """A number with so many digits that count, and never in powers of ten."""
    if value <= 0:
        return "0"
    decimals = max(1, digits - 1 - floor(log10(value)))
    return f"{value:.{decimals}f}"


def timed(
    work: Callable[[], Result],
    least_seconds: float = 0.05,
    most_runs: int = 20,
    clock: Callable[[], float] = time.process_time,
) -> tuple[Result, float]:
    """The result of `work`, and the shortest time in CPU seconds over some runs (one, when it is slow)."""
    best, spent, runs = float("inf"), 0.0, 0
    while True:
        start = clock()
        result = work()
        took = clock() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
        if spent >= least_seconds or runs >= most_runs:
            return result, best
