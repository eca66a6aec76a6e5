"""When to learn the grounding: judged from episodes that it has never seen, and from what learning has brought.

All is counted in episodes and not in seconds, so that equal seeds give equal runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from nrm.neural import FitRecord

Verdict = Literal["explained", "converged", "backing off", "learn"]

SURPRISE = 2.0
"""A loss larger than that of the last check by this factor ends a back-off: something new is met."""
GAIN = 0.9
"""A burst that leaves more than this share of the loss, of held-out episodes or of the next new ones, has brought
nothing."""
MAX_WAITING = 32
"""Checks that a back-off may last at most."""


_STATE = ("wait", "waited", "last", "judged")


class Decision(NamedTuple):
    """What to do about new episodes, and why."""

    verdict: Verdict
    reason: str


def left_to_learn(record: FitRecord, target: float) -> Decision:
    """What learning from given episodes has left to learn, in the same words."""
    best = record.best
    if record.explained:
        return Decision("explained", f"loss {max(best.train, best.held_out):.4f} is at most {target:g}")
    if best.stopped == "all epochs done":
        return Decision("learn", f"loss {best.held_out:.4f} is more than {target:g}, and all epochs are done")
    return Decision("converged", f"loss {best.held_out:.4f} no longer improves, above {target:g}")


@dataclass
class BurstPolicy:
    """Decides at every check of new episodes whether a burst of learning is due."""

    target: float
    """Nats a step at which episodes count as explained whatever else."""
    wait: int = 0
    """Checks for which a burst that brought nothing makes later ones wait; doubles with each of these."""
    waited: int = 0
    last: float = float("inf")
    """The loss at the last check."""
    steady: bool = False
    """Whether all that is not explained is learned from: where bursts are so short that none of them settles."""
    judged: bool = True
    """Whether it is known what the last burst brought. Held-out episodes are few, and may hold nothing of what is rare;
    so those that come next have the last word."""

    def decide(self, loss: float) -> Decision:
        """What to do about new episodes with this loss, in nats a step, under the present grounder."""
        before, self.last = self.last, loss
        if not self.judged:
            self._judge(loss > max(self.target, GAIN * before))
        if loss <= self.target:
            return Decision("explained", f"loss {loss:.4f} is at most {self.target:g}")
        if self.steady:
            return Decision("learn", f"loss {loss:.4f} is more than {self.target:g}, and learning is steady")
        if self.waited < self.wait and loss <= SURPRISE * before:
            self.waited += 1
            return Decision("backing off", f"the last burst brought nothing; check {self.waited} of {self.wait}")
        return Decision("learn", f"loss {loss:.4f} is more than {self.target:g}")

    def learned(self, before: float, after: float) -> None:
        """Take in what a burst brought: the loss of what it learned from before, and of held-out episodes after."""
        self.judged = False
        if after > GAIN * before:
            self._judge(True)

    def _judge(self, nothing: bool) -> None:
        """The last burst brought nothing, or something."""
        self.judged = True
        self.waited = 0
        self.wait = min(MAX_WAITING, 2 * self.wait or 1) if nothing else 0

    def state_dict(self) -> dict[str, Any]:
        """What decisions depend on."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        for name in _STATE:
            setattr(self, name, state.get(name, getattr(self, name)))
