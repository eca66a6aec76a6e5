"""Checkpoints: a trainer's state in one file, of which nothing is used before all of it is checked."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nrm.agents import Trainer
from nrm.errors import FileError
from nrm.files import write_bytes

CHECKPOINT_FORMAT = "nrm-checkpoint"
CHECKPOINT_VERSION = 3


def save_checkpoint(path: Path, trainer: Trainer) -> None:
    """Write a trainer's state, whole or not at all."""
    buffer = io.BytesIO()
    content = {"format": CHECKPOINT_FORMAT, "version": CHECKPOINT_VERSION, "trainer": trainer.state_dict()}
    torch.save(content, buffer)
    write_bytes(path, buffer.getvalue())


def load_checkpoint(path: Path, trainer: Trainer) -> None:
    """Bring a trainer that is at its beginning to a saved state."""
    state = _read(path)
    try:
        check_like(trainer.state_dict(), state)
        trainer.load_state_dict(state)
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileError(f"{path} does not fit this run, or is of another release ({reason})") from None


def check_like(fresh: Any, saved: Any, path: str = "state") -> None:
    """Raise `ValueError` unless a saved state has the types and shapes of one at the beginning.

    What grows is empty at the beginning (tensors without rows, lists without entries, None), but for the history.
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
        grows = fresh.dim() > 0 and (len(fresh) == 0 or path.startswith("state.history."))
        first = 1 if grows else 0
        if fresh.dim() != saved.dim() or fresh.dtype != saved.dtype or fresh.shape[first:] != saved.shape[first:]:
            raise ValueError(
                f"{path} is {saved.dtype} of shape {tuple(saved.shape)}, not {fresh.dtype} of {tuple(fresh.shape)}"
            )


def _read(path: Path) -> dict[str, Any]:
    try:
        data = torch.load(path, weights_only=True)
    except Exception as error:
        raise FileError(f"{path} is not a checkpoint, or it is damaged ({type(error).__name__})") from None
    if not isinstance(data, dict) or data.get("format") != CHECKPOINT_FORMAT:
        raise FileError(f"{path} is no checkpoint of this program")
    if data.get("version") != CHECKPOINT_VERSION:
        raise FileError(
            f"{path} is of version {data.get('version')!r}; this release reads version {CHECKPOINT_VERSION}"
        )
    state = data.get("trainer")
    if not isinstance(state, dict):
        raise FileError(f"{path} is malformed: it holds no trainer")
    return state
