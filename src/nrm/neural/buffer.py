"""Recorded episodes: what was observed, and the potential of the machine after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from nrm.errors import EpisodeError
from nrm.machines import LevelCodec, MachineLike, TaskSet, as_machine
from nrm.neural.episodes import EpisodeBatch, FrameTable

Keep = Literal["recent", "rare"]


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode in a buffer."""

    index: NDArray[np.int64]
    """(time,) which of the buffer's distinct observations was made."""
    levels: NDArray[np.int64]
    """(time,) index of the potential after each step."""
    symbols: NDArray[np.int64] | None = None
    """(time,) the true letters, where they are known: for evaluation only."""
    task: int | None = None
    """The number of its task, where there are many."""

    def __len__(self) -> int:
        return len(self.index)


class EpisodeBuffer:
    """Episodes of any length, with at most `capacity` of them kept.

    Equal observations are stored once, in a table that several buffers can share. When full, `keep="recent"` drops the
    oldest episode and `keep="rare"` the one whose rewards are the most common. Labels are potential indices; give
    rewards or the indices themselves.
    """

    def __init__(
        self,
        levels: ArrayLike,
        initial: float | None = None,
        capacity: int | None = None,
        keep: Keep = "recent",
        frames: FrameTable | None = None,
    ) -> None:
        """`levels`: the machine's potentials, ascending; `initial`: that of its initial state, to read rewards.

        `frames`: the table of observations, when it is not this buffer's alone; who shares one compacts it.
        """
        self.codec = LevelCodec(levels, initial)
        self.frames = FrameTable() if frames is None else frames
        self.capacity = capacity
        self.keep: Keep = keep
        if capacity is not None and capacity < 1:
            raise EpisodeError(f"a buffer needs room for at least one episode; its capacity is {capacity}")
        if keep not in ("recent", "rare"):
            raise EpisodeError(f"a full buffer keeps 'recent' or 'rare' episodes, not '{keep}'")
        self._episodes: list[Episode] = []
        self._shares = frames is not None
        # From numbers in the table to those in `Episode.index`, which go by first occurrence in this buffer.
        self._index: dict[int, int] = {}
        self._uses: Counter[int] = Counter()

    @classmethod
    def for_tasks(cls, tasks: TaskSet, capacity: int | None = None, keep: Keep = "recent") -> EpisodeBuffer:
        """An empty buffer for episodes of many tasks; each says which one it is of."""
        return cls(tasks.levels, tasks.initial_level, capacity, keep)

    @classmethod
    def for_machine(cls, machine: MachineLike, capacity: int | None = None, keep: Keep = "recent") -> EpisodeBuffer:
        """An empty buffer for episodes of a machine, or of a task."""
        codec = LevelCodec.of(as_machine(machine))
        return cls(codec.levels, codec.initial, capacity, keep)

    def __len__(self) -> int:
        return len(self._episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._episodes)

    def __getitem__(self, number: int) -> Episode:
        return self._episodes[number]

    @property
    def levels(self) -> NDArray[np.float64]:
        """The machine's potentials, ascending."""
        levels: NDArray[np.float64] = self.codec.levels
        return levels

    @property
    def distinct(self) -> int:
        """How many distinct observations the episodes hold."""
        return len(self._uses)

    @property
    def steps(self) -> int:
        """How many steps the episodes have together."""
        return sum(len(episode) for episode in self._episodes)

    def observations(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """(n, …) some of the distinct observations, by the numbers (n,) that `Episode.index` uses."""
        return self.frames[np.array(list(self._index), dtype=np.int64)[index]]

    def add(
        self,
        observations: ArrayLike | None = None,
        *,
        index: ArrayLike | None = None,
        rewards: ArrayLike | None = None,
        levels: ArrayLike | None = None,
        symbols: ArrayLike | None = None,
        task: int | None = None,
    ) -> None:
        """Add an episode: observations (time, …), and either the rewards paid or the potential indices (time,).

        Row t is what was observed when reward t was paid; the observation of the reset is not part of it. Observations
        that are in the table already can be given by their numbers there: `index` (time,). `task`: the number of its
        task, in a pool of many.
        """
        place = f"episode {len(self)}"
        labels = self._labels(rewards, levels, place)
        true = None if symbols is None else np.asarray(symbols, dtype=np.int64)
        if true is not None and true.shape != labels.shape:
            raise EpisodeError(f"{place}: {true.size} true symbols for {len(labels)} steps")
        numbers = self._numbers(observations, index, len(labels), place)
        local = [self._index.setdefault(number, len(self._index)) for number in numbers.tolist()]
        self._uses.update(local)
        self._episodes.append(Episode(np.array(local, dtype=np.int64), labels, true, task))
        if self.capacity is not None and len(self) > self.capacity:
            self._drop()

    def batch(self, episodes: Sequence[int] | None = None, distinct: bool = True) -> EpisodeBatch:
        """Some episodes (all, if none are named) as tensors.

        With `distinct`, equal observations occur once and are gathered afterwards, which is exact; else each step
        has its own.
        """
        chosen = self._chosen(episodes)
        time = max(len(episode) for episode in chosen)
        index = np.zeros((len(chosen), time), dtype=np.int64)
        levels = np.zeros((len(chosen), time), dtype=np.int64)
        lengths = np.array([len(episode) for episode in chosen])
        for row, episode in enumerate(chosen):
            index[row, : len(episode)] = episode.index
            levels[row, : len(episode)] = episode.levels
        mask = np.arange(time) < lengths[:, None]
        seen = index[mask]
        frames, places = np.unique(seen, return_inverse=True) if distinct else (seen, np.arange(len(seen)))
        index[mask] = places
        observations = self.observations(frames)
        if observations.dtype == np.float64:
            observations = observations.astype(np.float32) if _fits_float32(observations) else observations
        numbers = [episode.task for episode in chosen if episode.task is not None]
        if len(numbers) not in (0, len(chosen)):
            raise EpisodeError(
                f"{len(numbers)} of {len(chosen)} episodes say which task they are of; all must, or none"
            )
        tasks = torch.tensor(numbers) if numbers else None
        seen_when, reached, steps = map(torch.from_numpy, (index, levels, lengths))
        return EpisodeBatch(torch.from_numpy(observations), seen_when, reached, steps, tasks)

    def symbols(self, episodes: Sequence[int] | None = None) -> NDArray[np.int64] | None:
        """The true letters of all steps one after the other, or None unless every episode has them."""
        chosen = self._chosen(episodes)
        known = [episode.symbols for episode in chosen if episode.symbols is not None]
        return np.concatenate(known) if len(known) == len(chosen) else None

    def rarity(self) -> NDArray[np.float64]:
        """(episodes,) how rare the rewards of each episode are: one over how many episodes show each, summed."""
        shown = [self._changes(episode) for episode in self._episodes]
        counts = Counter(change for changes in shown for change in changes)
        return np.array([sum(1.0 / counts[change] for change in changes) for changes in shown])

    def sample(self, count: int, generator: torch.Generator, rare: bool = False) -> list[int]:
        """Numbers of `count` different episodes, drawn evenly or in proportion to how rare their rewards are."""
        if not self._episodes:
            raise EpisodeError("the buffer is empty; add episodes first")
        weights = torch.from_numpy(self.rarity()) if rare else torch.ones(len(self), dtype=torch.float64)
        drawn = torch.multinomial(weights, min(count, len(self)), generator=generator)
        return [int(number) for number in drawn]

    def split(self, fraction: float, generator: torch.Generator) -> tuple[list[int], list[int]]:
        """Numbers of the episodes to learn from, and of those held out; at least one of the first kind."""
        if not self._episodes:
            raise EpisodeError("the buffer is empty; add episodes first")
        order = torch.randperm(len(self), generator=generator).tolist()
        held = min(round(fraction * len(self)), len(self) - 1)
        return sorted(order[held:]), sorted(order[:held])

    def _chosen(self, episodes: Sequence[int] | None) -> list[Episode]:
        chosen = self._episodes if episodes is None else [self._episodes[number] for number in episodes]
        if not chosen:
            raise EpisodeError("the buffer is empty; add episodes first")
        return chosen

    def _labels(self, rewards: ArrayLike | None, levels: ArrayLike | None, place: str) -> NDArray[np.int64]:
        if (rewards is None) == (levels is None):
            raise EpisodeError(f"{place}: give either the rewards or the potential indices")
        if rewards is not None:
            return self.codec.encode(rewards, place)
        labels = np.asarray(levels, dtype=np.int64)
        wrong = np.flatnonzero((labels < 0) | (labels >= len(self.levels)))
        if wrong.size:
            raise EpisodeError(
                f"{place}, step {int(wrong[0])} (from 0): potential index {int(labels[wrong[0]])}; the machine's "
                f"potentials are 0 to {len(self.levels) - 1}: {self.codec}"
            )
        return labels

    def _numbers(
        self, observations: ArrayLike | None, index: ArrayLike | None, steps: int, place: str
    ) -> NDArray[np.int64]:
        """(steps,) the numbers of an episode's observations in the table."""
        if (observations is None) == (index is None):
            raise EpisodeError(f"{place}: give either the observations or their index in the table")
        given = np.asarray(observations if index is None else index)
        count = len(given) if given.ndim else 0
        if count != steps:
            raise EpisodeError(f"{place}: {count} observations but {steps} labels")
        if not steps:
            raise EpisodeError(f"{place} has no steps")
        if index is None:
            return self.frames.add(given, place)
        if given.ndim != 1 or given.dtype.kind not in "iu" or not 0 <= given.min() <= given.max() < len(self.frames):
            raise EpisodeError(f"{place}: the index must hold numbers from 0 to {len(self.frames) - 1}, one a step")
        return given

    def _changes(self, episode: Episode) -> set[tuple[int, int]]:
        """The changes of potential that an episode shows; none is one of its own kind."""
        moved = np.flatnonzero(np.diff(episode.levels))
        changes = {(int(episode.levels[t]), int(episode.levels[t + 1])) for t in moved}
        return changes | {(-1, int(episode.levels[0]))}

    def _drop(self) -> None:
        gone = self._episodes.pop(int(self.rarity()[:-1].argmin()) if self.keep == "rare" else 0)
        self._uses.subtract(gone.index.tolist())
        self._uses = +self._uses
        if len(self._index) > 2 * len(self._uses) + 64:
            self._compact()

    def _compact(self) -> None:
        """Forget observations that no episode uses any more, in the table too when it is this buffer's alone."""
        used = sorted(self._uses)
        moved = np.full(len(self._index), -1)
        moved[used] = np.arange(len(used))
        kept = np.array(list(self._index), dtype=np.int64)[used]
        numbers = kept if self._shares else self.frames.compact(kept)[kept]
        self._index = {number: new for new, number in enumerate(numbers.tolist())}
        self._uses = Counter({int(moved[number]): count for number, count in self._uses.items()})
        self._episodes = [replace(episode, index=moved[episode.index]) for episode in self._episodes]


def _fits_float32(values: NDArray[np.generic]) -> bool:
    return bool(np.abs(values.astype(np.float64)).max(initial=0.0) < float(np.finfo(np.float32).max))
