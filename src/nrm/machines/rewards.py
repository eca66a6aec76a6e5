"""Reward schemes: from states to potentials; and the one place that turns rewards into potentials and back.

A *potential* is the potential Phi(q) of a state, the machine's output. What an environment *pays* at a step is the
difference of two potentials (`Run.rewards`), so the sum of the rewards so far tells the potential: the undiscounted
return of an episode depends on where it ends and not on the way. With a discount, potentials on the way shift when
reward comes.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.aliases import FloatArray, IntArray, State
from nrm.errors import EpisodeError, LimitError, RewardError, listing, shorten, unknown
from nrm.machines.moore import MooreMachine
from nrm.settings import Checked

Numbers: TypeAlias = Any
"""A NumPy array or a torch tensor; what comes out is of the same kind."""

TOLERANCE = 1e-3
"""How far from a potential a sum of rewards may lie, as a share of the potentials' spread: room for 32-bit rewards."""

BEST = 100.0
"""The potential of an accepting state, and the best sum of rewards of an episode."""
WORST = -100.0
"""The potential of a failure: a state from which no accepting state can be reached."""

SchemeFunction: TypeAlias = Callable[[MooreMachine], FloatArray]
"""From a machine (whose present outputs it ignores) to a potential per state."""

RewardScheme: TypeAlias = str | SchemeFunction | Sequence[float] | Mapping[State, float]
"""A scheme by name, as a function, or as custom potentials per state."""


def distance(machine: MooreMachine, failure: float = WORST) -> FloatArray:
    """The paper's potential: the nearer an accepting state, the higher ("Reward Values as Supervision").

    Accepting states get 100 and failures `failure`. The initial state gets 0, so that the rewards of a successful
    episode sum to 100, and each step of distance in between counts the same; states farther than the initial one lie
    between 0 and `failure`. Where the task holds from the start (`G !a`) it can only be lost: the potentials then fall
    from 100 towards 0 with the distance, and the best sum is 0.
    """
    steps = machine.distance_to_acceptance
    graded = _graded(steps.astype(np.float64), float(steps[machine.initial]), failure)
    return np.where(steps < 0, failure, graded)


def three_value(machine: MooreMachine, failure: float = WORST) -> FloatArray:
    """100 when accepting, `failure` when failed, 0 otherwise. No hint on the way."""
    return np.where(machine.accepting, BEST, np.where(machine.dead, failure, 0.0))


def acceptance(machine: MooreMachine) -> FloatArray:
    """1 when accepting, 0 otherwise: the plain DFA."""
    return machine.accepting.astype(np.float64)


def distinct(machine: MooreMachine, failure: float = WORST) -> FloatArray:
    """The distance potential with ties broken: states at equal distance get slightly different potentials."""
    steps = machine.distance_to_acceptance.astype(np.float64)
    shifts = np.zeros(machine.states)
    for step in np.unique(steps[steps > 0]):
        tied = np.flatnonzero(steps == step)
        # The initial state keeps its place, and with it the best sum of 100.
        tied = np.concatenate([tied[tied == machine.initial], tied[tied != machine.initial]])
        shifts[tied] = np.arange(len(tied)) / (2.0 * len(tied))
    graded = _graded(steps + shifts, float(steps[machine.initial]), failure)
    return np.where(steps < 0, failure, np.where(machine.accepting, BEST, graded))


def value_iteration(machine: MooreMachine, gamma: float = 0.9, failure: float = 0.0) -> FloatArray:
    """The optimal value of each state, if the agent chose the symbols, by the discount factor `gamma`.

    A step into acceptance is worth 100 and ends the episode. No machine pays on the way, so the fixed point of value
    iteration is 100 times `gamma` to the distance.
    """
    steps = machine.distance_to_acceptance
    return np.where(steps < 0, failure, BEST * gamma ** np.maximum(steps, 0))


def terminal(machine: MooreMachine) -> FloatArray:
    """The potentials of `distance`, of which runs pay nothing before the end of an episode."""
    return distance(machine)


SCHEMES: dict[str, SchemeFunction] = {
    "distance": distance,
    "three_value": three_value,
    "acceptance": acceptance,
    "distinct": distinct,
    "value_iteration": value_iteration,
    "terminal": terminal,
}
"""The schemes that can be asked for by name."""


@dataclass(frozen=True, kw_only=True)
class SchemeParameters(Checked):
    """What the name of a scheme may set behind a colon: `distance:failure=-10`."""

    error = RewardError

    failure: Annotated[float, msgspec.Meta(ge=-1e12, le=0)] = WORST
    """The potential of failed states."""
    gamma: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.9
    """The discount factor of value iteration."""


def shaped(before: Numbers, after: Numbers, gamma: float = 1.0) -> Numbers:
    """What a step pays that leads from the potential `before` to `after`: `gamma * after - before`.

    The rewards of an episode, discounted by `gamma`, then sum to the discounted last potential minus the first one. So
    the policies that are best are those that are best where only the last potential is paid (Ng, Harada and Russell,
    1999); `gamma` must be the discount factor of the agent.
    """
    return gamma * after - before


def check_gamma(gamma: object) -> None:
    """Raise `RewardError` unless this is a discount factor."""
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0 < gamma <= 1:
        raise RewardError(f"gamma is the discount factor of the agent, above 0 and up to 1, not {gamma!r}")


