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
    """(time, …) the observations or their row numbers; none where only sums are kept, as of rewards."""
    rewards: NDArray[np.float64]
    """(time,)"""
    letters: NDArray[np.int64] | None
    """(time,) the true letters, where they were told: for evaluation only."""
    task: int | None = None
    """The number of its task, where there are many."""


class _Rows(NamedTuple):
    """One step of all environments."""

    observations: NDArray[Any]
    rewards: NDArray[np.float64]
    letters: NDArray[np.int64] | None


class Recorder:
    """Sums the rewards of N environments, and keeps their steps where asked, until their episodes end.

    A step is kept as one block for all environments, and cut into episodes at their ends only.
    """

    def __init__(self, count: int, keep: bool = True, blank: NDArray[Any] | None = None, letters: bool = False) -> None:
        """`keep`: whether episodes carry their observations and rewards, and not just sums.

        `blank`: (0, N, …) no observations, but of the kind that will come, for saved states; `letters`: whether saved
        states hold the true letters too, which are then told at every step.
        """
        self.keep = keep
        self._letters = letters
        self._blank = np.zeros((0, count)) if blank is None else blank
        self._rows: list[_Rows] = []
        self._begun = np.zeros(count, dtype=np.int64)
        self._totals = np.zeros(count)
        self.lengths = np.zeros(count, dtype=np.int64)
        """(N,) how many steps the present episodes have."""

    def add(self, rewards: NDArray[Any], observations: NDArray[Any], letters: NDArray[np.int64] | None = None) -> None:
        """Take in a step: rewards (N,), observations (N, …) before any reset, and perhaps the true letters (N,)."""
        self._totals += rewards
        self.lengths += 1
        if self.keep:
            self._rows.append(_Rows(observations, np.asarray(rewards, dtype=np.float64), letters))

    def finish(self, done: NDArray[np.bool_]) -> list[RecordedEpisode]:
        """The episodes of the environments that are done, in their order; the others go on."""
        if not done.any():
            return []
        episodes = [self._episode(int(index)) for index in np.flatnonzero(done & (self.lengths > 0))]
        self.forget(done)
        return episodes

    def forget(self, which: NDArray[np.bool_]) -> None:
        """Begin anew where `which` says so, without giving out what there was."""
        self._totals[which] = 0.0
        self.lengths[which] = 0
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
        """How many steps of all environments are kept."""
        return len(self._rows)

    def _episode(self, index: int) -> RecordedEpisode:
        total, length = float(self._totals[index]), int(self.lengths[index])
        if not self.keep:
            return RecordedEpisode(index, total, length, self._blank, np.zeros(0), None)
        rows = self._rows[self._begun[index] :]
        letters = [int(row.letters[index]) for row in rows if row.letters is not None]
        return RecordedEpisode(
            index,
            total,
            length,
            np.stack([row.observations[index] for row in rows]),
            np.array([row.rewards[index] for row in rows]),
            np.array(letters, dtype=np.int64) if len(letters) == len(rows) else None,
        )

    def state_dict(self) -> dict[str, Any]:
        """The episodes under way. True letters are part of it only where that was asked for."""
        rows = self._rows
        letters = {}
        if self._letters:
            told = np.array([row.letters for row in rows], dtype=np.int64).reshape(-1, len(self._begun))
            letters["letters"] = torch.from_numpy(told)
        return {
            **letters,
            "totals": torch.from_numpy(self._totals.copy()),
            "lengths": torch.from_numpy(self.lengths.copy()),
            "begun": torch.from_numpy(self._begun.copy()),
            "rewards": torch.from_numpy(np.array([row.rewards for row in self._rows]).reshape(-1, len(self._begun))),
            "observations": torch.from_numpy(np.stack([row.observations for row in rows]) if rows else self._blank),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved episodes under way."""
        self._totals, self.lengths, self._begun = (
            state[name].numpy().copy() for name in ("totals", "lengths", "begun")
        )
        rewards = state["rewards"].numpy()
        letters = state["letters"].numpy() if self._letters else [None] * len(rewards)
        self._rows = [_Rows(*row) for row in zip(state["observations"].numpy(), rewards, letters, strict=True)]
