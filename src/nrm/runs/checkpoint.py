"""Checkpoints: a trainer's state in one file, of which nothing is used before all of it is checked.

But for its history, which tables hold; see `nrm.runs.tables`.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nrm.agents import Choice, Decided, Trainer
from nrm.errors import FileError
from nrm.files import write_bytes
from nrm.runs.renamed import Renaming
from nrm.runs.tables import Tables, read_history

CHECKPOINT_FORMAT = "nrm-checkpoint"
CHECKPOINT_VERSION = 4
WITH_HISTORY = 3
"""The version that held the history too."""


def save_checkpoint(path: Path, trainer: Trainer, tables: Tables) -> None:
    """Write a trainer's state, whole or not at all; then the rows that are new in its tables."""
    buffer = io.BytesIO()
    content = {"format": CHECKPOINT_FORMAT, "version": CHECKPOINT_VERSION, "tables": tables.written()}
    torch.save({**content, "trainer": _without_history(trainer)}, buffer)
    write_bytes(path, buffer.getvalue())
    tables.append()


def load_checkpoint(path: Path, trainer: Trainer) -> Tables:
    """Bring a trainer that is at its beginning to a saved state; the tables that hold its history."""
    data = _read(path)
    state, written = data["trainer"], data.get("tables")
    try:
        history = _old_history(state) if written is None else vars(read_history(path.parent, written))
        fresh = _without_history(trainer)
        state = _with_new_names(fresh, state)
        check_like(fresh, state)
        trainer.load_state_dict({**state, "history": history})
        return Tables(path.parent, trainer.history, written)
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileError(f"{path} does not fit this run, or is of another release ({reason})") from None


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
            raise ValueError(
                f"{path} is {saved.dtype} of shape {tuple(saved.shape)}, not {fresh.dtype} of {tuple(fresh.shape)}"
            )


def _with_new_names(fresh: Any, saved: Any) -> Any:
    """A saved state with the new names of entries that had others in the last release."""
    if not (isinstance(fresh, dict) and isinstance(saved, dict)):
        return saved
    new = Renaming().keys(saved, fresh) if set(saved) - set(fresh) else saved
    return {key: _with_new_names(fresh.get(key), value) for key, value in new.items()}


def _without_history(trainer: Trainer) -> dict[str, Any]:
    return {name: value for name, value in trainer.state_dict().items() if name != "history"}


def _old_history(state: dict[str, Any]) -> dict[str, list[Any]]:
    """Take the history out of a state of the version that held it."""
    saved = state.pop("history")
    chooser = state.pop("chooser", {})
    choices = chooser["choices"].tolist() if chooser else []
    if chooser.get("curriculum"):
        state["curriculum"] = chooser["curriculum"]
    return {
        **{name: saved[name].tolist() for name in ("returns", "lengths", "successes", "steps")},
        "accuracy": [(int(row[0]), *row[1:]) for row in saved["accuracy"].tolist()],
        "decisions": [Decided(*row) for row in saved["decisions"]],
        "choices": [Choice(int(row[0]), int(row[1]), int(row[2]), row[3]) for row in choices],
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise FileError(f"{path} is not a checkpoint, or it is damaged ({type(error).__name__})") from None
    if not isinstance(data, dict) or data.get("format") != CHECKPOINT_FORMAT:
        raise FileError(f"{path} is no checkpoint of this program")
    version = data.get("version")
    if version not in (WITH_HISTORY, CHECKPOINT_VERSION):
        raise FileError(f"{path} is of version {version!r}; this release reads {WITH_HISTORY} and {CHECKPOINT_VERSION}")
    if not isinstance(data.get("trainer"), dict) or isinstance(data.get("tables"), dict) == (version == WITH_HISTORY):
        raise FileError(f"{path} is malformed: it holds no trainer, or no tables")
    return data
