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


@dataclass
class _Pace:
    """Seconds, and episodes or steps, seen of one kind of cell."""

    unit: str
    seconds: float = 0.0
    amount: int = 0


class Forecast:
    """Takes in events with their times. Cells of a kind cost alike; unseen kinds are taken for average."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._left = {cell.name: cell.config.amount for cell in cells}
        self._kinds = {cell.name: cell.kind for cell in cells}
        self._paces = {cell.kind: _Pace(cell.config.unit) for cell in cells}
        self._running: dict[str, tuple[float, int | None]] = {}
        """For each cell under way: when it was last heard of, and what it had reached then, if known."""

    def add(self, event: Event, now: float) -> None:
        """Take in an event at a time in seconds."""
        name, total = event.cell.name, event.cell.config.amount
        if event.kind == "begun":
            self._running[name] = (now, None)
        elif event.kind in ("progress", "done") and name in self._running:
            before, amount = self._running[name]
            reached = total if event.kind == "done" else event.reached
            # Where a resumed cell went on is known from its first progress only: the time before is not counted.
            if amount is not None or event.kind == "done":
                pace = self._paces[event.cell.kind]
                pace.seconds += now - before
                pace.amount += reached - (amount or 0)
            self._left[name] = max(0, total - reached)
            self._running[name] = (now, reached)
        if event.kind in ("done", "saved", "failed", "retried"):
            self._running.pop(name, None)
        if event.kind in ("done", "failed", "saved"):
            self._left[name] = 0

    def seconds_left(self) -> float | None:
        """An estimate, or None before anything is known of what is left: episodes, or steps."""
        work = 0.0
        for name, amount in self._left.items():
            pace = self._paces[self._kinds[name]]
            alike = [pace] if pace.amount > 0 else [one for one in self._paces.values() if one.unit == pace.unit]
            seen = sum(one.amount for one in alike)
            if amount and not seen:
                return None
            work += amount * sum(one.seconds for one in alike) / max(1, seen)
        return work / max(1, len(self._running))


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
