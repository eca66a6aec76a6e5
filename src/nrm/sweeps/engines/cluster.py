"""The Ray engine: workers are actors of a cluster. They need not share a disk with the grid folder.

An actor trains in a temporary folder and ships the folder's files at every checkpoint; only the main process writes in
the grid folder. When an actor dies, another one goes on from there. Runs are deterministic, so results are the same.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import torch

from nrm.agents import Trainer
from nrm.errors import EngineError, FileError, require
from nrm.files import write_bytes
from nrm.runs import RunFolder, whole_folder
from nrm.sweeps.cells import CELL_FILE, cell_path
from nrm.sweeps.engines.events import EngineSettings, Event, Pool, Worker, trained
from nrm.sweeps.expansion import Cell

HEALTH_SECONDS = 60.0
Files = dict[str, bytes]
"""The files of a run folder, by their paths in it."""


@dataclass(frozen=True)
class RayEngine(EngineSettings):
    """Trains cells on a Ray cluster, one on each CPU; `processes` is for a cluster that is started here."""

    address: str | None = None
    """Of an existing cluster: host:port or auto. A cluster is started on this machine when absent."""

    def __post_init__(self) -> None:
        if self.address is not None and self.processes is not None:
            raise EngineError("an existing cluster has the processes it has; drop --processes, or the address")
        super().__post_init__()

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:  # noqa: ARG002 - only this process writes
        """Train cells; see `Engine`."""
        ray = require("ray", "the Ray engine needs Ray", "ray")
        borrowed = ray.is_initialized()
        if not borrowed:
            self._connect(ray)
        try:
            most = max(1, int(ray.cluster_resources().get("CPU", 1)))
            yield from Pool(cells, most, self.retries, lambda: RayWorker(ray, store, self.seconds)).events(interrupted)
        except ray.exceptions.RayError as error:
            raise EngineError(f"the Ray cluster has gone ({error}); run the same command again to go on") from None
        finally:
            if not borrowed:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is None:
            # Nothing is reported to anybody, and Ray leaves the choice of devices alone.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            try:
                ray.init(address="local", num_cpus=self.processes, include_dashboard=False, **quiet)
            except (RuntimeError, OSError, ValueError) as error:
                raise EngineError(f"a Ray cluster cannot be started on this machine: {error}") from None
            return
        _check_address(self.address)
        try:
            ray.init(address=self.address, **quiet)
        except (RuntimeError, OSError, ValueError) as error:
            raise EngineError(f"no Ray cluster answers at '{self.address}': {error}") from None


class RayWorker(Worker):
    """An actor with one CPU of the cluster. A thread passes on what it tells, and keeps the files that it ships."""

    def __init__(self, ray: Any, store: Path, seconds: float) -> None:
        pipe, self._ours = Pipe()
        super().__init__(pipe)
        self._ray, self._store, self._seconds = ray, store, seconds
        self._path = store
        # Training, telling and the order to stop need a thread each.
        self._actor = ray.remote(num_cpus=1, max_concurrency=3)(Trainee).remote()
        self._thread = Thread(target=self._listen, daemon=True)
        self._thread.start()

    def train(self, cell: Cell) -> None:
        """Send the cell with the files of its folder."""
        self._path = cell_path(self._store, cell)
        self._actor.train.remote(cell, pack(self._path), str(self._path), self._seconds)

    def stop(self) -> None:
        """Ask the actor to save."""
        self._actor.stop.remote()

    def death(self) -> str:
        """How the process ended: Ray tells no more."""
        return "was lost"

    def close(self) -> None:
        """End the actor."""
        self._ray.kill(self._actor)
        self.pipe.close()
        self._thread.join()

    def _listen(self) -> None:
        lost = ""
        with self._ours, suppress(self._ray.exceptions.RayError, OSError):
            while True:
                for kind, *rest in self._ray.get(self._actor.news.remote()):
                    if kind == "files":
                        lost = self._lost(rest[0])
                    else:  # a checkpoint that cannot be kept costs time only; the end of the run is another matter
                        self._ours.send(("failed", lost) if kind == "done" and lost else (kind, *rest))

    def _lost(self, files: Files) -> str:
        """Why files cannot be kept in the grid folder; empty where they are."""
        try:
            unpack(files, self._path)
        except FileError as error:
            return str(error)
        return ""


class Trainee:
    """What runs in the cluster: it trains cells in temporary folders, and keeps what it has to tell until asked."""

    def __init__(self) -> None:
        self._told: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._told.put(("ready", os.getpid()))
        self._stopping = False

    def news(self) -> list[tuple[Any, ...]]:
        """All messages since the last time, once there is one."""
        return [self._told.get(), *(self._told.get() for _ in range(self._told.qsize()))]

    def stop(self) -> None:
        """Save the cell, and end it."""
        self._stopping = True

    def train(self, cell: Cell, files: Files, place: str, seconds: float) -> None:
        """Train a cell from the files of its folder; `place`: where that is for the user."""
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory(prefix="nrm-") as temporary:
            folder = ShippedFolder(Path(temporary) / cell.name, lambda packed: self._tell("files", packed))
            unpack(files, folder.path)
            kind, why = trained(cell, folder, seconds, self._tell, lambda: self._stopping)
            if kind != "failed":
                self._tell("files", pack(folder.path))
            self._tell(kind, why.replace(str(folder.path), place))

    def _tell(self, *message: Any) -> None:
        self._told.put(message)


class ShippedFolder(RunFolder):
    """A run folder whose files are shipped at every checkpoint but the last, which the task returns."""

    def __init__(self, path: Path, ship: Callable[[Files], None]) -> None:
        super().__init__(path)
        self._ship = ship

    def save(self, trainer: Trainer, cpu_seconds: float | None = None) -> None:
        """Write the files, and ship them."""
        super().save(trainer, cpu_seconds)
        if not trainer.done:
            self._ship(pack(self.path))


def pack(path: Path) -> Files:
    """The files of a run folder; nothing where there is no folder."""
    try:
        found = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
        return {str(file.relative_to(path)): file.read_bytes() for file in found}
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None


def unpack(files: Files, path: Path) -> None:
    """Write the files of a run folder, each whole, the mark of being done last."""
    if not files:
        return
    if path.exists() and any(path.iterdir()):
        _write(files, path)
        return
    with whole_folder(path) as new:
        _write(files, new)


def _write(files: Files, path: Path) -> None:
    # Tables may be longer than their checkpoint tells, but not shorter.
    last = ("checkpoint.pt", "policy.safetensors", CELL_FILE)
    for name in sorted(files, key=lambda name: last.index(name) if name in last else -1):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path / name, files[name])


def _check_address(address: str) -> None:
    """Refuse an address where no cluster answers. Ray itself would try for many minutes."""
    if address == "auto":
        return  # Ray knows at once whether a cluster runs on this machine
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise EngineError(f"'{address}' is no address of a Ray cluster; give host:port of its head, or auto")
    try:
        with socket.create_connection((host, int(port)), timeout=5.0):
            pass
        command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
        healthy = subprocess.run(command, capture_output=True, timeout=HEALTH_SECONDS).returncode == 0
        reason = "something listens there, but it is no Ray cluster"
    except (OSError, OverflowError) as error:
        healthy, reason = False, str(error)
    except subprocess.TimeoutExpired:
        healthy, reason = False, f"no answer in {HEALTH_SECONDS:.0f} seconds"
    if not healthy:
        raise EngineError(f"no Ray cluster can be reached at '{address}' ({reason}); start one: 'ray start --head'")
