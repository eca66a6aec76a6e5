"""The table of results: what the runs of each environment, task, variant and method reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nrm.errors import StatisticsError
from nrm.files import csv_text, make_folder, write_text
from nrm.results.groups import Group, group_runs, method_named
from nrm.results.records import ACCURACIES, Record
from nrm.results.statistics import Spread, iqm

TEXTS = {
    "last 100": "{last_mean:.1f} ± {last_deviation:.1f}",
    "worst run": "{last_worst:.1f}",
    "IQM [95 %]": "{iqm:.1f} [{iqm_low:.1f}, {iqm_high:.1f}]",
    "area": "{area:.1f}",
    "success": "{success:.1%}",
    "accuracy": "{accuracy:.1%}",
    "balanced": "{balanced_accuracy:.1%}",
    "up to equivalence": "{accuracy_modulo_shortcuts:.1%}",
    "CPU s": "{cpu_seconds:.1f}",
}
"""The scores in results.md, by their headings."""
COLUMNS = (
    *("env", "variant", "task", "method", "runs", "unfinished"),
    *("last_mean", "last_deviation", "last_worst", "iqm", "iqm_low", "iqm_high", "area", "success"),
    *ACCURACIES,
    "cpu_seconds",
)
"""The columns of results.csv."""
UNKNOWN = "–"


Scores = Mapping[str, float]
"""Means over runs by their names in results.csv, and deviations, as far as they are known."""


def scores_of(runs: Sequence[Record], last: int = 100, seed: int = 0) -> Scores:
    """The scores of some runs, of which each has episodes. `seed`: of the bootstrap."""
    returns = [run.last_return(last) for run in runs]
    interval = iqm([np.array(returns)], np.random.default_rng(seed))
    columns: dict[str, Iterable[float | None]] = {
        "area": (float(run.returns.mean()) for run in runs),
        "success": (float(run.metrics["success"][-last:].mean()) for run in runs),
        **{name: [run.last_accuracy(name) for run in runs] for name in ACCURACIES},
        "cpu_seconds": (run.cpu_seconds for run in runs),
    }
    spread = Spread.of(returns)
    found = {"last_mean": spread.mean, "last_deviation": spread.deviation, "last_worst": min(returns)}
    found |= {"iqm": interval.estimate, "iqm_low": interval.low, "iqm_high": interval.high}
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        if known:
            spread = Spread.of(known)
            found |= {name: spread.mean, f"{name}_deviation": spread.deviation}
    return found


@dataclass(frozen=True)
class ResultRow:
    """What the runs of a group say."""

    group: Group
    scores: Scores
    """Of the finished runs; none where no run is finished."""

    @property
    def runs(self) -> int:
        """Finished runs."""
        return len(self.group.finished)

    @property
    def unfinished(self) -> int:
        """Runs that are not at their end."""
        return len(self.group.records) - self.runs

    @property
    def texts(self) -> dict[str, str]:
        """The scores for people to read, by their headings; a dash for what is unknown."""
        return {heading: _text(form, self.scores) for heading, form in TEXTS.items()}


def results_table(records: Iterable[Record], last: int = 100, seed: int = 0) -> list[ResultRow]:
    """A row for each group of runs, in reading order; equal records give equal rows.

    `last`: episodes at the end of a run that count. `seed`: of the bootstrap; a row depends on its own runs only.
    """
    groups = group_runs(records).groups
    return [ResultRow(group, scores_of(group.finished, last, seed) if group.finished else {}) for group in groups]


def results_csv(rows: Sequence[ResultRow]) -> str:
    """The rows as CSV with the columns `COLUMNS`."""
    lines = []
    for row in rows:
        group = row.group
        scores = (f"{row.scores[name]:.6g}" if name in row.scores else None for name in COLUMNS[6:])
        lines.append([group.env, group.variant, group.task, group.method, row.runs, row.unfinished, *scores])
    return csv_text(COLUMNS, lines)


def results_markdown(rows: Sequence[ResultRow]) -> str:
    """The rows as a Markdown table. Columns that say nothing are left out."""
    variants, unfinished = any(row.group.variant for row in rows), any(row.unfinished for row in rows)
    headings = [
        *("env", "task", *(["variant"] if variants else []), "method", "runs"),
        *(["unfinished"] if unfinished else []),
        *TEXTS,
    ]
    lines = []
    for row in rows:
        group = row.group
        words = [group.env, group.task, *([group.variant] if variants else []), method_named(group.method).label]
        counts = [str(row.runs), *([str(row.unfinished)] if unfinished else [])]
        lines.append([*words, *counts, *row.texts.values()])
    return markdown_table(headings, lines, left=4 if variants else 3)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are aligned to the left, the others to the right."""
    marks = [" --- "] * left + [" ---: "] * (len(headings) - left)
    lines = [_line(headings), "|" + "|".join(marks) + "|", *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    """One line; a bar or a line break inside a cell would end it."""
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def write_results(records: Iterable[Record], out: Path, problems: Mapping[Path, str] | None = None) -> list[Path]:
    """Write results.csv and results.md to a folder; returns their paths.

    `problems`: from `read_records`; results.md lists them below the table.
    """
    runs = list(records)
    if not runs:
        raise StatisticsError("there are no runs to summarise; train some with 'nrm train' or 'nrm reproduce'")
    rows, notes = results_table(runs), {**(problems or {}), **group_runs(runs).copies}
    listed = "".join(f"- `{path}`: {' '.join(why.split())}\n" for path, why in sorted(notes.items()))
    make_folder(out)
    paths = [out / "results.csv", out / "results.md"]
    write_text(paths[0], results_csv(rows))
    write_text(paths[1], results_markdown(rows) + (f"\nNot used, or in part:\n\n{listed}" if notes else ""))
    return paths


def _text(form: str, numbers: Mapping[str, float]) -> str:
    try:
        return form.format_map(numbers)
    except KeyError:
        return UNKNOWN
