"""What engines are, what they tell while they work, and the pool of workers that each of them runs."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, Protocol

from nrm.agents import Trainer
from nrm.errors import EngineError, describe
from nrm.runs import RunFolder
from nrm.settings import Checked, Count
from nrm.sweeps.cells import run_cell
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


class Engine(Protocol):
    """Something that trains cells."""

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:
        """Train cells side by side, beginning in their order; once `interrupted`, save those under way and end.

        `lock`: the descriptor of the grid folder's lock, which every process that writes there must hold.
        """
        ...


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


class Worker:
    """A process that trains one cell after the other. It writes to the pipe: ready, progress, and how a cell ended."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self.pipe = pipe
        self.cell: Cell | None = None
        self.process = 0
        """Its number, once it is ready."""

    def train(self, cell: Cell) -> None:
        """Begin to train a cell, from where its folder is."""
        raise NotImplementedError

    def stop(self) -> None:
        """Save the cell, and end it."""
        raise NotImplementedError

    def death(self) -> str:
        """How the process ended, in words."""
        raise NotImplementedError

    def close(self) -> None:
        """Let it go, and close the pipe; a cell that it still trains is not waited for."""
        raise NotImplementedError


class Pool:
    """The workers of one call of an engine. A cell whose worker dies goes on from its checkpoint in another."""

    def __init__(self, cells: Sequence[Cell], most: int, retries: int, hire: Callable[[], Worker]) -> None:
        self._queue = deque(cells)
        self._most, self._retries, self._hire = most, retries, hire
        self._workers: list[Worker] = []
        self._deaths: Counter[str] = Counter()
        self._stillborn = 0
        self._stopping = False

    def events(self, interrupted: Callable[[], bool]) -> Iterator[Event]:
        """Train all cells, or as far as they are when interrupted."""
        try:
            while self._queue or self._busy:
                if interrupted() and not self._stopping:
                    self._stop()
                yield from self._begin()
                # seconds between two looks at whether to stop
                heard = wait([worker.pipe for worker in self._workers], timeout=0.2)
                for worker in [worker for worker in self._workers if worker.pipe in heard]:
                    yield from self._hear(worker)
        finally:
            for worker in self._workers:
                worker.close()

    @property
    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.cell is not None]

    def _stop(self) -> None:
        self._stopping = True
        self._queue.clear()
        for worker in self._busy:
            worker.stop()

    def _begin(self) -> Iterator[Event]:
        """Hire as many workers as there is work for, and give it to those that are ready."""
        while len(self._workers) < min(self._most, len(self._queue) + len(self._busy)):
            self._workers.append(self._hire())
        for worker in self._workers:
            if worker.process and worker.cell is None and self._queue:
                worker.cell = self._queue.popleft()
                worker.train(worker.cell)
                yield Event("begun", worker.cell, process=worker.process)

    def _hear(self, worker: Worker) -> Iterator[Event]:
        """Take in a message of a worker, or its death."""
        try:
            kind, *rest = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if kind == "ready":
            (worker.process,) = rest
            return
        cell = worker.cell
        assert cell is not None
        if kind == "progress":
            yield Event("progress", cell, reached=rest[0], mean=rest[1])
            return
        worker.cell = None
        yield Event(kind, cell, message=rest[0])

    def _bury(self, worker: Worker) -> Iterator[Event]:
        """Take leave of a worker that died; its cell goes on elsewhere, but not for ever."""
        self._workers.remove(worker)
        worker.pipe.close()
        death, cell = worker.death(), worker.cell
        if not worker.process:
            self._stillborn += 1
            if self._stillborn > self._retries:
                raise EngineError(f"no worker process can be started: the last one {death}")
        if cell is None:
            return
        self._deaths[cell.name] += 1
        times = self._deaths[cell.name]
        if self._stopping:
            yield Event("saved", cell)
        elif times <= self._retries:
            self._queue.appendleft(cell)
            yield Event("retried", cell, message=f"its process {death}; it goes on from its last checkpoint")
        else:
            yield Event("failed", cell, message=f"its process died {times} times; the last one {death}")


def trained(
    cell: Cell, folder: RunFolder, seconds: float, tell: Callable[..., object], interrupted: Callable[[], bool]
) -> tuple[str, str]:
    """Train a cell in a worker process: how it ended, and why if it failed. `tell`: how far it is, now and then."""
    last = float("-inf")

    def progress(trainer: Trainer) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 0.5:  # seconds
            last = now
            tell("progress", trainer.reached, trainer.history.mean_return())

    try:
        done = run_cell(cell, folder, seconds, progress, interrupted)
    except Exception as error:
        return "failed", grid_words(describe(error))
    return "done" if done else "saved", ""
