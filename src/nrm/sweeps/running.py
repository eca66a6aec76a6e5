"""Running a grid: what is done is skipped, what was interrupted goes on, what fails is listed at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from nrm.errors import FileError
from nrm.files import write_json
from nrm.runs import clear_beginnings, locked
from nrm.sweeps.cells import RUNS, cell_state
from nrm.sweeps.engines.events import Engine, Event
from nrm.sweeps.expansion import Cell, refuse_conflicts
from nrm.sweeps.grid import Grid


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
    grids: Grid | Sequence[Grid],
    store: Path,
    engine: Engine,
    plan: Callable[[Sequence[Cell], int], Watch] = lambda *_: lambda _: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train all runs of one or more sweeps in the folder `store`.

    `plan` is called with the runs to train and the number of finished ones, and returns a function for events. A sweep
    may have grown since the last time; it must not contradict existing runs.
    """
    several = (grids,) if isinstance(grids, Grid) else tuple(grids)
    # Copies, so that a grid that is there twice is seen to be.
    cells = refuse_conflicts(tuple(replace(cell) for grid in several for cell in grid.cells))
    with locked(store) as lock:
        outcome = Outcome()
        unfinished = _unfinished(cells, store, outcome)
        lists, names = [asdict(grid) for grid in several], [cell.name for cell in cells]
        write_json(store / "grid.json", {"version": 3, "grids": lists, "cells": names})
        clear_beginnings(store / RUNS)
        watch = plan(unfinished, len(outcome.skipped))
        for event in engine.run(unfinished, store, lock, interrupted) if unfinished else ():
            if event.kind == "failed":
                outcome.failed[event.cell.name] = event.message
            elif event.kind in ("done", "saved"):
                getattr(outcome, event.kind).append(event.cell.name)
            watch(event)
        ended = {*outcome.done, *outcome.saved, *outcome.failed}
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
