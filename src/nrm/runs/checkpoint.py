"""Checkpoints: a trainer's state in one file, of which nothing is used before all of it is checked.

Its history is in tables that only grow, so that a save costs what is new, however long a run is. A checkpoint knows how
long each table was before it, and the rows that come then. So whoever is killed while rows are appended leaves a table
that is too short or torn, but nothing is lost: the next save begins where that one did.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as safetensors_save
from torch import Tensor

from nrm.agents import Decided, History, Trainer
from nrm.errors import FileError, shorten
from nrm.files import append_text, csv_text, parse_json, read_bytes, read_text, write_bytes
from nrm.neural import read_torch
from nrm.runs.renamed import Renaming

Column = np.ndarray[Any, np.dtype[np.float64]]
Written = dict[str, list[Any]]
"""By the names of tables: how many bytes were on file before a checkpoint, and the text that comes then."""

METRICS_FILE = "metrics.csv"
METRICS = ("episode", "steps", "return", "length", "success")
GROUNDING = ("episode", "accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts")


class Table(NamedTuple):
    """A part of the history as a table."""

    headings: Sequence[str]
    counted: str
    """The list of a history that has an entry for each row."""
    row: Callable[[list[str]], Any] | None = None
    """An entry from the texts of a row; None for metrics, whose columns are lists of their own."""

    def rows(self, history: History, first: int) -> list[Any]:
        """The rows of a history, without so many at the beginning."""
        if self.row is not None:
            found: list[Any] = getattr(history, self.counted)[first:]
            return found
        columns = (history.steps, history.returns, history.lengths)
        numbers, successes = range(first + 1, len(history.returns) + 1), map(int, history.successes[first:])
        return list(zip(numbers, *(column[first:] for column in columns), successes, strict=True))

    def take(self, history: History, text: str, place: str) -> None:
        """Read what `rows` gave into a history, from a text; `place`: what errors name."""
        if self.row is None:
            columns = _columns(text, self.headings, place)
            history.steps, history.lengths = (columns[name].astype(np.int64).tolist() for name in ("steps", "length"))
            history.returns, history.successes = columns["return"].tolist(), columns["success"].astype(bool).tolist()
            return
        try:
            first, *rows = csv.reader(io.StringIO(text))
            _check_headings(first, self.headings, place)
            setattr(history, self.counted, [self.row(row) for row in rows])
        except _MISFITS as error:
            raise FileError(f"{place} is damaged: {error}") from None


class Tables:
    """The tables of one history in one folder, and how much of them is on file."""

    def __init__(self, folder: Path, history: History, written: Written | None = None) -> None:
        """`written`: what the checkpoint says that the history was read from; nothing where it is new here."""
        self.history = history
        self._folder = folder
        self._written = {name: list((written or {}).get(name, (0, ""))) for name in TABLES}
        self._rows = {name: len(getattr(history, table.counted)) if written else 0 for name, table in TABLES.items()}

    def written(self) -> Written:
        """For a checkpoint, with what is new since the last one."""
        for name, table in TABLES.items():
            if _size(self._folder / name) < self._written[name][0]:  # somebody has removed or cut it
                self._written[name], self._rows[name] = [0, ""], 0
            rows = table.rows(self.history, self._rows[name])
            begun = self._written[name] != [0, ""]
            if rows or (name == METRICS_FILE and not begun):
                text = csv_text(table.headings, rows)
                self._written[name][1] += text.partition("\n")[2] if begun else text
                self._rows[name] += len(rows)
        return {name: list(there) for name, there in self._written.items() if there != [0, ""]}

    def append(self) -> None:
        """Write what the checkpoint has that was written last."""
        for name, (size, text) in self._written.items():
            if text:
                self._written[name] = [append_text(self._folder / name, size, text), ""]


def read_history(folder: Path, written: Written) -> History:
    """The history of a run as it was at a checkpoint."""
    history = History()
    for name, (size, text) in written.items():
        path = folder / name
        there = read_bytes(path) if path.exists() else b""
        if len(there) < size:
            raise FileError(f"{path} has {len(there):,} bytes, and the checkpoint tells of {size:,}: it was cut since")
        TABLES[name].take(history, there[:size].decode() + text, str(path))
    return history


def read_columns(path: Path, headings: Sequence[str]) -> dict[str, Column]:
    """The columns of a table of numbers. A last line that is not whole is being written, or its writer was killed."""
    text = read_text(path)
    return _columns(text[: text.rfind("\n") + 1], headings, str(path))


def _columns(text: str, headings: Sequence[str], place: str) -> dict[str, Column]:
    first, _, rows = text.partition("\n")
    _check_headings(first.split(","), headings, place)
    try:
        # All at once: lists of a text for each cell would take ten times the room.
        values = np.loadtxt(io.StringIO(rows), delimiter=",", comments=None, ndmin=2) if rows.strip() else np.zeros(0)
        return dict(zip(headings, values.reshape(-1, len(headings)).T, strict=True))
    except ValueError as error:
        raise FileError(f"{place} is damaged: {error}") from None


def _check_headings(found: Sequence[str], headings: Sequence[str], place: str) -> None:
    if list(found) != list(headings):
        raise FileError(f"{place} has the columns {','.join(found) or 'nothing'}, not {','.join(headings)}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _decided(row: list[str]) -> Decided:
    return Decided(int(row[0]), float(row[1]), float(row[2]), float(row[3]) if row[3] else None, *row[4:])


TABLES: Mapping[str, Table] = {
    METRICS_FILE: Table(METRICS, "returns"),
    "grounding.csv": Table(GROUNDING, "accuracy", lambda row: (int(row[0]), *map(float, row[1:]))),
    "decisions.csv": Table(Decided._fields, "decisions", _decided),
}


_MISFITS = (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError, ArithmeticError, csv.Error)
"""What files raise that do not fit."""
_GROUNDER = "grounder."
CHECKPOINT_FORMAT = "nrm-checkpoint"
CHECKPOINT_VERSION = 4
GONE = ("passed_over", "curriculum", "level")
"""Entries of states that belonged to settings that are gone."""


def save_checkpoint(path: Path, trainer: Trainer, tables: Tables) -> None:
    """Write a trainer's state, whole or not at all; then the rows that are new in its tables."""
    buffer = io.BytesIO()
    content = {"format": CHECKPOINT_FORMAT, "version": CHECKPOINT_VERSION, "tables": tables.written()}
    torch.save({**content, "trainer": _without_history(trainer)}, buffer)
    write_bytes(path, buffer.getvalue())
    tables.append()


