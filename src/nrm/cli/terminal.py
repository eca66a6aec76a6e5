"""What commands share of the terminal: tables, progress, and Ctrl-C as a question for work that saves itself."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from nrm.sweeps import Cell, Event


def plain_console() -> Console:
    """Standard output for text that is shown as it is."""
    return Console(highlight=False, markup=False, emoji=False)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = (), title: str = ""
) -> Table:
    """A table; the columns that `numbers` names are flush right. Without any heading it has no head."""
    made = Table(box=SIMPLE_HEAD, show_header=any(headings), title=title or None, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


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
    """Bars on standard error, each with a note; none where nobody looks at them."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, refresh_per_second=4, disable=quiet or not console.is_terminal) as bars:
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
        self._all = bars.add_task("runs", total=done + len(cells), completed=done, note="")
        self._running: dict[str, tuple[TaskID, float]] = {}
        self._shares: dict[str, list[float]] = {cell.name: [0.0, 0.0] for cell in cells}
        """Of each cell: how much of it was there when it was first heard of, and how much is there now."""
        self._began = time.monotonic()
        self._ended, self._total = done, done + len(cells)
        if done:
            console.print(f"{done} of {self._total} runs are done already")

    def __call__(self, event: Event) -> None:
        name, now = event.cell.name, time.monotonic()
        if event.kind == "begun":
            bar = self._bars.add_task(f"  {name}", total=event.cell.config.amount, note="")
            self._running[name] = bar, now
        elif event.kind == "progress":
            bar, _ = self._running[name]
            share = event.reached / event.cell.config.amount
            self._shares[name] = [self._shares[name][0] or share, share]
            self._bars.update(bar, completed=event.reached, note=f"return {event.mean:6.1f}")
        else:
            bar, began = self._running.pop(name)
            self._bars.remove_task(bar)
            self._end(event, now - began)
        self._bars.update(self._all, completed=self._ended, note=f"{self._left()} left")

    def _end(self, event: Event, seconds: float) -> None:
        name = event.cell.name
        if event.kind == "retried":
            self._console.print(f"{name} is tried again: {event.message}", soft_wrap=True)
            return
        self._ended += 1
        self._shares[name][1] = 1.0
        why = f": {event.message}" if event.message else ""
        what = f"{event.kind} after {duration(seconds)}{why}"
        self._console.print(f"[{self._ended}/{self._total}] {name} {what}; {self._left()} left", soft_wrap=True)

    def _left(self) -> str:
        """How long the rest takes if it goes on as so far."""
        gained = sum(now - first for first, now in self._shares.values())
        rest = sum(1 - now for _, now in self._shares.values())
        return duration((time.monotonic() - self._began) * rest / gained if gained else None)


def duration(seconds: float | None) -> str:
    """Seconds in words: 40 s, 12 min, 3.5 h."""
    if seconds is None:
        return "?"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def stage_progress(quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """What is told the name of a stage, how much of it is done, and of how much; None where nobody looks at it."""
    with progress_bars(quiet) as (bars, _):
        stages: dict[str, tuple[TaskID, float]] = {}

        def show(stage: str, done: int, total: int) -> None:
            now = time.monotonic()
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total, note="? left"), now
            bar, began = stages[stage]
            # One part may take minutes, which rich would forget between two of them.
            left = duration((now - began) * (total - done) / done if done else None)
            bars.update(bar, completed=done, note=f"{left} left")

        yield None if bars.disable else show
