"""What episodes say about an unknown machine: the letters they read and the levels they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.errors import LearningError
from nrm.inference.chance import improbable

OFTEN = 20
"""Steps from which on a rate is one."""
Letters = NDArray[np.int64]


class LetterTrace(NamedTuple):
    """One episode."""

    letters: Letters
    """(time,) the number of what was read at each step."""
    levels: NDArray[np.int64]
    """(time,) the index of the level that each step led to."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Episodes one after the other, as flat arrays."""

    letters: Letters
    """(steps,)"""
    levels: NDArray[np.int64]
    """(steps,) the index of the level after each step."""
    lengths: NDArray[np.int64]
    """(episodes,)"""
    letter_count: int
    """How many letters there are, those that were never read included."""
    level_count: int
    initial: int
    """The index of the level at which every episode begins."""

    flips: float = 0.0
    """How probable it is that a step shows a wrong level."""

    @classmethod
    def of(
        cls, traces: Sequence[LetterTrace], letter_count: int, level_count: int, initial: int, flips: float = 0.0
    ) -> Evidence:
        """From episodes."""
        if not traces:
            raise LearningError("there are no episodes to learn a machine from; add some first")
        return cls(*joined(traces), letter_count, level_count, initial, flips)

    @cached_property
    def begun(self) -> NDArray[np.int64]:
        """(episodes,) the step at which each begins."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    @cached_property
    def active(self) -> tuple[int, ...]:
        """The letters at which the level was seen to change, oftener than chance explains. All others are idle."""
        levels = self.levels if not self.flips else self._mended
        before = self._shifted(levels)
        moved = before != levels
        if not self.flips:
            return tuple(np.unique(self.letters[moved]).tolist())
        shape = (self.letter_count, self.level_count)
        tries, changes = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        np.add.at(tries, (self.letters, before), 1)
        np.add.at(changes, (self.letters[moved], before[moved]), 1)
        found = np.zeros(self.letter_count, dtype=np.bool_)
        for level in range(self.level_count):
            # A level that wrong ones lead to is soon left again, whatever is read: that is the rate of idle letters.
            often = tries[:, level] >= OFTEN
            rates = np.sort(changes[often, level] / tries[often, level])
            usual = 2 * max(self.flips, float(rates[len(rates) // 8]) if len(rates) else 0.0)
            if usual < 1:
                found |= improbable(changes[:, level], tries[:, level], usual)
        return tuple(np.flatnonzero(found).tolist())

    @cached_property
    def _mended(self) -> NDArray[np.int64]:
        """(steps,) the levels, but those that show for a single step between two equal ones: they are wrong."""
        before, after = self._shifted(self.levels), np.append(self.levels[1:], -1)
        after[self.begun[1:] - 1] = -1
        return np.where((before == after) & (before != self.levels), before, self.levels)

    def _shifted(self, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """(steps,) the level before each step."""
        before = np.empty_like(levels)
        before[1:] = levels[:-1]
        before[self.begun] = self.initial
        return before

    def place(self, step: int) -> tuple[int, int]:
        """The episode of a step, and its number there; both count from 0."""
        episode = int(np.searchsorted(self.begun, step, side="right")) - 1
        return episode, step - int(self.begun[episode])


def joined(traces: Iterable[LetterTrace]) -> tuple[Letters, NDArray[np.int64], NDArray[np.int64]]:
    """Letters, levels and lengths of episodes one after the other; nothing where there are none."""
    kept = list(traces)
    none = np.zeros(0, dtype=np.int64)
    letters, levels = (np.concatenate([none, *(trace[part] for trace in kept)]) for part in (0, 1))
    return letters, levels, np.array([len(trace.letters) for trace in kept], dtype=np.int64)


def split(letters: Letters, levels: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[LetterTrace]:
    """What `joined` put together."""
    ends = np.cumsum(lengths)[:-1]
    if not len(lengths):
        return []
    return [LetterTrace(*pair) for pair in zip(np.split(letters, ends), np.split(levels, ends), strict=True)]
