"""The one place that turns rewards into potentials and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.errors import EpisodeError, LimitError, listing
from nrm.machines.moore import MooreMachine

Numbers: TypeAlias = Any
"""A NumPy array or a torch tensor; what comes out is of the same kind."""

TOLERANCE = 1e-3
"""How far from a potential a sum of rewards may lie, as a share of the potentials' spread: room for 32-bit rewards."""


@dataclass(frozen=True, eq=False)
class LevelCodec:
    """The potentials of a machine, and how the rewards that are differences of them tell which one is reached."""

    levels: Numbers
    """(potentials,) ascending."""
    initial: float | None = None
    """The potential of the initial state, to read rewards."""

    def __post_init__(self) -> None:
        if isinstance(self.levels, np.ndarray | list | tuple):
            levels = np.asarray(self.levels, dtype=np.float64)
            if levels.ndim != 1 or not levels.size or not np.isfinite(levels).all():
                raise EpisodeError(f"potentials are a list of finite numbers, at least one, not {levels.tolist()}")
            object.__setattr__(self, "levels", levels)

    @classmethod
    def of(cls, machine: MooreMachine) -> LevelCodec:
        """The codec of a machine."""
        return cls(machine.levels, float(machine.outputs[machine.initial]))

    @classmethod
    def observed(cls, rewards: Sequence[ArrayLike], initial: float = 0.0, decimals: int = 6) -> LevelCodec:
        """The distinct potentials that some episodes' rewards show: what a machine to be learned must output."""
        sums = [np.array([initial])] + [initial + np.cumsum(np.asarray(paid, dtype=np.float64)) for paid in rewards]
        return cls(np.unique(np.round(np.concatenate(sums), decimals) + 0.0), initial)

    @property
    def slack(self) -> float:
        """How far from a potential a sum of rewards may lie and still stand for it."""
        return TOLERANCE * (float(self.levels.max() - self.levels.min()) or 1.0)

    def nearest(self, values: Numbers) -> Numbers:
        """(…) the index of the potential that is nearest to each value (…)."""
        return abs(values[..., None] - self.levels).argmin(-1)

    def fits(self, values: Numbers) -> Numbers:
        """(…) whether each value (…) stands for a potential; not a number never does."""
        return abs(values - self.levels[self.nearest(values)]) <= self.slack

    def encode(self, rewards: ArrayLike, place: str = "the episode") -> NDArray[np.int64]:
        """(time,) the index of the potential after each step that paid `rewards` (time,); `place` is for errors."""
        paid = np.asarray(rewards, dtype=np.float64)
        if self.initial is None:
            raise EpisodeError(f"{place}: to read rewards, the initial potential must be known")
        if paid.ndim != 1:
            raise EpisodeError(f"{place}: rewards must be a list of numbers, one a step, not of shape {paid.shape}")
        sums = self.initial + np.cumsum(paid)
        wrong = np.flatnonzero(~self.fits(sums))
        if wrong.size:
            step = int(wrong[0])
            raise EpisodeError(
                f"{place}, step {step} (from 0): the rewards so far and the initial potential {self.initial:g} "
                f"sum to {sums[step]:g}, which this machine never outputs; its potentials are {self}. "
                "Rewards must be differences of potentials; is the reward scheme the one of the recording?"
            )
        indices: NDArray[np.int64] = self.nearest(sums)
        return indices

    def snap(self, total: float) -> float:
        """The exact sum of rewards where `total` leads to a potential but for rounding; any other sum as it is."""
        assert self.initial is not None
        reached = np.float64(self.initial + total)
        return float(self.levels[self.nearest(reached)]) - self.initial if self.fits(reached) else total

    def __str__(self) -> str:
        return listing(f"{level:g}" for level in self.levels)


def paid_success(machine: MooreMachine, total: float) -> bool:
    """Whether rewards that sum to `total` lead to a potential that accepting states alone have."""
    away = np.abs(machine.outputs - (machine.outputs[machine.initial] + total))
    return bool(machine.accepting[away <= away.min() + LevelCodec.of(machine).slack].all())


class LevelTable:
    """The potentials of an unknown machine, in the order in which sums of rewards led to them; the first is 0."""

    most = 64
    """Distinct sums of rewards up to which they count as the potentials of a machine."""

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
        # Room for 32-bit rewards.
        slack = 1e-4 * max(float(np.abs(self.values).max()), float(np.abs(sums).max()))
        strange = apart.min(1) > slack
        if strange.any():
            value = float(sums[int(np.flatnonzero(strange)[0])])
            if len(self) == self.most:
                raise LimitError(
                    f"{place}: rewards have summed up to {self.most} different potentials, and now to {value:g}. The "
                    "rewards of a machine with potentials are differences of these; rewards whose sum grows, or "
                    "that are noise of any size, are not its. Pay differences of potentials, or round rewards"
                )
            self.values = np.append(self.values, round(value, 6))
            return self.encode(rewards, place)
        return result
