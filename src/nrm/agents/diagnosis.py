"""What the last episodes of a run reached, and what to try where that is not enough: from rewards alone, no label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.agents.training import History
from nrm.aliases import FloatArray
from nrm.machines import MooreMachine


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
        ends = ", ".join(map(str, self.endings))
        return (f"potentials at the end of the last {self.episodes} episodes: {ends}", *self.advice)


def diagnose(history: History, machine: MooreMachine) -> Diagnosis:
    """Of the episodes of a run, at least one, on a task's machine or the union of many; see `Diagnosis`."""
    potentials = np.round(np.array(history.returns[-1000:]) + machine.outputs[machine.initial], 4)
    # Of so few as 40 episodes nothing can be said about how returns change.
    last = min(500, -(-len(potentials) // 2)) if len(potentials) > 40 else len(potentials)
    reached, earlier = potentials[-last:], potentials[:-last]
    won = _at(reached, machine.outputs.max())
    advice: tuple[str, ...] = ()
    if max(won.mean(), won[-100:].mean()) < 0.95:
        few = ("these are too few episodes to say what to change: train longer",)
        advice = few if len(potentials) < 200 else tuple(_advice(history, machine, reached, earlier, won))
    return Diagnosis(last, tuple(_endings(reached, machine)), advice)


def _at(reached: FloatArray, potential: float) -> NDArray[np.bool_]:
    return np.abs(reached - potential) < 1e-3


def _endings(reached: FloatArray, machine: MooreMachine) -> Iterator[Ending]:
    """One for each potential; of more than six, one for the worst, initial and best, and for what lies between."""
    values, counts = np.unique(reached, return_counts=True)
    found = [Ending(float(v), float(v), float(n) / len(reached)) for v, n in zip(values, counts, strict=True)]
    if len(found) > 6:
        outputs = machine.outputs
        marks = sorted({float(outputs.min()), float(outputs[machine.initial]), float(outputs.max())})
        found = [Ending(mark, mark, _at(reached, mark).mean()) for mark in marks]
        between = ((low, high, (reached > low + 1e-3) & (reached < high - 1e-3)) for low, high in pairwise(marks))
        found += [Ending(low, high, inside.mean()) for low, high, inside in between]
    yield from (one for one in sorted(found, reverse=True) if one.share)


def _advice(
    history: History, machine: MooreMachine, reached: FloatArray, earlier: FloatArray, won: NDArray[np.bool_]
) -> Iterator[str]:
    """What to try, most telling first. A failure that costs nothing looks like an episode that got nowhere."""
    if history.decisions and (explained := history.decisions[-1].explained) < 0.9:
        yield (
            f"the grounder explains the rewards of only {explained:.0%} of new episodes, so beliefs are wrong: train "
            "longer, or choose another grounder"
        )
    outputs, failed = machine.outputs, machine.outputs[machine.dead].min(initial=np.inf)
    lost = _at(reached, failed) if failed < outputs[machine.initial] else np.zeros_like(won)
    # Where hardly any episode earns a reward, rising returns only say that fewer of them violate the task.
    idle = (reached > outputs[machine.initial] + 1e-3).mean() < 0.01
    undecided = ~won if idle else ~lost & ~won
    if not idle and len(earlier) and reached.mean() - earlier.mean() > 0.03 * (outputs.max() - outputs.min()):
        yield f"returns still rise, from {earlier.mean():.3g} to {reached.mean():.3g}: train longer"
    elif not idle and lost.mean() > undecided.mean():
        yield (
            f"{lost.mean():.0%} of episodes violate the task, and returns no longer rise: try less exploration at the "
            "end of training, or a lower failure potential"
        )
    else:
        ends, counts = np.unique(reached[undecided], return_counts=True)
        common = f"most episodes without success stop at {ends[counts.argmax()]:.3g}"
        got = common if won.any() else f"no episode gets past {reached.max():.3g}"
        yield f"{got}: try more exploration (--algorithm.ent-coef)"
        lengths = np.array(history.lengths[-len(reached) :])
        if (lengths[undecided] == lengths.max()).mean() > 0.5:
            yield "most of these episodes reach the time limit: try longer ones (--env.steps)"
        if machine.dead.any() and (idle or lost.mean() < 0.05):
            yield "penalties may deter the agent; try a higher failure potential"
