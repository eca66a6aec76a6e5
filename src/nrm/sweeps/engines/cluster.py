"""The Ray engine: cells as tasks of a cluster. Workers need not share a disk with the grid folder.

A task trains in a temporary folder of its own and ships the folder's files to a mailbox at every checkpoint; only the
main process writes in the grid folder. When a worker dies, Ray runs the task again, and it goes on from the newest
files in the mailbox. Runs are deterministic, so the results are the same from wherever it goes on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nrm.agents import Trainer
from nrm.errors import EngineError, FileError, describe, require
from nrm.files import write_bytes
from nrm.runs import RunFolder, whole_folder
from nrm.sweeps.cells import CELL_FILE, cell_path, run_cell
from nrm.sweeps.engines.events import EngineSettings, Event, Reporter
from nrm.sweeps.expansion import Cell
from nrm.sweeps.grid_file import grid_words

HEALTH_SECONDS = 60.0
Files = dict[str, bytes]
"""The files of a run folder, by their paths in it."""


@dataclass(frozen=True)
class RayEngine(EngineSettings):
    """Trains cells as tasks of a Ray cluster, each on one CPU; `processes` is for a cluster that is started here."""

    address: str | None = None
    """Of an existing cluster: host:port or auto. A cluster is started on this machine when absent."""

    def __post_init__(self) -> None:
        if self.address is not None and self.processes is not None:
            raise EngineError("an existing cluster has the processes it has; drop --processes, or drop --address")
        super().__post_init__()

    def run(self, cells: Sequence[Cell], store: Path, lock: int, interrupted: Callable[[], bool]) -> Iterator[Event]:  # noqa: ARG002 - only this process writes
        """Train cells; see `Engine`."""
        ray = require("ray", "the Ray engine needs Ray", "ray")
        borrowed = ray.is_initialized()
        if not borrowed:
            self._connect(ray)
        try:
            yield from _Tasks(ray, self, store, cells).events(interrupted)
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


class _Tasks:
    """The tasks of one call of the engine."""

    def __init__(self, ray: Any, engine: RayEngine, store: Path, cells: Sequence[Cell]) -> None:
        self.ray = ray
        self.store = store
        self.mailbox = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Mailbox).remote()
        task = ray.remote(num_cpus=1, max_retries=engine.retries)(train_cell)
        self.cells = {cell.name: cell for cell in cells}
        self.refs: dict[Any, Cell] = {}
        for cell in cells:
            files = pack(cell_path(store, cell))
            self.refs[task.remote(cell, files, str(cell_path(store, cell)), engine.seconds, self.mailbox)] = cell
        self.begun: set[str] = set()

    def events(self, interrupted: Callable[[], bool]) -> Iterator[Event]:
        stopping = False
        while self.refs:
            if interrupted() and not stopping:
                stopping = True
                for ref, cell in list(self.refs.items()):
                    if cell.name not in self.begun:  # in the queue: nothing is lost
                        self.ray.cancel(ref)
                        del self.refs[ref]
                continue
            ended, _ = self.ray.wait(list(self.refs), num_returns=len(self.refs), timeout=0.3)
            # What is in the mailbox was sent before a task ended: it must be read first.
            under_way = {cell.name for cell in self.refs.values()}
            for name, kind, content in self.ray.get(self.mailbox.exchange.remote(stopping, under_way)):
                if name in under_way:
                    yield from self._read(name, kind, content)
            for ref in ended:
                yield self._end(self.refs.pop(ref), ref)

    def _read(self, name: str, kind: str, content: Any) -> Iterator[Event]:
        """Take in what a task tells."""
        cell = self.cells[name]
        if kind == "begun":
            if name in self.begun:
                yield Event("retried", cell, message="its worker died; it goes on from its last checkpoint")
            self.begun.add(name)
            yield Event("begun", cell, process=content)
        elif kind == "progress":
            yield Event("progress", cell, reached=content[0], mean=content[1])
        else:
            try:
                unpack(content, cell_path(self.store, cell))
            except FileError:
                return  # a checkpoint that cannot be kept costs time only; the end of the run is another matter

    def _end(self, cell: Cell, ref: Any) -> Event:
        """Take in the end of a task."""
        try:
            outcome, content = self.ray.get(ref)
            if outcome == "failed":
                return Event("failed", cell, message=content)
            unpack(content, cell_path(self.store, cell))
        except self.ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[0]
            return Event("failed", cell, message=f"Ray gave up on it ({type(error).__name__}: {reason})")
        except FileError as error:
            return Event("failed", cell, message=str(error))
        return Event(outcome, cell)


class Mailbox:
    """An actor between tasks and the main process: letters one way, the order to stop the other way.

    It may be killed as any worker: Ray starts it again, empty, and what it held costs time only.
    """

    def __init__(self) -> None:
        self.letters: list[tuple[str, str, Any]] = []
        self.newest: dict[str, Files] = {}
        self.stop = False

    def post(self, name: str, kind: str, content: Any) -> bool:
        """Send a letter about a cell; whether its task shall stop."""
        if kind == "files":
            self.newest[name] = content
        self.letters.append((name, kind, content))
        return self.stop

    def files(self, name: str) -> Files | None:
        """The newest files that a task has shipped."""
        return self.newest.get(name)

    def exchange(self, stop: bool, under_way: set[str]) -> list[tuple[str, str, Any]]:
        """Take all letters, say whether to stop, and which cells' files are still needed."""
        self.stop = stop
        self.newest = {name: files for name, files in self.newest.items() if name in under_way}
        letters, self.letters = self.letters, []
        return letters


def train_cell(cell: Cell, files: Files, place: str, seconds: float, mailbox: Any) -> tuple[str, Any]:
    """The task: train a cell, from the newest files there are; ("done" or "saved", files) or ("failed", why)."""
    import ray
    import torch

    torch.set_num_threads(1)
    stop = False

    def post(kind: str, content: Any) -> None:
        def send() -> None:
            nonlocal stop
            stop = ray.get(mailbox.post.remote(cell.name, kind, content))

        postman.submit(send)

    # Ray lends out the CPU of a task whose main thread waits for an answer, so another thread does.
    with ThreadPoolExecutor(1) as postman, tempfile.TemporaryDirectory(prefix="nrm-") as temporary:
        post("begun", os.getpid())
        shipped = postman.submit(lambda: ray.get(mailbox.files.remote(cell.name))).result()
        folder = ShippedFolder(Path(temporary) / cell.name, lambda packed: post("files", packed))
        unpack(shipped or files, folder.path)
        progress = Reporter(lambda reached, mean: post("progress", (reached, mean)))
        try:
            done = run_cell(cell, folder, seconds, progress, interrupted=lambda: stop)
        except Exception as error:
            return "failed", grid_words(describe(error)).replace(str(folder.path), place)
        return "done" if done else "saved", pack(folder.path)


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
