"""The table of results: a row for each world, configuration change, task and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nrm.agents import METHODS
from nrm.errors import StatisticsError
from nrm.files import make_folder, write_text
from nrm.logic import PAPER_TASKS, PaperTask
from nrm.results.records import Record
from nrm.results.statistics import Interval, Spread, iqm
from nrm.results.tables import csv_table, markdown_table
from nrm.results.variants import variant_labels

LAST = 100
"""Episodes at the end of a run whose mean return is the run's score."""
ACCURACIES = ("accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts")
COLUMNS = (
    *("world", "variant", "task", "method", "runs", "unfinished"),
    *("last_mean", "last_deviation", "last_worst", "iqm", "iqm_low", "iqm_high", "area", "success"),
    *ACCURACIES,
    "cpu_seconds",
)
"""The columns of results.csv."""

Group = tuple[str, str, str, str]
"""World, variant, task and method of some runs."""


@dataclass(frozen=True)
class ResultRow:
    """What the runs of one method on one task say. Only finished runs are summarised."""

    world: str
    variant: str
    """The configuration change; empty for the preset as it is."""
    task: str
    method: str
    runs: int
    """Finished runs."""
    unfinished: int
    """Runs that are not at their end, left out of all that follows. Without a finished run all that follows is None."""
    last: Spread | None = None
    """Mean return of the last 100 episodes: mean and deviation over runs."""
    last_worst: float | None = None
    """The same of the worst run."""
    iqm: Interval | None = None
    """The same as interquartile mean over runs, with its 95 % bootstrap interval."""
    area: float | None = None
    """Mean return over all episodes: the area under the learning curve, per episode."""
    success: float | None = None
    """Share of the last 100 episodes that succeeded."""
    accuracies: tuple[float, float, float] | None = None
    """The grounder's accuracy at the end, mean over runs: plain, balanced, modulo shortcuts."""
    cpu_seconds: float | None = None
    """Mean cost of a run."""

    def cells(self) -> tuple[object, ...]:
        """The row in the order of `COLUMNS`."""
        interval = self.iqm
        return (
            *(self.world, self.variant, self.task, self.method, self.runs, self.unfinished),
            *((self.last.mean, self.last.deviation) if self.last else (None, None)),
            self.last_worst,
            *((interval.estimate, interval.low, interval.high) if interval else (None, None, None)),
            *(self.area, self.success),
            *(self.accuracies or (None, None, None)),
            self.cpu_seconds,
        )


def results_table(records: Iterable[Record], last: int = LAST, seed: int = 0) -> list[ResultRow]:
    """A row for each world, variant, task and method, in the paper's order; equal records give equal rows.

    `last`: episodes at the end of a run that count. `seed`: of the bootstrap; a row depends on its own runs only.
    """
    return [_row(group, runs, last, seed) for group, runs in grouped(records).items()]


def results_csv(rows: Sequence[ResultRow]) -> str:
    """The rows as CSV with the columns `COLUMNS`."""
    cells = ([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row.cells()] for row in rows)
    return csv_table(COLUMNS, cells)


def results_markdown(rows: Sequence[ResultRow]) -> str:
    """The rows as a Markdown table. Columns that say nothing are left out."""
    variants, unfinished = any(row.variant for row in rows), any(row.unfinished for row in rows)
    headings = [
        *("world", *(["variant"] if variants else []), "task", "method", "runs"),
        *(["unfinished"] if unfinished else []),
        *("last 100", "worst run", "IQM [95 %]", "area", "success"),
        *("accuracy", "balanced", "modulo shortcuts", "CPU s"),
    ]
    lines = []
    for row in rows:
        words = [row.world, *([row.variant] if variants else []), row.task, row.method.upper(), str(row.runs)]
        spread, interval = row.last, row.iqm
        numbers = [
            f"{spread.mean:.1f} ± {spread.deviation:.1f}" if spread else "–",
            _number(row.last_worst),
            f"{interval.estimate:.1f} [{interval.low:.1f}, {interval.high:.1f}]" if interval else "–",
            _number(row.area),
            _share(row.success),
            *map(_share, row.accuracies or (None, None, None)),
            _number(row.cpu_seconds),
        ]
        lines.append([*words, *([str(row.unfinished)] if unfinished else []), *numbers])
    return markdown_table(headings, lines, left=4 if variants else 3)


def write_results(records: Iterable[Record], out: Path) -> list[Path]:
    """Write results.csv and results.md into a folder, and say where."""
    rows = results_table(records)
    if not rows:
        raise StatisticsError("there are no runs to summarise; train some with 'nrm train' or 'nrm reproduce'")
    make_folder(out)
    paths = [out / "results.csv", out / "results.md"]
    for path, text in zip(paths, (results_csv(rows), results_markdown(rows)), strict=True):
        write_text(path, text)
    return paths


def grouped(records: Iterable[Record]) -> dict[Group, list[Record]]:
    """The runs of each world, variant, task and method, by seed; groups in the paper's order, other tasks by name.

    Runs with other settings than most of their variant are a variant of their own, named after these settings.
    """
    groups: dict[Group, list[Record]] = {}
    numbers: dict[str, int] = {}
    runs = list(records)
    for record, variant in zip(runs, variant_labels(runs), strict=True):
        groups.setdefault((record.world, variant, record.task, record.method), []).append(record)
        if record.task not in numbers:
            paper = paper_task_of(record)
            numbers[record.task] = paper.number if paper else len(PAPER_TASKS) + 1
    known_worlds, known_methods = ["map", "image"], list(METHODS)

    def order(group: Group) -> tuple[object, ...]:
        world, variant, task, method = group
        place = known_worlds.index(world) if world in known_worlds else len(known_worlds)
        kind = known_methods.index(method) if method in known_methods else len(known_methods)
        return place, world, variant, numbers[task], task, kind, method

    return {group: sorted(groups[group], key=_run_order) for group in sorted(groups, key=order)}


def paper_task_of(record: Record) -> PaperTask | None:
    """The task of the paper that a run was on, over whatever symbols, if it was on one."""
    task = record.config.build_task()
    symbols = task.alphabet.symbols
    for paper in PAPER_TASKS:
        if len(symbols) >= len(paper.formula().atoms()) and paper.formula(symbols) == task.formula:
            return paper
    return None


def _row(group: Group, runs: Sequence[Record], last: int, seed: int) -> ResultRow:
    finished = [run for run in runs if run.done]
    if not finished:
        return ResultRow(*group, runs=0, unfinished=len(runs))
    scores = np.array([run.last_return(last) for run in finished])
    costs = [run.cpu_seconds for run in finished if run.cpu_seconds is not None]
    return ResultRow(
        *group,
        runs=len(finished),
        unfinished=len(runs) - len(finished),
        last=Spread.of(scores),
        last_worst=float(scores.min()),
        iqm=iqm([scores], np.random.default_rng(seed)),
        area=float(np.mean([run.returns.mean() for run in finished])),
        success=float(np.mean([run.metrics["success"][-last:].mean() for run in finished])),
        accuracies=_accuracies(finished),
        cpu_seconds=float(np.mean(costs)) if costs else None,
    )


def _accuracies(runs: Sequence[Record]) -> tuple[float, float, float] | None:
    """The last accuracies of each run, averaged over the runs that have any."""
    known = [run.grounding for run in runs if run.grounding is not None and len(run.grounding["episode"])]
    if not known:
        return None
    plain, balanced, modulo = (float(np.mean([columns[name][-1] for columns in known])) for name in ACCURACIES)
    return plain, balanced, modulo


def _run_order(record: Record) -> tuple[int, str]:
    return record.seed, str(record.path)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
