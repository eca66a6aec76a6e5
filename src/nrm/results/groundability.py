"""The paper's tables 1 and 2: how many shortcuts its tasks have, and how long three ways of counting them take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TypeVar

from nrm.errors import NrmError
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


def groundability_markdown(rows: Sequence[GroundabilityRow]) -> str:
    """Tables 1 and 2 as Markdown, ours beside the paper's."""
    of_class = {number: [row for row in rows if row.task.task_class == number] for number in PAPER_CLASSES}
    classes = [[str(number), *_cells(some, PAPER_CLASSES[number])] for number, some in of_class.items() if some]
    tasks = []
    for row in rows:
        printed = (str(row.task.shortcuts), *(_seconds([value]) for value in row.printed))
        tasks.append([str(row.task.number), f"`{row.task.formula()}`", *_cells([row], printed)])
    return f"""\
CPU seconds for counting the unremovable reasoning shortcuts (#RS\\*) over five symbols. The closed form,
Algorithm 1 and the brute force over machines start from the task's machine; the brute force over formulas,
which is the paper's, translates every renamed formula. The paper's columns are what it prints, on its own
computer.

Table 1: mean ± deviation over the tasks of a class

{markdown_table(("class", *HEADINGS), classes)}
Table 2: each task

{markdown_table(("task", "formula", *HEADINGS), tasks, left=2)}"""


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


def _cells(rows: Sequence[GroundabilityRow], printed: Sequence[str]) -> list[str]:
    """A task, or the mean of several, with what the paper prints: count, Algorithm 1, brute force."""
    count = Spread.of([float(row.count) for row in rows])
    ours = f"{count.mean:.2f} ± {count.deviation:.2f}" if len(rows) > 1 else str(rows[0].count)
    closed, first, second = zip(*((row.closed_form, row.algorithm_1, row.brute_force) for row in rows), strict=True)
    times = (_seconds(closed), _seconds(first), printed[1], _seconds(second), _formulas_text(rows), printed[2])
    return [ours, printed[0], *times]


def _formulas_text(rows: Sequence[GroundabilityRow]) -> str:
    if all(row.finished for row in rows):
        return _seconds([row.formulas for row in rows])
    if len(rows) > 1:
        return "not finished"
    (row,) = rows
    stopped = f"stopped at {row.formulas:.1f} ({row.formulas_maps:,} of {row.maps:,} maps)"
    return stopped if row.formulas_maps else "not run"


def _seconds(values: Sequence[float]) -> str:
    """One time, or mean and deviation of several, with as many digits as count, and never in powers of ten."""
    spread, digits = Spread.of(values), 3 if len(values) == 1 else 2
    texts = [
        f"{value:.{max(1, digits - 1 - floor(log10(value)))}f}" if value > 0 else "0"
        for value in (spread.mean, spread.deviation)
    ]
    return " ± ".join(texts[: len(values)])


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
