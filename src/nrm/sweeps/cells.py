"""A cell of a grid on disk: what state its folder is in, and how it is trained from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from nrm.agents import Trainer
from nrm.errors import FileError, GridError, NrmError, listing
from nrm.files import remove_leftovers, write_text
from nrm.registry import Given, following, given
from nrm.runs import RunConfig, RunFolder, locked, train
from nrm.sweeps.expansion import Cell

RUNS = "runs"
CELL_FILE = "cell.json"
"""Beside a run's own files: which variant a cell belongs to, and whether it is done."""
CellState = Literal["new", "begun", "done"]


def cell_path(store: Path, cell: Cell) -> Path:
    """Where a grid folder keeps a cell's run."""
    return store / RUNS / cell.name


def cell_state(store: Path, cell: Cell) -> CellState:
    """How far a cell has got. A folder that cannot be read is a `FileError`, one of another run a `GridError`."""
    folder = RunFolder(cell_path(store, cell))
    if not folder.exists:
        if folder.path.is_dir() and any(folder.path.iterdir()):
            raise FileError(f"{folder} is not empty and holds no run; {folder.way_out}")
        return "new"
    try:
        with _names_of(cell):
            there = folder.config()
    except NrmError as error:
        raise FileError(str(error)) from None
    if there != cell.config:
        differences = _differences(there, cell.config)
        raise GridError(f"{folder} holds another run: {differences}; choose another --out, or remove it")
    return "done" if _is_done(folder, cell.config) else "begun"


def run_cell(
    cell: Cell,
    folder: RunFolder,
    seconds: float,
    progress: Callable[[Trainer], None],
    interrupted: Callable[[], bool],
) -> bool:
    """Train a cell to its end, from where its folder is, or until interrupted; whether it is the end."""
    begun = None if folder.exists else folder.begin(cell.config, {CELL_FILE: _cell_text(cell, done=False)})
    with locked(folder.path), folder.undone_on_failure(begun is not None, (CELL_FILE,)):
        remove_leftovers(folder.path)
        try:
            with _names_of(cell):
                trainer = begun or folder.load()
        except NrmError as error:
            raise FileError(str(error)) from None
        done = train(folder, trainer, seconds, progress, interrupted)
        # The mark comes last: whoever reads it finds everything else written.
        write_text(folder.path / CELL_FILE, _cell_text(cell, done))
    return done


def _names_of(cell: Cell) -> AbstractContextManager[None]:
    """Where names of code in a cell's folder are followed if the cell itself names them."""
    return following(given() or Given((repr(cell.config),)))


def _cell_text(cell: Cell, done: bool) -> str:
    return json.dumps({"variant": cell.variant, "done": done}) + "\n"


def _is_done(folder: RunFolder, config: RunConfig) -> bool:
    """Whether the folder is marked as done and has its metrics; if in doubt it is resumed, which costs little."""
    try:
        marked = json.loads((folder.path / CELL_FILE).read_bytes())
        rows = (folder.path / "metrics.csv").read_bytes().count(b"\n") - 1
    except (OSError, ValueError):
        return False
    whole = rows == config.total_episodes if config.unit == "episodes" else (folder.steps() or 0) >= config.amount
    return isinstance(marked, dict) and marked.get("done") is True and whole


def _differences(there: RunConfig, here: RunConfig) -> str:
    old, new = there.to_json(), here.to_json()
    old, new = ({**one, **one.pop("settings")} for one in (old, new))
    changed = [name for name in new if old.get(name) != new[name]]
    return listing([f"{name} is {old.get(name)!r} there and {new[name]!r} here" for name in changed], 3)
