"""What is made of a grid's runs when they have ended: the table of results, and an account of what went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.files import write_text

if TYPE_CHECKING:
    from nrm.lab.results import ResultRow
    from nrm.lab.running import Outcome


def finish(out: Path, outcome: Outcome) -> int:
    """Print and write what the runs in a grid folder amount to; the exit status."""
    from nrm.lab.records import read_records
    from nrm.lab.results import result_rows, write_results

    records, broken = read_records(out)
    failed = {path.name: why for path, why in broken.items()} | outcome.failed
    rows = result_rows(records)
    if rows:
        _print_table(rows)
    _print_outcome(outcome, failed, out)
    write_results(rows, out)
    _write_failed(failed, out / "failed.md")
    return 130 if outcome.interrupted else 1 if failed else 0


def _print_table(rows: list[ResultRow]) -> None:
    from nrm.lab.results import HEADINGS, row_texts

    named = any(row.variant for row in rows)
    shown = [place for place, heading in enumerate(HEADINGS) if named or heading != "variant"]
    table = Table(box=SIMPLE_HEAD)
    for place in shown:
        right = place > HEADINGS.index("variant")
        table.add_column(HEADINGS[place], justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        texts = row_texts(row)
        table.add_row(*(texts[place] for place in shown))
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table, width=None if console.is_terminal else 120)


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