def load_checkpoint(path: Path, trainer: Trainer) -> Tables:
    """Bring a trainer that is at its beginning to a saved state; the tables that hold its history."""
    data = read_torch(path, CHECKPOINT_FORMAT, (CHECKPOINT_VERSION,))
    with _fitting(path):
        history = read_history(path.parent, data["tables"])
        fresh = _without_history(trainer)
        state = _with_new_names(fresh, data["trainer"])
        check_like(fresh, state)
        trainer.load_state_dict({**state, "history": vars(history)})
        return Tables(path.parent, trainer.history, data["tables"])


def load_weights(path: Path, trainer: Trainer) -> None:
    """Let a trainer that is at its beginning act with the weights of a checkpoint, whatever happened before it."""
    data = read_torch(path, CHECKPOINT_FORMAT, (CHECKPOINT_VERSION,))
    with _fitting(path):
        state, weights = data["trainer"], trainer.weights()
        if weights is None:  # an algorithm from outside that has none of its own
            load_checkpoint(path, trainer)
            return
        learner = _with_new_names(weights["learner"], state["learner"]["actor"])
        model = (state["grounding"] or {}).get("model", {})
        grounder = {name[len(_GROUNDER) :]: one for name, one in model.items() if name.startswith(_GROUNDER)}
        trainer.load_weights({**state, "learner": learner, "grounder": grounder})
        trainer.history = read_history(path.parent, data["tables"])


