"""What commands share of the terminal: tables, progress, and Ctrl-C as a question for work that saves itself."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from nrm.errors import escaped

if TYPE_CHECKING:
    from nrm.sweeps import Cell, Event


def say(text: str, **how: Any) -> None:
    """Print text in which no name can do anything to a terminal."""
    print(escaped(text), **how)


class _Plain(Console):
    """Prints texts as `say` does."""

    def print(self, *things: Any, **how: Any) -> None:
        """As that of rich."""
        super().print(*(escaped(one) if isinstance(one, str) else one for one in things), **how)


def plain_console(width: int | None = None) -> Console:
    """Standard output for text that is shown as it is. `width`: where it is no terminal."""
    wide = None if sys.stdout.isatty() else width
    return _Plain(highlight=False, markup=False, emoji=False, width=wide)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = (), title: str = ""
) -> Table:
    """A table; the columns that `numbers` names are flush right. Without any heading it has no head."""
    made = Table(box=SIMPLE_HEAD, show_header=any(headings), title=title or None, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(escaped, row))
    return made


def print_records(title: str, headings: Mapping[str, str], records: Sequence[Mapping[str, object]]) -> None:
    """A table with a column a key; `headings` renames some, or leaves them out. Numbers are flush right."""
    columns = {key: headings.get(key, key) for key in records[0] if headings.get(key, key)}
    numbers = [columns[key] for key in columns if isinstance(records[0][key], int | float)]
    rows = [[cell(key, record[key]) for key in columns] for record in records]
    plain_console().print(table(list(columns.values()), rows, numbers, title))


def cell(key: str, value: object) -> str:
    """A value of a table: shares in percent, and a dash for what is unknown."""
    if isinstance(value, float):
        share = any(word in key for word in ("success", "worst", "accuracy", "violation"))
        return f"{value:.1%}" if share else f"{round(value, 1):g}"
    return "-" if value is None else str(value)


@contextmanager
def interrupt_flag() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; what is under way is then finished, and a second Ctrl-C stops at once."""
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress_bars(quiet: bool) -> Iterator[tuple[Progress, Console]]:
    """Bars on standard error, each with a note and the time left; none where nobody looks at them."""
    console = _Plain(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not console.is_terminal
    # One part may take minutes, which must not be forgotten between two of them.
    with Progress(*columns, console=console, refresh_per_second=4, disable=hidden, speed_estimate_period=1e6) as bars:
        yield bars, console


Plan = Callable[[Sequence["Cell"], int], Callable[["Event"], None]]


@contextmanager
def grid_progress(quiet: bool) -> Iterator[Plan]:
    """What `run_grid` calls with the cells to train, on standard error."""
    with progress_bars(quiet) as (bars, console):
        yield lambda cells, done: (lambda _: None) if quiet else _GridProgress(bars, console, cells, done)


class _GridProgress:
    """A bar for the grid and one for each run under way; a line for each run that ends, and for what goes wrong."""

    def __init__(self, bars: Progress, console: Console, cells: Sequence[Cell], done: int) -> None:
        self._bars, self._console = bars, console
        self._total, self._ended = done + len(cells), done
        self._all = bars.add_task("runs", total=self._total, completed=done, note="")
        self._running: dict[str, tuple[TaskID, float]] = {}
        if done:
            console.print(f"{done} of {self._total} runs are done already")

    def __call__(self, event: Event) -> None:
        name, amount = event.cell.name, event.cell.config.amount
        if event.kind == "begun":
            self._running[name] = self._bars.add_task(f"  {name}", total=amount, note=""), time.monotonic()
        elif event.kind == "progress":
            self._bars.update(self._running[name][0], completed=event.reached, note=f"return {event.mean:6.1f}")
        else:
            bar, began = self._running.pop(name)
            self._bars.remove_task(bar)
            self._end(event, time.monotonic() - began)
        under_way = sum(bar.percentage / 100 for bar in self._bars.tasks if bar.id != self._all)
        self._bars.update(self._all, completed=self._ended + under_way)

    def _end(self, event: Event, seconds: float) -> None:
        name = event.cell.name
        if event.kind == "retried":
            self._console.print(f"{name} is tried again: {event.message}", soft_wrap=True)
            return
        self._ended += 1
        what = f"{event.kind} after {seconds:.0f} s{f': {event.message}' if event.message else ''}"
        self._console.print(f"[{self._ended}/{self._total}] {name} {what}", soft_wrap=True)


@contextmanager
def stage_progress(quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """What is given the name of a stage, how much of it is done, and of how much; None where nobody looks at it."""
    with progress_bars(quiet) as (bars, _):
        stages: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total, note="")
            bars.update(stages[stage], completed=done)

        yield None if bars.disable else show
