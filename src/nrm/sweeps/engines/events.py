"""What engines are, and what they tell while they work."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import torch

from nrm.agents import Trainer
from nrm.errors import EngineError, NrmWarning, ShownWarnings, describe
from nrm.runs import RunFolder
from nrm.settings import Checked, Count
from nrm.sweeps.cells import cell_path, run_cell
from nrm.sweeps.expansion import Cell
from nrm.sweeps.grid_file import grid_words

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
class EngineSettings(Checked):
    """What every engine can be given."""

    error = EngineError

    processes: Count | None = None
    """How many cells at a time on this machine; as many as there are cores when absent."""
    seconds: float = 30.0
    """Between two checkpoints of a run."""
    retries: int = 3
    """How often a cell is tried again whose process died."""


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
        if now - self._last >= 0.5:  # seconds
            self._last = now
            self._report(trainer.reached, trainer.history.mean_return())


def main() -> None:
    """Serve the pipe whose descriptor is the first argument. The grid folder's lock comes along, held until the end."""
    torch.set_num_threads(1)
    warnings.simplefilter("always", NrmWarning)
    warnings.showwarning = cast(Any, ShownWarnings(grid_words).show)
    connection = Connection(int(sys.argv[1]))
    try:
        connection.send(("ready",))
        while True:
            order = connection.recv()
            if order is not None:  # None asks to stop what has just ended anyway
                _work(connection, *order)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the main process has ended or has gone; whatever was under way is saved
    os._exit(0)


def _work(connection: Connection[Any, Any], cell: Any, store: str, seconds: float) -> None:
    folder = RunFolder(cell_path(Path(store), cell))

    def tell(reached: int, mean: float) -> None:
        with suppress(OSError):  # nobody listens any more: the pipe's end is noticed below
            connection.send(("progress", reached, mean))

    try:
        # Anything in the pipe, be it the order to stop or its end, is a reason to save and stop.
        done = run_cell(cell, folder, seconds, Reporter(tell), interrupted=connection.poll)
    except Exception as error:
        connection.send(("failed", grid_words(describe(error))))
    else:
        connection.send(("done" if done else "saved",))
