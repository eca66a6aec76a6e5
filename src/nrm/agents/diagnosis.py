"""What the last episodes of a run reached, and what to try where that is not enough: from rewards alone, no label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.agents.training import History
from nrm.machines import MooreMachine

LAST = 500
"""Episodes that are looked at."""
MAX_ENDINGS = 6
"""Potentials that are listed one by one; more, as those of many tasks are, are put together."""
SOLVED, RARE, MOSTLY = 0.95, 0.05, 0.5
"""Shares of episodes."""
FEW = 40
"""So few episodes are taken together: nothing can be said about how returns change."""
EXPLAINED = 0.9
"""The share of new episodes that a good grounder explains."""
RISE = 0.03
"""A higher mean potential than that of as many episodes before, as a share of the spread, counts as rising."""


Potentials: TypeAlias = NDArray[np.float64]


class Ending(NamedTuple):
    """How often episodes end at a potential, or strictly between two of them."""

    low: float
    high: float
    """The same as `low` for a single potential."""
    share: float

    def __str__(self) -> str:
        named = f"{self.low:.3g}" if self.low == self.high else f"between {self.low:.3g} and {self.high:.3g}"
        return f"{named} in {100 * self.share:.3g} %"


@dataclass(frozen=True)
class Diagnosis:
    """Where the last episodes of a run end, and what to try; no advice where nearly all of them succeed."""

    episodes: int
    """How many episodes it is about."""
    endings: tuple[Ending, ...]
    """Highest potential first; their shares sum to 1."""
    advice: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """As people read it."""
        told = ", ".join(map(str, self.endings))
        return (f"potentials at the end of the last {self.episodes} episodes: {told}", *self.advice)


class _Facts(NamedTuple):
    """Episodes by the potential they end at, which the sum of their rewards tells."""

    machine: MooreMachine
    reached: Potentials
    """(episodes,) of the last episodes."""
    earlier: Potentials
    """Of about as many before these."""
    undecided: NDArray[np.bool_]
    """(episodes,) whether an episode ended without success and, as far as rewards tell, without failure."""

    @property
    def initial(self) -> float:
        return float(self.machine.outputs[self.machine.initial])

    @property
    def best(self) -> float:
        return float(self.machine.outputs.max())

    @property
    def success(self) -> float:
        return float(_at(self.reached, self.best).mean())

    @property
    def lost(self) -> float:
        return float(1 - self.success - self.undecided.mean())

    @property
    def rising(self) -> bool:
        spread = self.best - self.machine.outputs.min()
        return bool(len(self.earlier) and self.reached.mean() - self.earlier.mean() > RISE * spread)


def diagnose(history: History, machine: MooreMachine) -> Diagnosis:
    """Of the episodes of a run, at least one, on a task's machine or the union of many; see `Diagnosis`."""
    facts = _facts(history, machine)
    advice = () if facts.success >= SOLVED else tuple(_advice(facts, history))
    return Diagnosis(len(facts.reached), tuple(_endings(facts)), advice)


def _facts(history: History, machine: MooreMachine) -> _Facts:
    initial, failed = machine.outputs[machine.initial], machine.outputs[machine.dead]
    potentials = np.round(np.array(history.returns[-2 * LAST :], dtype=np.float64) + initial, 4)
    last = min(LAST, -(-len(potentials) // 2)) if len(potentials) > FEW else len(potentials)
    reached = potentials[-last:]
    # A failure that costs nothing looks like an episode that got nowhere.
    lost = _at(reached, failed.min()) if len(failed) and failed.min() < initial else np.zeros(last, dtype=bool)
    return _Facts(machine, reached, potentials[:-last], ~lost & ~_at(reached, machine.outputs.max()))


def _at(reached: Potentials, potential: float) -> NDArray[np.bool_]:
    return np.abs(reached - potential) < 1e-3


def _endings(facts: _Facts) -> Iterator[Ending]:
    """One for each potential; where there are many, one for the worst, initial and best, and for what lies between."""
    reached = facts.reached
    values, counts = np.unique(reached, return_counts=True)
    found = [Ending(float(v), float(v), float(n) / len(reached)) for v, n in zip(values, counts, strict=True)]
    if len(found) > MAX_ENDINGS:
        marks = sorted({float(facts.machine.outputs.min()), facts.initial, facts.best})
        found = [Ending(mark, mark, _at(reached, mark).mean()) for mark in marks]
        between = ((low, high, (reached > low + 1e-3) & (reached < high - 1e-3)) for low, high in pairwise(marks))
        found += [Ending(low, high, inside.mean()) for low, high, inside in between]
    yield from (one for one in sorted(found, reverse=True) if one.share)


def _advice(facts: _Facts, history: History) -> Iterator[str]:
    """What to try, most telling first."""
    if history.decisions and (explained := history.decisions[-1].explained) < EXPLAINED:
        yield (
            f"the grounder explains the rewards of only {explained:.0%} of new episodes, so the agent follows wrong "
            "states: train longer, or choose another grounder"
        )
    if facts.rising:
        yield f"returns still rise, from {facts.earlier.mean():.3g} to {facts.reached.mean():.3g}: train longer"
    elif facts.lost > facts.undecided.mean():
        yield (
            f"{facts.lost:.0%} of episodes are lost, and returns no longer rise: try less exploration towards the end "
            "of training, or a lower failure potential"
        )
    else:
        yield from _stuck(facts, np.array(history.lengths[-len(facts.reached) :]))


def _stuck(facts: _Facts, lengths: NDArray[np.int64]) -> Iterator[str]:
    """What to try where episodes end before the task is decided, and returns no longer rise."""
    ends, counts = np.unique(facts.reached[facts.undecided], return_counts=True)
    common, top = float(ends[counts.argmax()]), float(facts.reached.max())
    got = f"most episodes without success stop at {common:.3g}" if facts.success else f"no episode gets past {top:.3g}"
    yield f"{got}, and returns no longer rise: try more exploration (a larger entropy weight)"
    if (lengths[facts.undecided] == lengths.max()).mean() > MOSTLY:
        yield "most of these episodes reach the limit of steps: try longer ones"
    if facts.machine.dead.any() and facts.lost < RARE:
        yield "hardly any episode is lost: fear of failing may hold the agent back; try a higher failure potential"
