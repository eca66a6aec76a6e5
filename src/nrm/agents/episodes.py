"""Cutting the stream of batched steps into episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.envs import StepBatch
from nrm.machines import MooreMachine


@dataclass(frozen=True, eq=False)
class Finished:
    """One finished episode."""

    total: float
    """The sum of rewards."""
    length: int
    success: bool
    """Whether the level reached is that of an accepting state."""
    observations: NDArray[Any] | None
    """(time, …) what was observed at each step, or row numbers of frames; kept for learning the grounding only."""
    rewards: NDArray[np.float64] | None
    """(time,) what was paid."""

    @property
    def recorded(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """What the grounding learns from."""
        assert self.observations is not None
        assert self.rewards is not None
        return self.observations, self.rewards


class EpisodeCutter:
    """Collects the steps of N environments and gives out episodes as they end, in a fixed order."""

    def __init__(self, machine: MooreMachine, count: int, keep: bool) -> None:
        """`keep`: whether episodes carry their observations and rewards."""
        self._keep = keep
        self._start = float(machine.outputs[machine.initial])
        self._levels = machine.levels
        self._good = np.unique(machine.outputs[machine.accepting])
        # NumPy: its calls on a few numbers take a fraction of the time of torch's.
        self.totals = np.zeros(count)
        self.lengths = np.zeros(count, dtype=np.int64)
        self._rows: list[list[NDArray[Any]]] = [[] for _ in range(count)]
        self._paid: list[list[float]] = [[] for _ in range(count)]

    def add(self, batch: StepBatch) -> list[Finished]:
        """Take in one step of all environments; the episodes that it ended."""
        self.totals += batch.reward.numpy()
        self.lengths += 1
        if self._keep:
            for rows, paid, row, reward in zip(
                self._rows, self._paid, batch.final_observation.numpy(), batch.reward.tolist(), strict=True
            ):
                rows.append(row)
                paid.append(reward)
        done = batch.terminated.numpy() | batch.truncated.numpy()
        return [self._finish(int(index)) for index in np.flatnonzero(done)]

    def _finish(self, index: int) -> Finished:
        # Rewards are differences of levels in single precision; their sum is a level, and which one is clear.
        level = float(self._levels[np.abs(self._levels - self._start - float(self.totals[index])).argmin()])
        total, length, success = level - self._start, int(self.lengths[index]), level in self._good
        self.totals[index], self.lengths[index] = 0.0, 0
        if not self._keep:
            return Finished(total, length, success, None, None)
        rows, paid = self._rows[index], self._paid[index]
        self._rows[index], self._paid[index] = [], []
        return Finished(total, length, success, np.stack(rows), np.array(paid))

    def state_dict(self) -> dict[str, Any]:
        """The episodes under way."""
        return {
            "totals": torch.from_numpy(self.totals.copy()),
            "lengths": torch.from_numpy(self.lengths.copy()),
            "rows": [torch.from_numpy(np.stack(rows)) if rows else None for rows in self._rows],
            "paid": self._paid,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved episodes under way."""
        self.totals, self.lengths = state["totals"].numpy().copy(), state["lengths"].numpy().copy()
        rows: list[Tensor | None] = state["rows"]
        self._rows = [[] if kept is None else list(kept.numpy()) for kept in rows]
        self._paid = [list(paid) for paid in state["paid"]]
