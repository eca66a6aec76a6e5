"""Recorded episodes: what was observed, and the level of the machine after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from nrm.errors import EpisodeError, listing
from nrm.machines import MooreMachine
from nrm.neural.batches import EpisodeBatch

Keep = Literal["recent", "rare"]

LEVEL_TOLERANCE = 1e-3
"""How far, relative to the spread of levels, a sum of rewards may lie from a level: room for 32-bit rewards."""


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode in a buffer."""

    index: NDArray[np.int64]
    """(time,) which of the buffer's distinct observations was made."""
    levels: NDArray[np.int64]
    """(time,) index of the level after each step."""
    symbols: NDArray[np.int64] | None = None
    """(time,) the true letters, where they are known: for evaluation only."""

    def __len__(self) -> int:
        return len(self.index)


def levels_from_rewards(
    rewards: ArrayLike, levels: ArrayLike, initial: float, place: str = "the episode"
) -> NDArray[np.int64]:
    """The index of the level after each step, when an environment pays the difference of levels.

    The sum of rewards so far plus the initial level is a level (paper, "Reward Values as Supervision").
    """
    paid = np.asarray(rewards, dtype=np.float64)
    known = np.asarray(levels, dtype=np.float64)
    if paid.ndim != 1:
        raise EpisodeError(f"{place}: rewards must be a list of numbers, one a step, not of shape {paid.shape}")
    sums = initial + np.cumsum(paid)
    nearest = np.abs(sums[:, None] - known).argmin(axis=1) if paid.size else np.zeros(0, dtype=np.int64)
    slack = LEVEL_TOLERANCE * max(1.0, float(np.ptp(known)))
    wrong = np.flatnonzero(~(np.abs(sums - known[nearest]) <= slack))
    if wrong.size:
        step = int(wrong[0])
        raise EpisodeError(
            f"{place}, step {step} (counting from 0): the rewards so far and the initial level {initial:g} sum to "
            f"{sums[step]:g}, which this machine never outputs; its levels are {listing(f'{v:g}' for v in known)}. "
            "Rewards must be differences of levels; is the reward scheme the one of the recording?"
        )
    return nearest.astype(np.int64)


def observed_levels(rewards: Sequence[ArrayLike], initial: float = 0.0, decimals: int = 6) -> NDArray[np.float64]:
    """The distinct levels that some episodes' rewards show, ascending: what a machine to be learned must output."""
    sums = [np.array([initial])] + [initial + np.cumsum(np.asarray(paid, dtype=np.float64)) for paid in rewards]
    return np.unique(np.round(np.concatenate(sums), decimals) + 0.0)


