"""Ctrl-C as a flag, for work that saves itself before it stops."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event


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