class MisfitError(FileError):
    """A file that is whole, but not of this run."""


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Where a saved state may fit nowhere."""
    try:
        yield
    except _MISFITS as error:
        reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
        raise MisfitError(f"{path} does not fit this run, or is of another release ({reason})") from None


def check_like(fresh: Any, saved: Any, path: str = "state") -> None:
    """Raise `ValueError` unless a saved state has the types and shapes of one at the beginning.

    What grows is empty at the beginning (tensors without rows, lists without entries, None).
    """
    if fresh is None:
        return
    # A saved OrderedDict (torch gives them) is a dict too.
    if type(fresh) is not type(saved) and not (isinstance(fresh, dict) and isinstance(saved, dict)):
        raise ValueError(f"{path} is a {type(saved).__name__}, not a {type(fresh).__name__}")
    if isinstance(fresh, dict):
        if fresh.keys() != saved.keys():
            odd = sorted(map(str, fresh.keys() ^ saved.keys()))
            raise ValueError(f"{path} has other entries: {', '.join(odd)}")
        for key in fresh:
            check_like(fresh[key], saved[key], f"{path}.{key}")
    elif isinstance(fresh, list):
        if fresh and len(fresh) != len(saved):
            raise ValueError(f"{path} has {len(saved)} entries, not {len(fresh)}")
        for place, (one, other) in enumerate(zip(fresh, saved, strict=False)):
            check_like(one, other, f"{path}[{place}]")
    elif isinstance(fresh, Tensor):
        first = 1 if fresh.dim() > 0 and len(fresh) == 0 else 0
        if fresh.dim() != saved.dim() or fresh.dtype != saved.dtype or fresh.shape[first:] != saved.shape[first:]:
            shapes = f"{tuple(saved.shape)}, not {fresh.dtype} of {tuple(fresh.shape)}"
            raise ValueError(f"{path} is {saved.dtype} of shape {shapes}")


def _with_new_names(fresh: Any, saved: Any) -> Any:
    """A saved state with the new names of entries that had others in the last release."""
    if not (isinstance(fresh, dict) and isinstance(saved, dict)):
        return saved
    new = Renaming().keys(saved, fresh) if set(saved) - set(fresh) else saved
    new = {key: value for key, value in new.items() if key in fresh or key not in GONE}
    return {key: _with_new_names(fresh.get(key), value) for key, value in new.items()}


def _without_history(trainer: Trainer) -> dict[str, Any]:
    return {name: value for name, value in trainer.state_dict().items() if name != "history"}


POLICY_FILE = "policy.safetensors"
"""What acting needs: about a megabyte, where a checkpoint has all episodes that were kept."""


def save_policy(path: Path, trainer: Trainer) -> None:
    """Write the weights of an agent, whole or not at all: tensors by name, and all else as JSON in the header."""
    state = trainer.weights()
    if state is not None:
        tensors: dict[str, Tensor] = {}
        # One entry: safetensors writes several in any order, and equal agents would have different bytes.
        header = {"state": json.dumps(_apart(state, "agent", tensors))}
        write_bytes(path, safetensors_save(tensors, header))


def load_policy(path: Path, trainer: Trainer) -> None:
    """Let a trainer that is at its beginning act with saved weights."""
    read_bytes(path, begin=1)
    try:
        with _fitting(path), safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
            trainer.load_weights(_whole(parse_json(file.metadata()["state"], "its header"), tensors))
    except MisfitError:
        raise
    except (FileError, OSError, SafetensorError) as error:
        raise FileError(f"{error}; remove {path}: the checkpoint will do") from None


def _apart(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """A state for JSON, whose tensors are taken out and named by their places."""
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().clone()
        return {"tensor": name}
    if isinstance(value, Mapping):
        return {"entries": {key: _apart(part, f"{name}.{key}", tensors) for key, part in value.items()}}
    if isinstance(value, list):
        return [_apart(part, f"{name}.{place}", tensors) for place, part in enumerate(value)]
    return value


def _whole(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The state that was taken apart."""
    if isinstance(value, list):
        return [_whole(part, tensors) for part in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    return {key: _whole(part, tensors) for key, part in value["entries"].items()}
