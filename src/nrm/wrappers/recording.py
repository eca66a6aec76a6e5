"""Recording episodes of environments that step side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class RecordedEpisode(NamedTuple):
    """A finished episode, as `EpisodeBuffer.add` takes it: row t is what reward t was paid for.

    The first observation of an episode, of the reset, is not part of it.
    """

    observations: NDArray[Any]
    """(time, …)"""
    rewards: NDArray[np.float64]
    """(time,)"""
    letters: NDArray[np.int64] | None
    """(time,) the true letters, where they were asked for: for evaluation only."""


class _Rows(NamedTuple):
    """One step of all environments."""

    observations: NDArray[Any]
    rewards: NDArray[np.float64]
    letters: NDArray[np.int64] | None


class EpisodeRecorder:
    """Keeps the steps of N environments until their episodes end.

    A step is kept as one block for all environments, and cut into episodes at their ends only.
    """

    def __init__(self, count: int) -> None:
        self._rows: list[_Rows] = []
        self._begun = np.zeros(count, dtype=np.int64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) how many steps the present episodes have."""
        return len(self._rows) - self._begun

    def add(self, observations: NDArray[Any], rewards: NDArray[Any], letters: NDArray[np.int64] | None = None) -> None:
        """Take in a step: observations (N, …) before any reset, rewards (N,)."""
        self._rows.append(_Rows(observations, np.asarray(rewards, dtype=np.float64), letters))

    def finish(self, done: NDArray[np.bool_]) -> list[RecordedEpisode]:
        """The episodes of the environments that are done, in their order; the others go on."""
        episodes = [self._episode(int(index)) for index in np.flatnonzero(done)]
        self.forget(done)
        return [episode for episode in episodes if episode is not None]

    def forget(self, which: NDArray[np.bool_]) -> None:
        """Begin anew where `which` says so, without giving out what there was."""
        self._begun[which] = len(self._rows)
        passed = int(self._begun.min())
        if passed:
            del self._rows[:passed]
            self._begun -= passed

    def present(self, time: int) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[np.float64]]:
        """Step `time` of what is kept: which environments' present episodes hold it, observations and rewards."""
        rows = self._rows[time]
        return self._begun <= time, rows.observations, rows.rewards

    def __len__(self) -> int:
        return len(self._rows)

    def _episode(self, index: int) -> RecordedEpisode | None:
        rows = self._rows[self._begun[index] :]
        if not rows:
            return None
        letters = [int(row.letters[index]) for row in rows if row.letters is not None]
        return RecordedEpisode(
            np.stack([row.observations[index] for row in rows]),
            np.array([row.rewards[index] for row in rows]),
            np.array(letters, dtype=np.int64) if len(letters) == len(rows) else None,
        )
