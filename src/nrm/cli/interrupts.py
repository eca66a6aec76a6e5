"""Ctrl-C as a flag, for work that saves itself before it stops."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Flag:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.raised = False

    def __call__(self) -> bool:
        """Whether it was."""
        return self.raised


@contextmanager
def interrupt_flag() -> Iterator[Flag]:
    """Ctrl-C raises the flag, and what is under way is finished; a second Ctrl-C stops at once."""
    flag = Flag()
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(*_: object) -> None:
        flag.raised = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
