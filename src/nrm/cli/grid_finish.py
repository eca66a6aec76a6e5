"""What is made of a grid's runs when they have ended: tables, figures, report, and an account of what went wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.cli.stage_progress import stage_progress
from nrm.errors import MissingExtraError
from nrm.files import write_text

if TYPE_CHECKING:
    from nrm.results import Record, ResultRow
    from nrm.sweeps import Outcome

INTERRUPTED = 130


def finish(out: Path, outcome: Outcome, quiet: bool = False) -> int:
    """Print and write what the runs in a grid folder amount to; the exit status. `quiet`: without progress."""
    from nrm.results import read_records, results_table, write_results

    records, problems = read_records(out)
    failed = {path.name: why for path, why in problems.items()} | outcome.failed
    if records:
        _print_table(results_table(records))
        write_results(records, out, problems)
        print(_cost(records))
    _print_outcome(outcome, failed, out)
    _write_failed(failed, out / "failed.md")
    if not outcome.interrupted and any(record.done for record in records):
        _write_figures(records, out / "figures")
        _write_report(out, quiet)
    return INTERRUPTED if outcome.interrupted else 1 if failed else 0


def groundability(out: Path, budget: float) -> None:
    """Write the paper's groundability tables, unless they are there; each measurement may take `budget` seconds."""
    from nrm.figures import write_groundability

    if any(out.glob("*.md")):
        return
    print(f"measuring groundability, at most {budget:g} s for each way of counting and task", flush=True)
    try:
        write_groundability(out, budget=budget)
    except MissingExtraError as error:
        print(f"no figure of groundability: {error}")
    print(f"groundability tables in {out}")


def _write_figures(records: list[Record], out: Path) -> None:
    from nrm.figures import write_figures

    try:
        write_figures(records, out)
    except MissingExtraError as error:
        print(f"no figures: {error}")
    else:
        print(f"figures in {out}")


def _write_report(out: Path, quiet: bool) -> None:
    import torch

    from nrm.report import build_report

    torch.set_num_threads(1)
    print("writing the report", flush=True)
    with stage_progress(quiet) as progress:
        page = build_report(out, progress=progress)
    print(f"report in {page.write()}", flush=True)


def _print_table(rows: list[ResultRow]) -> None:
    """The most telling columns; results.md and results.csv have more."""
    from nrm.results import method_named
    from nrm.results.groups import subject_word

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("env", no_wrap=True)
    table.add_column(subject_word(row.group for row in rows), min_width=14, overflow="fold")
    table.add_column("method", no_wrap=True)
    for heading in ("runs", "last 100", "success", "area", "grounding", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        group, texts = row.group, row.texts
        chosen = [texts[heading] for heading in ("last 100", "success", "area", "modulo shortcuts", "CPU s")]
        name = f"{method_named(group.method).label} {group.variant}"
        table.add_row(group.env, group.task.removeprefix("paper task "), name, str(row.runs), *chosen)
    wide = None if sys.stdout.isatty() else 120
    Console(highlight=False, markup=False, emoji=False, width=wide).print(table)


def _cost(records: list[Record]) -> str:
    """What all runs have cost together, by method, over all their resumptions."""
    from nrm.results.groups import method_named, method_order

    minutes: dict[str, float] = {}
    for record in sorted(records, key=lambda each: method_order(each.method)):
        if record.cpu_seconds is not None:
            minutes[record.method] = minutes.get(record.method, 0.0) + record.cpu_seconds / 60
    parts = ", ".join(f"{method_named(name).label} {spent:.1f}" for name, spent in minutes.items())
    return f"CPU minutes: {sum(minutes.values()):.1f} ({parts})" if minutes else "CPU minutes: unknown"


def _print_outcome(outcome: Outcome, failed: dict[str, str], out: Path) -> None:
    before = f" ({len(outcome.skipped)} of them before)" if outcome.skipped else ""
    print(f"{len(outcome.done) + len(outcome.skipped)} runs done{before}, in {out}")
    if failed:
        print(f"{len(failed)} failed:")
        for name, why in failed.items():
            print(f"  {name}: {why}")
        print("mend that and run the same command again: only what is missing is trained")
    if outcome.interrupted:
        print(
            f"interrupted: {len(outcome.saved)} runs are saved where they were, {len(outcome.waiting)} have not begun; "
            "run the same command again to go on"
        )


def _write_failed(failed: dict[str, str], path: Path) -> None:
    if failed:
        write_text(path, "".join(f"- `{name}`: {why}\n" for name, why in failed.items()))
    else:
        path.unlink(missing_ok=True)
