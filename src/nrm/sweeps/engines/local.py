"""The local engine: worker processes on this machine, one thread each, replaced when they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import torch

from nrm.errors import NrmWarning, ShownWarnings
from nrm.runs import RunFolder
from nrm.sweeps.cells import cell_path
from nrm.sweeps.engines.events import EngineSettings, Event, Pool, Worker, trained
from nrm.sweeps.expansion import Cell
from nrm.sweeps.grid_file import grid_words

WORKER = ("-c", "from nrm.sweeps.engines.local import main; main()")
"""What Python is asked to run in a worker process."""


@dataclass(frozen=True)
class LocalEngine(EngineSettings):
    """Trains cells in processes of its own. A cell whose process dies goes on from its checkpoint in another."""

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:
        """Train cells; see `Engine`."""
        most = self.processes or os.cpu_count() or 1
        return Pool(cells, most, self.retries, lambda: LocalWorker(store, self.seconds, lock)).events(interrupted)


class LocalWorker(Worker):
    """A process of this machine, and the pipe to it."""

    def __init__(self, store: Path, seconds: float, lock: int) -> None:
        self._order = str(store), seconds
        pipe, theirs = Pipe()
        super().__init__(pipe)
        command = [sys.executable, *WORKER, str(theirs.fileno())]
        # Ctrl-C reaches all processes of a terminal. Workers are born deaf to it; the pipe tells them to stop.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), lock),
                env=_environment(),
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    def train(self, cell: Cell) -> None:
        """Send the cell; a process that has died in the meantime is noticed when its pipe is read."""
        with suppress(OSError):
            self.pipe.send((cell, *self._order))

    def stop(self) -> None:
        """Anything in the pipe is an order to stop."""
        with suppress(OSError):
            self.pipe.send(None)

    def death(self) -> str:
        """How the process ended, in words."""
        status = self._process.wait()
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    def close(self) -> None:
        """Idle ones leave when their pipe closes."""
        if self.cell is not None or not self.process:
            self._process.kill()
        self.pipe.close()
        self._process.wait()


def _environment() -> dict[str, str]:
    """The environment of workers: ours, with one thread a process, and this very package found first."""
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def main() -> None:
    """Serve the pipe whose descriptor is the last argument. The grid folder's lock comes along, held until the end."""
    torch.set_num_threads(1)
    warnings.simplefilter("always", NrmWarning)
    warnings.showwarning = cast(Any, ShownWarnings(grid_words).show)
    connection = Connection(int(sys.argv[-1]))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the main process has ended; all is saved
        connection.send(("ready", os.getpid()))
        while True:
            order = connection.recv()
            if order is not None:  # None asks to stop what has just ended anyway
                serve(connection, *order)
    os._exit(0)


def serve(connection: Connection[Any, Any], cell: Cell, store: str, seconds: float) -> None:
    """Train a cell. Anything in the pipe, be it the order to stop or its end, is a reason to save and stop."""

    def tell(*message: object) -> None:
        with suppress(OSError):  # nobody listens any more: the pipe's end is noticed below
            connection.send(message)

    connection.send(trained(cell, RunFolder(cell_path(Path(store), cell)), seconds, tell, connection.poll))