class EpisodeBuffer:
    """Episodes of any length, with at most `capacity` of them kept.

    Equal observations are stored once. When full, `keep="recent"` drops the oldest episode and `keep="rare"` the one
    whose rewards are the most common. Labels are level indices; give rewards or the indices themselves.
    """

    def __init__(
        self,
        levels: ArrayLike,
        initial: float | None = None,
        capacity: int | None = None,
        keep: Keep = "recent",
    ) -> None:
        """`levels`: the machine's levels, ascending; `initial`: the level of its initial state, to read rewards."""
        self.levels: NDArray[np.float64] = np.asarray(levels, dtype=np.float64)
        self.initial = initial
        self.capacity = capacity
        self.keep: Keep = keep
        if capacity is not None and capacity < 1:
            raise EpisodeError(f"a buffer needs room for at least one episode; its capacity is {capacity}")
        if keep not in ("recent", "rare"):
            raise EpisodeError(f"a full buffer keeps 'recent' or 'rare' episodes, not '{keep}'")
        self._episodes: list[Episode] = []
        self._frames: list[NDArray[np.generic]] = []
        self._numbers: dict[bytes, int] = {}
        self._uses: Counter[int] = Counter()

    @classmethod
    def for_machine(cls, machine: MooreMachine, capacity: int | None = None, keep: Keep = "recent") -> EpisodeBuffer:
        """An empty buffer for episodes of a machine."""
        if not isinstance(machine, MooreMachine):
            raise EpisodeError(
                f"a buffer is for a MooreMachine, not {type(machine).__name__}; nrm.compile(formula, symbols) makes one"
            )
        return cls(machine.levels, float(machine.outputs[machine.initial]), capacity, keep)

    def __len__(self) -> int:
        return len(self._episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._episodes)

    def __getitem__(self, number: int) -> Episode:
        return self._episodes[number]

    @property
    def distinct(self) -> int:
        """How many distinct observations the episodes hold."""
        return len(self._uses)

    @property
    def steps(self) -> int:
        """How many steps the episodes have together."""
        return sum(len(episode) for episode in self._episodes)

    def observation(self, number: int) -> NDArray[np.generic]:
        """One of the distinct observations, by the number that `Episode.index` uses."""
        return self._frames[number]

    def add(
        self,
        observations: ArrayLike,
        *,
        rewards: ArrayLike | None = None,
        levels: ArrayLike | None = None,
        symbols: ArrayLike | None = None,
    ) -> None:
        """Add an episode: observations (time, …), and either the rewards paid or the level indices (time,).

        Row t is what was observed when reward t was paid; the observation of the reset is not part of it.
        """
        place = f"episode {len(self)}"
        rows = np.ascontiguousarray(np.asarray(observations))
        labels = self._labels(rewards, levels, place)
        if rows.ndim < 1 or len(rows) != len(labels):
            raise EpisodeError(f"{place}: {len(rows) if rows.ndim else 0} observations but {len(labels)} labels")
        if not len(rows):
            raise EpisodeError(f"{place} has no steps")
        if self._frames and (rows.shape[1:] != self._frames[0].shape or rows.dtype != self._frames[0].dtype):
            raise EpisodeError(
                f"{place}: observations are {rows.dtype} of shape {rows.shape[1:]}, those before are "
                f"{self._frames[0].dtype} of shape {self._frames[0].shape}"
            )
        if rows.dtype.kind == "f" and not np.isfinite(rows).all():
            step = int(np.argwhere(~np.isfinite(rows))[0][0])
            raise EpisodeError(f"{place}, step {step} (counting from 0): the observation holds NaN or infinity")
        true = None if symbols is None else np.asarray(symbols, dtype=np.int64)
        if true is not None and true.shape != labels.shape:
            raise EpisodeError(f"{place}: {true.size} true symbols for {len(labels)} steps")
        numbers = np.array([self._number(row) for row in rows], dtype=np.int64)
        self._uses.update(numbers.tolist())
        self._episodes.append(Episode(numbers, labels, true))
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
        observations = np.stack([self._frames[number] for number in frames.tolist()])
        if observations.dtype == np.float64:
            observations = observations.astype(np.float32) if _fits_float32(observations) else observations
        return EpisodeBatch(
            torch.from_numpy(observations), torch.from_numpy(index), torch.from_numpy(levels), torch.from_numpy(lengths)
        )

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
            raise EpisodeError(f"{place}: give either the rewards or the level indices")
        if rewards is not None:
            if self.initial is None:
                raise EpisodeError(f"{place}: to read rewards, the buffer must know the initial level")
            return levels_from_rewards(rewards, self.levels, self.initial, place)
        labels = np.asarray(levels, dtype=np.int64)
        wrong = np.flatnonzero((labels < 0) | (labels >= len(self.levels)))
        if wrong.size:
            raise EpisodeError(
                f"{place}, step {int(wrong[0])} (counting from 0): level index {int(labels[wrong[0]])}; the machine's "
                f"levels are 0 to {len(self.levels) - 1}: {listing(f'{level:g}' for level in self.levels)}"
            )
        return labels

    def _number(self, row: NDArray[np.generic]) -> int:
        key = row.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._frames)
            self._frames.append(row.copy())
        return number

    def _changes(self, episode: Episode) -> set[tuple[int, int]]:
        """The changes of level that an episode shows; none is one of its own kind."""
        moved = np.flatnonzero(np.diff(episode.levels))
        changes = {(int(episode.levels[t]), int(episode.levels[t + 1])) for t in moved}
        return changes | {(-1, int(episode.levels[0]))}

    def _drop(self) -> None:
        oldest = 0
        if self.keep == "rare":
            oldest = int(self.rarity()[:-1].argmin()) if len(self) > 1 else 0
        gone = self._episodes.pop(oldest)
        self._uses.subtract(gone.index.tolist())
        self._uses = +self._uses
        if len(self._frames) > 2 * len(self._uses) + 64:
            self._compact()

    def _compact(self) -> None:
        """Forget observations that no episode uses any more."""
        used = sorted(self._uses)
        place = {number: new for new, number in enumerate(used)}
        self._frames = [self._frames[number] for number in used]
        self._numbers = {frame.tobytes(): number for number, frame in enumerate(self._frames)}
        self._uses = Counter({place[number]: count for number, count in self._uses.items()})
        self._episodes = [
            Episode(np.array([place[int(n)] for n in episode.index]), episode.levels, episode.symbols)
            for episode in self._episodes
        ]


def _fits_float32(values: NDArray[np.generic]) -> bool:
    return bool(np.abs(values.astype(np.float64)).max(initial=0.0) < float(np.finfo(np.float32).max))
