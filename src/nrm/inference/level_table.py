"""Potentials as they come: an unknown machine's are those that sums of rewards have led to so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.errors import LimitError

MAX_LEVELS = 64
"""Distinct sums of rewards up to which they count as the potentials of a machine."""
NEAR = 1e-4
"""How far sums may lie from a potential, as a share of the largest one, and still be it: room for 32-bit rewards."""


class LevelTable:
    """The distinct potentials in the order in which they came. The first is that of the beginning: 0."""

    def __init__(self, values: ArrayLike = (0.0,)) -> None:
        self.values: NDArray[np.float64] = np.asarray(values, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, rewards: ArrayLike, place: str = "the episode") -> NDArray[np.int64]:
        """(time,) the index of the potential after each step that paid `rewards` (time,); new potentials are added."""
        sums = np.cumsum(np.asarray(rewards, dtype=np.float64))
        if not np.isfinite(sums).all():
            raise LimitError(f"{place}: a reward is NaN or infinite; rewards must be finite numbers")
        apart = np.abs(sums[:, None] - self.values)
        result: NDArray[np.int64] = apart.argmin(1)
        slack = NEAR * max(float(np.abs(self.values).max()), float(np.abs(sums).max()))
        strange = apart.min(1) > slack
        if strange.any():
            value = float(sums[int(np.flatnonzero(strange)[0])])
            if len(self) == MAX_LEVELS:
                raise LimitError(
                    f"{place}: rewards have summed up to {MAX_LEVELS} different potentials, and now to {value:g}. The "
                    "rewards of a machine with potentials are differences of these; rewards whose sum grows, or "
                    "that are noise of any size, are not its. Pay differences of potentials, or round rewards"
                )
            self.values = np.append(self.values, round(value, 6))
            return self.encode(rewards, place)
        return result
