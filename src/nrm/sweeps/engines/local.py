"""The local engine: worker processes on this machine, one thread each, replaced when they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from nrm.errors import EngineError
from nrm.sweeps.engines.events import EngineSettings, Event
from nrm.sweeps.expansion import Cell

WORKER = ("-c", "from nrm.sweeps.engines.events import main; main()")
"""What Python is asked to run in a worker process."""


@dataclass(frozen=True)
class LocalEngine(EngineSettings):
    """Trains cells in processes of its own. A cell whose process dies goes on from its checkpoint in another."""

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:
        """Train cells; see `Engine`."""
        pool = _Pool(self, store, lock, deque(cells))
        try:
            yield from pool.events(interrupted)
        finally:
            pool.close()


class _Worker:
    """A process, the pipe to it, and the cell that it trains."""

    def __init__(self, lock: int) -> None:
        self.cell: Cell | None = None
        self.ready = False
        self.pipe: Connection[Any, Any]
        self.pipe, theirs = Pipe()
        command = [sys.executable, *WORKER, str(theirs.fileno())]
        # Ctrl-C reaches all processes of a terminal. Workers are born deaf to it; the pipe tells them to stop.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), lock),
                env=_environment(),
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    def send(self, order: object) -> None:
        """Give an order; one that has died in the meantime is noticed when its pipe is read."""
        try:
            self.pipe.send(order)
        except OSError:
            return

    def death(self) -> str:
        """How the process ended, in words."""
        status = self.process.wait()
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


class _Pool:
    """The workers of one call of the engine."""

    def __init__(self, engine: LocalEngine, store: Path, lock: int, queue: deque[Cell]) -> None:
        self.engine = engine
        self.store = store
        self.lock = lock
        self.queue = queue
        self.workers: list[_Worker] = []
        self.deaths: Counter[str] = Counter()
        self.stillborn = 0

    @property
    def busy(self) -> list[_Worker]:
        return [worker for worker in self.workers if worker.cell is not None]

    def events(self, interrupted: Callable[[], bool]) -> Iterator[Event]:
        most = self.engine.processes or os.cpu_count() or 1
        stopping = False
        while self.queue or self.busy:
            if interrupted() and not stopping:
                stopping = True
                self.queue.clear()
                for worker in self.busy:
                    worker.send(None)
                continue
            while len(self.workers) < min(most, len(self.queue) + len(self.busy)):
                self.workers.append(_Worker(self.lock))
            for worker in self.workers:
                if worker.ready and worker.cell is None and self.queue:
                    worker.cell = self.queue.popleft()
                    worker.send((worker.cell, str(self.store), self.engine.seconds))
                    yield Event("begun", worker.cell, process=worker.process.pid)
            heard = wait(
                [worker.pipe for worker in self.workers], timeout=0.2
            )  # seconds between two looks at whether to stop
            for worker in [worker for worker in self.workers if worker.pipe in heard]:
                yield from self._hear(worker, stopping)

    def _hear(self, worker: _Worker, stopping: bool) -> Iterator[Event]:
        """Take in a message of a worker, or its death."""
        try:
            kind, *rest = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker, stopping)
            return
        if kind == "ready":
            worker.ready = True
            return
        cell = worker.cell
        assert cell is not None
        if kind == "progress":
            yield Event("progress", cell, reached=rest[0], mean=rest[1])
            return
        worker.cell = None
        yield Event(kind, cell, message=rest[0] if rest else "")

    def _bury(self, worker: _Worker, stopping: bool) -> Iterator[Event]:
        """Take leave of a worker that died; its cell goes on elsewhere, but not for ever."""
        self.workers.remove(worker)
        worker.pipe.close()
        death, cell = worker.death(), worker.cell
        if not worker.ready:
            self.stillborn += 1
            if self.stillborn > self.engine.retries:
                raise EngineError(f"no worker process can be started: the last one {death}")
        if cell is None:
            return
        self.deaths[cell.name] += 1
        times = self.deaths[cell.name]
        if stopping:
            yield Event("saved", cell)
        elif times <= self.engine.retries:
            self.queue.appendleft(cell)
            yield Event("retried", cell, message=f"its process {death}; it goes on from its last checkpoint")
        else:
            yield Event("failed", cell, message=f"its process died {times} times; the last one {death}")

    def close(self) -> None:
        """End all workers: idle ones leave when their pipe closes; busy ones have been saved, or are not waited for."""
        for worker in self.workers:
            if worker.cell is not None or not worker.ready:
                worker.process.kill()
            worker.pipe.close()
        for worker in self.workers:
            worker.process.wait()


def _environment() -> dict[str, str]:
    """The environment of workers: ours, with one thread a process, and this very package found first."""
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
