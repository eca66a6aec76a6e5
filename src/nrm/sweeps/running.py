"""Running a grid: what is done is skipped, what was interrupted goes on, what fails is told at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nrm.errors import FileError
from nrm.files import write_json
from nrm.runs import clear_beginnings, locked
from nrm.sweeps.cells import RUNS, cell_state
from nrm.sweeps.engines.events import Engine, Event
from nrm.sweeps.grid import Cell, Grid, Grids

GRID_FILE = "grid.json"


@dataclass
class Outcome:
    """What became of the cells of a grid, by their names."""

    skipped: list[str] = field(default_factory=list)
    """Done before."""
    done: list[str] = field(default_factory=list)
    """Done now."""
    saved: list[str] = field(default_factory=list)
    """Interrupted, to go on another time."""
    waiting: list[str] = field(default_factory=list)
    """Not begun before the interruption."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why each of these could not be done."""

    @property
    def interrupted(self) -> bool:
        """Whether cells remain that only need time."""
        return bool(self.saved or self.waiting)


Watch = Callable[[Event], None]


def run_grid(
    grid: Grid | Grids,
    store: Path,
    engine: Engine,
    plan: Callable[[Sequence[Cell], int], Watch] = lambda *_: lambda _: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Bring every cell of a grid, or of several, to its end in the folder `store`.

    `plan` is told the cells to train and how many are done already, and gives what to call with every event. The grid
    may have grown since the last time; it may not contradict the runs that are there.
    """
    cells = grid.cells
    with locked(store) as lock:
        outcome = Outcome()
        unfinished = _unfinished(cells, store, outcome)
        write_json(store / GRID_FILE, grid.to_json())
        clear_beginnings(store / RUNS)
        watch = plan(unfinished, len(outcome.skipped))
        ended: set[str] = set(outcome.failed)
        for event in engine.run(unfinished, store, lock, interrupted) if unfinished else ():
            name = event.cell.name
            match event.kind:
                case "done":
                    outcome.done.append(name)
                case "saved":
                    outcome.saved.append(name)
                case "failed":
                    outcome.failed[name] = event.message
            if event.kind in ("done", "saved", "failed"):
                ended.add(name)
            watch(event)
        outcome.waiting += [cell.name for cell in unfinished if cell.name not in ended]
    return outcome


def _unfinished(cells: Sequence[Cell], store: Path, outcome: Outcome) -> list[Cell]:
    """The cells that need training; broken ones are noted, and runs that contradict the grid refuse it."""
    unfinished = []
    for cell in cells:
        try:
            state = cell_state(store, cell)
        except FileError as error:
            outcome.failed[cell.name] = str(error)
            continue
        if state == "done":
            outcome.skipped.append(cell.name)
        else:
            unfinished.append(cell)
    return unfinished
