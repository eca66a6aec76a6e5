"""What engines are, and what they tell while they work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from nrm.agents import Trainer
from nrm.errors import EngineError
from nrm.sweeps.grid import Cell

REPORT_SECONDS = 0.5

Kind = Literal["begun", "progress", "retried", "done", "saved", "failed"]


@dataclass(frozen=True)
class Event:
    """Something happened to a cell. Every cell that begins ends as done, saved (when interrupted) or failed."""

    kind: Kind
    cell: Cell
    reached: int = 0
    """progress: episodes done so far, or steps where the run counts these."""
    mean: float = 0.0
    """progress: the mean return of the last 100."""
    process: int = 0
    """begun: the process that trains the cell."""
    message: str = ""
    """retried, failed: why."""


@dataclass(frozen=True)
class EngineSettings:
    """What every engine can be told."""

    processes: int | None = None
    """How many cells at a time on this machine; as many as there are cores when absent."""
    seconds: float = 30.0
    """Between two checkpoints of a run."""
    retries: int = 3
    """How often a cell is tried again whose process died."""

    def __post_init__(self) -> None:
        if self.processes is not None and self.processes < 1:
            raise EngineError(f"the number of processes must be at least 1, not {self.processes}")


class Engine(Protocol):
    """Something that trains cells."""

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:
        """Train cells side by side, beginning in their order; once `interrupted`, save those under way and end.

        `lock`: the descriptor of the grid folder's lock, which every process that writes there must hold.
        """
        ...


class Reporter:
    """Passes on how far a trainer is: at once, and now and then."""

    def __init__(self, report: Callable[[int, float], None]) -> None:
        self._report = report
        self._last = float("-inf")

    def __call__(self, trainer: Trainer) -> None:
        """Report if the last time is long enough ago."""
        now = time.monotonic()
        if now - self._last >= REPORT_SECONDS:
            self._last = now
            reached = len(trainer.history.returns) if trainer.most_steps is None else trainer.steps
            self._report(reached, trainer.history.mean_return())
