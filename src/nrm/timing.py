"""Timing of small work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

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
