"""What the benchmark programs share: timing, and tables that are printed and kept."""

from __future__ import annotations

import json
import platform
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.files import write_text

Result = TypeVar("Result")


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


def processor_seconds() -> float:
    """Seconds of the processor that this process, and those it has started and waited for, have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def kept_rows(out: Path, jobs: Mapping[str, Callable[[], dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Rows by name: those that earlier calls left in `out/rows.jsonl`, and what other jobs give, kept as it comes."""
    path = out / "rows.jsonl"
    out.mkdir(parents=True, exist_ok=True)
    lines = path.read_text().splitlines() if path.exists() else []
    rows: dict[str, dict[str, Any]] = {row["key"]: row for row in map(json.loads, lines)}
    for name, job in jobs.items():
        if name not in rows:
            rows[name] = {"key": name, **job()}
            print(rows[name], flush=True)
            with path.open("a") as file:
                file.write(json.dumps(rows[name]) + "\n")
    return rows


def machine_line() -> str:
    """When and where: a line for the head of a result."""
    return f"{date.today().isoformat()}, {platform.machine()}, Python {platform.python_version()}"


def report(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]], out: Path, name: str) -> None:
    """Print a table, and write it as Markdown to `out/name.md`."""
    texts = [[_cell(value) for value in row] for row in rows]
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left")
    for row in texts:
        table.add_row(*row)
    Console(width=120, highlight=False).print(table)
    lines = [
        f"<!-- {title}; {machine_line()} -->",
        "| " + " | ".join(headings) + " |",
        "|" + "|".join([" --- ", *([" ---: "] * (len(headings) - 1))]) + "|",
        *("| " + " | ".join(row) + " |" for row in texts),
    ]
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / f"{name}.md", "\n".join(lines) + "\n")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
