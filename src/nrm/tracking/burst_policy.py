"""When to learn the grounding: judged from episodes that it has never seen, and from what learning has brought.

All is counted in episodes and not in seconds, so that equal seeds give equal runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from nrm.neural import FitRecord

Verdict = Literal["explained", "as good as it gets", "backing off", "learn"]

USUAL = 1.5
"""New episodes whose loss is within this factor of what the last burst reached on held-out ones are no surprise."""
SURPRISE = 2.0
"""A loss larger than that of the last check by this factor ends a back-off: something new is met."""
GAP = 2.0
"""Held-out episodes whose loss is larger than that of those learned from by this factor: more episodes would help."""
GAIN = 0.9
"""A burst that leaves more than this share of the loss, of held-out episodes or of the next new ones, has brought
nothing."""
MOST_WAITING = 32
"""Checks that a back-off may last at most."""


_STATE = ("reached", "wait", "waited", "last", "judged")


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
    return Decision("as good as it gets", f"loss {best.held_out:.4f} is where learning settled, above {target:g}")


@dataclass
class BurstPolicy:
    """Decides at every check of new episodes whether a burst of learning is due."""

    target: float
    """Nats a step at which episodes count as explained whatever else."""
    reached: float = 0.0
    """What the last burst reached on held-out episodes, if it brought nothing: learning has settled there. 0 where it
    brought something, so that the next one may too."""
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
        if loss <= USUAL * self.reached:
            return Decision("as good as it gets", f"loss {loss:.4f}, and learning settled at {self.reached:.4f}")
        if self.waited < self.wait and loss <= SURPRISE * before:
            self.waited += 1
            return Decision("backing off", f"the last burst brought nothing; check {self.waited} of {self.wait}")
        if not self.reached:  # nothing has been learned yet, or learning has not settled
            return Decision("learn", f"loss {loss:.4f} is more than {self.target:g}")
        return Decision("learn", f"loss {loss:.4f} is more than learning has settled at, {self.reached:.4f}")

    def learned(self, before: float, after: float, train: float | None = None) -> None:
        """Take in what a burst brought: the loss of what it learned from before, and of held-out episodes after.

        `train`: the loss of what it learned from after. Where that is far below, the grounder knows its episodes by
        heart, and learning has not settled: further episodes would teach it more.
        """
        by_heart = train is not None and after > GAP * max(train, self.target)
        nothing = after > GAIN * before
        self.reached = after if nothing and not by_heart else 0.0
        self.judged = False
        if nothing:
            self._judge(True)

    def _judge(self, nothing: bool) -> None:
        """The last burst brought nothing, or something."""
        self.judged = True
        self.waited = 0
        self.wait = min(MOST_WAITING, 2 * self.wait or 1) if nothing else 0

    def state_dict(self) -> dict[str, Any]:
        """What decisions depend on."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        for name in _STATE:
            setattr(self, name, state.get(name, getattr(self, name)))