class Penalties:
    """What a failure costs an agent: a hundredth of its reward at first, all of it once every decided episode succeeds.

    Potentials tell a grounder what has happened, and stay what they are; this is what a policy learns from. A penalty
    in full, before there is anything to win, teaches an agent to stay away from whatever lies behind the hazard.
    """

    def __init__(self, success: float = 0.0) -> None:
        self.success = success
        """The share of episodes not truncated that ended with a reward: an exponential mean over about 200."""

    def weights(self, reward: Numbers, terminated: Numbers) -> Numbers:
        """What rewards are multiplied by: 1, and less where an episode fails. Arrays or tensors of one shape."""
        ended = int(terminated.sum())
        if ended:
            won = float((terminated & (reward > 0)).sum()) / ended
            self.success += (1 - (1 - 1 / 200) ** ended) * (won - self.success)
        return self.of(terminated & (reward < 0))

    def of(self, failed: Numbers) -> Numbers:
        """The same where it is known which episodes fail, as things stand."""
        return 1 - (1 - 0.01) * (1 - self.success) * failed


def with_rewards(machine: MooreMachine, scheme: RewardScheme) -> MooreMachine:
    """The machine with the potentials of a scheme."""
    return machine.with_outputs(levels(machine, scheme))


def levels(machine: MooreMachine, scheme: RewardScheme) -> FloatArray:
    """The potential of each state under a scheme."""
    if isinstance(scheme, str):
        return scheme_named(scheme)(machine)
    if callable(scheme):
        return np.asarray(scheme(machine), dtype=np.float64)
    if not isinstance(scheme, (Mapping, Sequence, np.ndarray)):
        raise RewardError(f"a reward scheme is a name, a function or numbers, not {scheme!r}")
    if isinstance(scheme, Mapping):
        missing = [state for state in range(machine.states) if state not in scheme]
        if missing or len(scheme) != machine.states:
            raise RewardError(
                f"custom potentials must name each of the states 0 to {machine.states - 1} once; "
                f"got {listing(str(state) for state in scheme)}"
            )
        scheme = [scheme[state] for state in range(machine.states)]
    try:
        values = np.asarray(scheme, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RewardError(f"custom potentials must be numbers, not {shorten(repr(scheme))}") from None
    if values.shape != (machine.states,):
        raise RewardError(f"{values.size} custom potentials for {machine.states} states; give one per state, in order")
    return values


def scheme_named(name: str) -> SchemeFunction:
    """The scheme of a name such as `distance` or `distance:failure=-10`, or an error that suggests the nearest one."""
    called, _, rest = name.partition(":")
    key = called.strip().lower().replace("-", "_")
    if key not in SCHEMES:
        raise RewardError(unknown("reward scheme", called, SCHEMES))
    scheme = SCHEMES[key]
    able = tuple(inspect.signature(scheme).parameters)[1:]
    given = dict(_parameter(part, able) for part in rest.split(",") if part)
    SchemeParameters(**given)
    return partial(scheme, **given) if given else scheme


def _parameter(part: str, able: tuple[str, ...]) -> tuple[str, Any]:
    """A parameter of a scheme and its value, from `failure=-10`."""
    key, _, value = (piece.strip() for piece in part.partition("="))
    if key not in able:
        raise RewardError(unknown("parameter of the reward scheme", key, able))
    try:
        return key, float(value)
    except ValueError:
        raise RewardError(f"{key} of the reward scheme must be a number, not {value!r}") from None


def _graded(steps: FloatArray | IntArray, start: float, failure: float) -> FloatArray:
    """Potentials that fall strictly with the (possibly fractional) distance to acceptance, above `failure`."""
    farthest = max(float(steps.max()), start, 0.0)
    if start <= 0:  # accepting from the start, or lost from the start
        return BEST * (1 - steps / (farthest + 1))
    near = BEST * (1 - steps / start)
    far = failure * (steps - start) / (farthest - start + 1)
    return np.where(steps <= start, near, far)


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

    def possible(self, rewards: ArrayLike, place: str = "the episode") -> NDArray[np.bool_]:
        """(time, potentials) which potentials each step may have reached, when rewards (time,) are NaN where unknown.

        An unknown reward may lead to any potential; the rewards paid after it tell which of them are left.
        """
        paid = np.asarray(rewards, dtype=np.float64)
        lost = np.flatnonzero(np.isnan(paid)).tolist()
        stops = [*lost, len(paid)]
        result = np.zeros((len(paid), len(self.levels)), dtype=bool)
        result[np.arange(stops[0]), self.encode(paid[: stops[0]], place)] = True
        for start, stop in itertools.pairwise(stops):
            reached = self.levels + np.cumsum(np.append(0.0, paid[start + 1 : stop]))[:, None]
            left = self.fits(reached).all(0)
            if not left.any():
                raise EpisodeError(
                    f"{place}, step {start} (from 0): no potential fits the rewards that follow, which sum to "
                    f"{float(np.sum(paid[start + 1 : stop])):g}; the potentials are {self}"
                )
            result[np.arange(start, stop)[:, None], self.nearest(reached[:, left])] = True
        return result

    def snap(self, total: float) -> float:
        """The exact sum of rewards where `total` leads to a potential but for rounding; any other sum as it is."""
        assert self.initial is not None
        reached = np.float64(self.initial + total)
        return float(self.levels[self.nearest(reached)]) - self.initial if self.fits(reached) else total

    def __str__(self) -> str:
        return listing(f"{level:g}" for level in self.levels)


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
