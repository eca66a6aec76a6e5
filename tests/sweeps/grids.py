"""Small grids, and what they must come to."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from nrm.runs import RunFolder, train
from nrm.runs.lock import locked
from nrm.sweeps import Grid
from nrm.sweeps.cells import cell_path
from nrm.sweeps.engines import Engine, Event

SETTINGS = {"grounding": {"every": 40, "epochs": 10, "restarts": 1}}
GRID = Grid(("1", "3"), methods=("nrm", "rm"), total_episodes=200, num_envs=4, settings=SETTINGS)
# Ray hears of things a little later: the first run must last a while.
SMALL = Grid(("1",), methods=("nrm", "rm"), total_episodes=400, num_envs=4, settings=SETTINGS)


def reference(grid: Grid, store: Path) -> dict[str, str]:
    """metrics.csv of each cell, trained one after another in this process."""
    found = {}
    for cell in grid.cells:
        folder = RunFolder(store / cell.name)
        folder.begin(cell.config)
        train(folder, folder.load())
        found[cell.name] = (folder.path / "metrics.csv").read_text()
    return found


def metrics(grid: Grid, store: Path) -> dict[str, str]:
    return {cell.name: (cell_path(store, cell) / "metrics.csv").read_text() for cell in grid.cells}


def events(engine: Engine, grid: Grid, store: Path, stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
    with locked(store) as lock:
        yield from engine.run(grid.cells, store, lock, stop)


class Killer:
    """Kills the process of the first cell that is heard of again after its beginning."""

    def __init__(self) -> None:
        self.processes: dict[str, int] = {}
        self.killed = ""

    def __call__(self, event: Event) -> None:
        if event.kind == "begun":
            self.processes[event.cell.name] = event.process
        elif event.kind == "progress" and not self.killed:
            self.killed = event.cell.name
            os.kill(self.processes[event.cell.name], signal.SIGKILL)
