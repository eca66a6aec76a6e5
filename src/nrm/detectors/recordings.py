"""Recordings as users have them: a list of arrays, or one array with lengths or group ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.errors import EpisodeError

Recording = NDArray[np.float32]
"""(time, …)"""


def as_recordings(given: Any, lengths: ArrayLike | None = None, groups: ArrayLike | None = None) -> list[Recording]:
    """A list of recordings (time, …), checked: finite numbers, at least a step each, all of one shape.

    Args:
        given: a list of arrays (time, …), or one array (steps, …) with `lengths` or `groups`.
        lengths: (recordings,) how many steps each recording has.
        groups: (steps,) which recording each step is of; the steps of one stand together, in the order of time.

    """
    if lengths is not None or groups is not None:
        given = _split(_array(given, "the steps"), lengths, groups)
    elif isinstance(given, np.ndarray) and given.dtype != object:
        raise EpisodeError(
            f"one array of shape {given.shape} does not say where recordings end; give a list of arrays, or lengths= "
            "or groups="
        )
    recordings = [_array(one, f"recording {number}") for number, one in enumerate(given)]
    if not recordings:
        raise EpisodeError("there are no recordings")
    shape = recordings[0].shape[1:]
    for number, one in enumerate(recordings):
        if not len(one):
            raise EpisodeError(f"recording {number} has no steps")
        if one.shape[1:] != shape:
            raise EpisodeError(
                f"recording {number} has steps of shape {one.shape[1:]}, recording 0 of shape {shape}; all steps need "
                "the same features"
            )
    return recordings


def _array(given: Any, place: str) -> Recording:
    try:
        values = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        raise EpisodeError(f"{place} is no array of numbers (time, …); are its rows of one length?") from None
    if values.ndim < 1:
        raise EpisodeError(f"{place} is a single number; (time, …) is needed")
    values = values[:, None] if values.ndim == 1 else values
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        raise EpisodeError(
            f"{place}, step {wrong[0, 0]} (counting from 0) holds NaN or infinity; fill gaps, or leave it out"
        )
    return values


def _split(steps: Recording, lengths: ArrayLike | None, groups: ArrayLike | None) -> list[Recording]:
    if lengths is None:
        ids = np.asarray(groups)
        if ids.shape != steps.shape[:1]:
            raise EpisodeError(f"{ids.size} group ids for {len(steps)} steps; give one for each step")
        begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
        if len(set(ids[begins].tolist())) < len(begins):
            raise EpisodeError("the steps of a group stand apart; sort them by recording, then by time")
        counts = np.diff(np.append(begins, len(ids)))
    else:
        counts = np.asarray(lengths, dtype=np.int64)
    if counts.ndim != 1 or (counts < 1).any() or counts.sum() != len(steps):
        raise EpisodeError(f"lengths sum to {counts.sum()}, but there are {len(steps)} steps")
    return np.split(steps, np.cumsum(counts)[:-1])


def as_verdicts(given: Any, count: int) -> list[bool]:
    """(recordings,) whether each recording satisfies its rule."""
    verdicts = np.asarray(given)
    if verdicts.shape != (count,):
        raise EpisodeError(f"{verdicts.shape} verdicts for {count} recordings; give one for each")
    if verdicts.dtype.kind not in "biuf" or not np.isin(verdicts, (0, 1)).all():
        odd = next((value for value in verdicts.tolist() if value not in (0, 1)), verdicts[0])
        raise EpisodeError(f"a verdict is True or False, not {odd!r}")
    return [bool(verdict) for verdict in verdicts]


def as_letters(given: Sequence[Any], symbols: Sequence[str], lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """(time,) of each recording the numbers of the symbols that are known, -1 for others.

    `given`: for each recording None, or the name of the symbol at each step, None where it is unknown.
    """
    if len(given) != len(lengths):
        raise EpisodeError(f"labels of {len(given)} recordings, but there are {len(lengths)}")
    place = {name: number for number, name in enumerate(symbols)} | {None: -1}
    result = []
    for number, (names, steps) in enumerate(zip(given, lengths, strict=True)):
        names = [None] * steps if names is None else list(names)
        if len(names) != steps:
            raise EpisodeError(f"recording {number} has {len(names)} labels for {steps} steps; None is no label")
        odd = next((name for name in names if name not in place), None)
        if odd is not None:
            raise EpisodeError(f"recording {number} is labelled '{odd}', which is none of the symbols {tuple(symbols)}")
        result.append(np.array([place[name] for name in names], dtype=np.int64))
    return result
