"""Recording episodes of environments that step side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray


class RecordedEpisode(NamedTuple):
    """A finished episode: row t is what reward t was paid for; the observation of the reset is not part of it."""

    environment: int
    total: float
    """The sum of rewards."""
    length: int
    observations: NDArray[Any]
    """(time, …) the observations, or their numbers in a table; none where only sums are kept, as of rewards."""
    rewards: NDArray[np.float64]
    """(time,)"""
    letters: NDArray[np.int64] | None
    """(time,) the true letters, where they were given: for evaluation only."""
    task: int | None = None
    """The number of its task, where there are many."""


class Recorder:
    """Sums the rewards of N environments, and keeps their steps where asked, until their episodes end."""

    def __init__(self, count: int, keep: bool = True, blank: NDArray[Any] | None = None, letters: bool = False) -> None:
        """`keep`: whether episodes carry their observations and rewards, and not just sums.

        `blank`: (0, N, …) no observations, but of the kind that will come, for saved states; `letters`: whether saved
        states hold the true letters too, which are then given at every step.
        """
        self.keep = keep
        self._saves_letters = letters
        self._blank = np.zeros((0, count)) if blank is None else blank
        self._observations = self._blank
        self._rewards = np.zeros((0, count))
        self._letters = np.zeros((0, count), dtype=np.int64)  # -1 where none was given
        self._size = 0
        self._begun = np.zeros(count, dtype=np.int64)
        self._totals = np.zeros(count)
        self.lengths = np.zeros(count, dtype=np.int64)
        """(N,) how many steps the present episodes have."""

    def add(self, rewards: NDArray[Any], observations: NDArray[Any], letters: NDArray[np.int64] | None = None) -> None:
        """Take in a step: rewards (N,), observations (N, …) before any reset, and perhaps the true letters (N,)."""
        read = None if letters is None else letters[None]
        self.record(np.asarray(rewards)[None], np.asarray(observations)[None], np.zeros((1, len(rewards)), bool), read)

    def finish(self, done: NDArray[np.bool_]) -> list[RecordedEpisode]:
        """The episodes of the environments that are done, in their order; the others go on."""
        if not done.any():
            return []
        which = np.flatnonzero(done & (self.lengths > 0)).tolist()
        episodes = [
            self._episode(index, float(self._totals[index]), int(self.lengths[index]), self._size) for index in which
        ]
        self.forget(done)
        return episodes

    def record(
        self,
        rewards: NDArray[Any],
        observations: NDArray[Any],
        done: NDArray[np.bool_],
        letters: NDArray[np.int64] | None = None,
    ) -> list[tuple[int, RecordedEpisode]]:
        """Take in a whole rollout (T, N, …); the episodes that ended, each with the step that it ended at."""
        first = self._size
        if self.keep:
            self._append(rewards, observations, np.int64(-1) if letters is None else letters)
        sums = self._totals + np.cumsum(rewards, 0, dtype=np.float64)
        before, lengths = np.zeros_like(self._totals), self.lengths
        ended = []
        for step, index in np.argwhere(done).tolist():
            length = int(lengths[index]) + step + 1
            total = float(sums[step, index] - before[index])
            ended.append((step, self._episode(index, total, length, first + step + 1)))
            before[index], lengths[index] = sums[step, index], -step - 1
            if self.keep:
                self._begun[index] = first + step + 1
        self._totals, self.lengths = sums[-1] - before, lengths + len(rewards)
        self._let_go()
        return ended

    def forget(self, which: NDArray[np.bool_]) -> None:
        """Begin anew where `which` says so, without giving out what there was."""
        self._totals[which] = 0.0
        self.lengths[which] = 0
        self._begun[which] = self._size
        self._let_go()

    def present(self, time: int) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
        """Step `time` of what is kept: which environments' present episodes hold it, observations, rewards, letters."""
        return self._begun <= time, self._observations[time], self._rewards[time], self._letters[time]

    def __len__(self) -> int:
        """How many steps of all environments are kept."""
        return self._size

    def _append(self, rewards: NDArray[Any], observations: NDArray[Any], letters: NDArray[np.int64] | np.int64) -> None:
        """Keep some steps: (T, N), (T, N, …) and (T, N)."""
        size = self._size + len(rewards)
        if size > len(self._observations) or self._observations.dtype != observations.dtype:
            room = 2 * size
            self._observations = _grown(self._observations[: self._size], room, observations)
            self._rewards = _grown(self._rewards[: self._size], room, self._rewards)
            self._letters = _grown(self._letters[: self._size], room, self._letters)
        self._observations[self._size : size] = observations
        self._rewards[self._size : size] = rewards
        self._letters[self._size : size] = letters
        self._size = size

    def _let_go(self) -> None:
        """Move to the front what present episodes hold, once it is less than half of what is kept."""
        passed = int(self._begun.min())
        left = self._size - passed
        if passed and left <= passed:
            for rows in (self._observations, self._rewards, self._letters):
                rows[:left] = rows[passed : self._size]
            self._begun -= passed
            self._size = left

    def _episode(self, index: int, total: float, length: int, end: int) -> RecordedEpisode:
        """What environment `index` did before the row `end` of what is kept."""
        if not self.keep:
            return RecordedEpisode(index, total, length, self._blank, np.zeros(0), None)
        rows = slice(int(self._begun[index]), end)
        observations, rewards = self._observations[rows, index].copy(), self._rewards[rows, index].copy()
        letters = self._letters[rows, index].copy()
        return RecordedEpisode(index, total, length, observations, rewards, None if (letters < 0).any() else letters)

    def state_dict(self) -> dict[str, Any]:
        """The episodes under way. True letters are part of it only where that was asked for."""
        passed, rows = int(self._begun.min()), slice(int(self._begun.min()), self._size)
        observations = self._observations[rows].copy() if self._size > passed else self._blank
        letters = {"letters": torch.from_numpy(self._letters[rows].copy())} if self._saves_letters else {}
        return {
            **letters,
            "totals": torch.from_numpy(self._totals.copy()),
            "lengths": torch.from_numpy(self.lengths.copy()),
            "begun": torch.from_numpy(self._begun - passed),
            "rewards": torch.from_numpy(self._rewards[rows].copy()),
            "observations": torch.from_numpy(observations),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved episodes under way."""
        self._totals, self.lengths, self._begun, self._rewards, self._observations = (
            state[name].numpy().copy() for name in ("totals", "lengths", "begun", "rewards", "observations")
        )
        self._size = len(self._rewards)
        unknown = np.full(self._rewards.shape, -1)
        self._letters = state["letters"].numpy().copy() if self._saves_letters else unknown


def _grown(rows: NDArray[Any], room: int, like: NDArray[Any]) -> NDArray[Any]:
    """Room for so many rows of the kind of `like` (n, …), with `rows` as the first of them."""
    grown = np.zeros((room, *like.shape[1:]), dtype=like.dtype)
    if len(rows):
        grown[: len(rows)] = rows
    return grown
