"""What commands share of the terminal: tables, and Ctrl-C as a question for work that saves itself before it stops."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


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
    pressed = Event()
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
