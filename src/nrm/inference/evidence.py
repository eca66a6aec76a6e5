"""What episodes say about an unknown machine: the letters they read and the potentials they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nrm.errors import LearningError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode, by numbers."""

    seen: Ints
    """(time,) what was observed at each step: a letter, or the number of an observation."""
    levels: Ints
    """(time,) the index of the potential after each step."""
    symbols: Ints | None = None
    """(time,) the true letters, where they are known: for evaluation only."""
    task: int | None = None
    """The number of its task, where there are many."""

    def __len__(self) -> int:
        return len(self.seen)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Episodes one after the other, as flat arrays."""

    letters: Ints
    """(steps,)"""
    levels: Ints
    """(steps,) the index of the potential after each step."""
    lengths: Ints
    """(episodes,)"""
    letter_count: int
    """How many letters there are, those that were never read included."""
    level_count: int
    initial: int
    """The index of the potential at which every episode begins."""

    reward_noise: float = 0.0
    """How probable it is that a step shows a wrong potential."""
    label_noise: float = 0.0
    """How probable it is that a step reads a wrong letter: any of the others, equally often."""

    @classmethod
    def of(
        cls,
        episodes: Sequence[Episode],
        letter_count: int,
        level_count: int,
        initial: int,
        reward_noise: float = 0.0,
        label_noise: float = 0.0,
    ) -> Evidence:
        """From episodes."""
        if not episodes:
            raise LearningError("there are no episodes to learn a machine from; add some first")
        return cls(*joined(episodes), letter_count, level_count, initial, reward_noise, label_noise)

    def pick(self, episodes: Iterable[int]) -> Evidence:
        """Some of the episodes."""
        letters, levels, lengths = joined(self.episodes[number] for number in episodes)
        return replace(self, letters=letters, levels=levels, lengths=lengths)

    def read(self, letters: Ints, count: int) -> Evidence:
        """The same where what was observed is one of `count` letters, by its number here: (letters before,)."""
        return replace(self, letters=letters[self.letters], letter_count=count)

    @cached_property
    def episodes(self) -> list[Episode]:
        """One by one."""
        return split(self.letters, self.levels, self.lengths)

    @cached_property
    def begun(self) -> Ints:
        """(episodes,) the step at which each begins."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    @cached_property
    def by_length(self) -> tuple[Ints, list[int]]:
        """(episodes,) where each begins, the longest first; and how many of them still go on at each time."""
        order = np.argsort(-self.lengths, kind="stable")
        lengths = self.lengths[order]
        going = [int(np.searchsorted(-lengths, -time, side="left")) for time in range(int(lengths[0]))]
        return self.begun[order], going

    @cached_property
    def levels_before(self) -> Ints:
        """(steps,) the index of the potential before each step."""
        return self.before(self.levels, self.initial)

    def before(self, after: Ints, first: int) -> Ints:
        """(steps,) what was there before each step, given what was there after it; `first` at the beginning."""
        result = np.empty_like(after)
        result[1:] = after[:-1]
        result[self.begun] = first
        return result

    @cached_property
    def active(self) -> tuple[int, ...]:
        """The letters at which the potential was seen to change. All others are idle."""
        return tuple(np.unique(self.letters[self.levels_before != self.levels]).tolist())

    def place(self, step: int) -> tuple[int, int]:
        """The episode of a step, and its number there; both count from 0."""
        episode = int(np.searchsorted(self.begun, step, side="right")) - 1
        return episode, step - int(self.begun[episode])


def joined(episodes: Iterable[Episode]) -> tuple[Ints, Ints, Ints]:
    """Letters, potentials and lengths of episodes one after the other; nothing where there are none."""
    kept, none = list(episodes), np.zeros(0, dtype=np.int64)
    letters = np.concatenate([none, *(episode.seen for episode in kept)])
    levels = np.concatenate([none, *(episode.levels for episode in kept)])
    return letters, levels, np.array([len(episode) for episode in kept], dtype=np.int64)


def split(letters: Ints, levels: Ints, lengths: Ints) -> list[Episode]:
    """What `joined` put together."""
    ends = np.cumsum(lengths)[:-1]
    pairs = zip(np.split(letters, ends), np.split(levels, ends), strict=True)
    return [Episode(seen, shown) for seen, shown in pairs][: len(lengths)]
