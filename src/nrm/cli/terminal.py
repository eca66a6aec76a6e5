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


Plan = Callable[[Sequence["Cell"], int], Callable[["Event"], None]]


@contextmanager
def grid_progress(quiet: bool) -> Iterator[Plan]:
    """What `run_grid` calls with the cells to train, on standard error."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if quiet:
        yield lambda *_: lambda _: None
    elif console.is_terminal:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Progress(*columns, TimeElapsedColumn(), console=console, refresh_per_second=4) as bars:
            yield lambda cells, done: _Bars(bars, cells, done)
    else:
        yield lambda cells, done: _Lines(console, cells, done)


class _Lines:
    """A line for each run that ends, and for whatever goes wrong."""

    def __init__(self, console: Console, cells: Sequence[Cell], done: int) -> None:
        from nrm.sweeps import Forecast

        self._console = console
        self._forecast = Forecast(cells)
        self._began: dict[str, float] = {}
        self._ended, self._total = done, done + len(cells)
        if done:
            console.print(f"{done} of {self._total} runs are done already")

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        self._forecast.add(event, now)
        name = event.cell.name
        if event.kind == "begun":
            self._began[name] = now
        elif event.kind == "retried":
            self._console.print(f"{name} is tried again: {event.message}", soft_wrap=True)
        elif event.kind != "progress":
            self._ended += 1
            left = duration(self._forecast.seconds_left())
            what = f"{event.kind} after {duration(now - self._began[name])}"
            why = f": {event.message}" if event.message else ""
            self._console.print(f"[{self._ended}/{self._total}] {name} {what}{why}; {left} left", soft_wrap=True)


class _Bars:
    """A bar for the grid, and one for each run under way."""

    def __init__(self, bars: Progress, cells: Sequence[Cell], done: int) -> None:
        from nrm.sweeps import Forecast

        self._bars = bars
        self._forecast = Forecast(cells)
        self._all = bars.add_task("runs", total=done + len(cells), completed=done, note="")
        self._running: dict[str, TaskID] = {}

    def __call__(self, event: Event) -> None:
        self._forecast.add(event, time.monotonic())
        name = event.cell.name
        if event.kind == "begun":
            self._running[name] = self._bars.add_task(f"  {name}", total=event.cell.config.amount, note="")
        elif event.kind == "progress":
            note = f"return {event.mean:6.1f}"
            self._bars.update(self._running[name], completed=event.reached, note=note)
        else:
            self._bars.remove_task(self._running.pop(name))
            self._bars.advance(self._all, event.kind != "retried")
            if event.message:
                self._bars.console.print(f"{name} {event.kind}: {event.message}")
        self._bars.update(self._all, note=f"{duration(self._forecast.seconds_left())} left")


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
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]} left", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, refresh_per_second=4) as bars:
        stages: dict[str, tuple[TaskID, float]] = {}

        def show(stage: str, done: int, total: int) -> None:
            now = time.monotonic()
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total, left="?"), now
            bar, began = stages[stage]
            # One part may take minutes, which rich would forget between two of them.
            left = duration((now - began) * (total - done) / done if done else None)
            bars.update(bar, completed=done, left=left)

        yield show
