"""The table of results of a grid: a row for each world, task, method and variant."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from nrm.agents import METHODS
from nrm.files import write_text
from nrm.lab.records import Record

LAST = 100


@dataclass(frozen=True)
class ResultRow:
    """What the runs of one world, task, method and variant reached. Means are over runs."""

    world: str
    task: str
    method: str
    variant: str
    runs: int
    episodes: int
    """Of each run."""
    last_100: float
    """Mean return of the last 100 episodes."""
    last_100_deviation: float
    """Standard deviation of it over runs (of the population, divided by n)."""
    area: float
    """Mean return of all episodes: the area under the learning curve."""
    grounding: float | None
    """NRM: mean accuracy of the grounder at the end."""
    grounding_modulo_shortcuts: float | None
    """NRM: the same, up to what no reward can tell apart."""
    cpu_seconds: float | None
    """Mean cost of a run."""


def result_rows(records: Iterable[Record]) -> list[ResultRow]:
    """The table. Runs that are not done do not count."""
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in records:
        if record.done:
            groups.setdefault((record.world, record.task, record.variant, record.method), []).append(record)
    order: dict[str, int] = {method: place for place, method in enumerate(METHODS)}
    keys = sorted(groups, key=lambda key: (*key[:3], order.get(key[3], len(order))))
    return [_row(groups[key]) for key in keys]


def write_results(rows: Sequence[ResultRow], out: Path) -> list[Path]:
    """Write results.csv, with all digits, and results.md, for reading."""
    names = [item.name for item in fields(ResultRow)]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_text(out / "results.csv", text.getvalue())
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "|".join([" --- "] * 4 + [" ---: "] * (len(HEADINGS) - 4)) + "|"]
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in row_texts(row)) + " |" for row in rows]
    write_text(out / "results.md", "\n".join(lines) + "\n")
    return [out / "results.csv", out / "results.md"]


HEADINGS = ("world", "task", "method", "variant", "runs", "last 100", "± over runs", "area", "grounding", "CPU s")


def row_texts(row: ResultRow) -> tuple[str, ...]:
    """A row as people read it, under `HEADINGS`; the grounding is modulo shortcuts."""
    return (
        row.world,
        row.task,
        row.method,
        row.variant,
        str(row.runs),
        f"{row.last_100:.1f}",
        f"{row.last_100_deviation:.1f}",
        f"{row.area:.1f}",
        "-" if row.grounding_modulo_shortcuts is None else f"{row.grounding_modulo_shortcuts:.1%}",
        "-" if row.cpu_seconds is None else f"{row.cpu_seconds:.1f}",
    )


def _row(records: Sequence[Record]) -> ResultRow:
    first = records[0]
    last = [record.last_return(LAST) for record in records]
    grounded = [record.grounding for record in records if record.grounding is not None]
    costs = [record.cpu_seconds for record in records if record.cpu_seconds is not None]
    return ResultRow(
        world=first.world,
        task=first.task,
        method=first.method,
        variant=first.variant,
        runs=len(records),
        episodes=first.config.agent.episodes,
        last_100=float(np.mean(last)),
        last_100_deviation=float(np.std(last)),
        area=float(np.mean([record.returns.mean() for record in records])),
        grounding=_mean([columns["accuracy"][-1] for columns in grounded]),
        grounding_modulo_shortcuts=_mean([columns["accuracy_modulo_shortcuts"][-1] for columns in grounded]),
        cpu_seconds=_mean(costs),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
