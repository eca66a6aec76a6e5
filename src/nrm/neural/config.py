"""What learning is asked to do, and the record of what it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import msgspec

from nrm.errors import LearningError, NrmError
from nrm.settings import Checked, Count, Positive

Objective = Literal["em", "sequence", "marginal"]
Maximisation = Literal["posterior", "evidence"]
Learnable = Literal["grounding", "transitions", "rewards"]
Reason = Literal["target reached", "no more improvement", "all epochs done"]


@dataclass(frozen=True)
class FitSettings(Checked):
    """What can be set of learning, from recorded episodes and in between acting alike."""

    objective: Objective = "em"
    """`em`: the likelihood of whole reward sequences, by expectation-maximisation (unknown parts of a machine as by
    `sequence`). `sequence`: the same by descent. `marginal`: the paper's cross-entropy of each step."""
    maximisation: Maximisation = "posterior"
    """What an M-step of `em` teaches a network where observations cannot be enumerated. `posterior`: how probable each
    letter was, given the rewards and the grounder before. `evidence`: any letter that the rewards allow."""
    epochs: Count = 400
    """Most passes over the episodes, in each restart; a twentieth of it where observations cannot be enumerated."""
    learning_rate: Positive = 0.01
    """Adam's step size for the grounder; it falls to a tenth along a cosine."""
    batch_size: Count | None = None
    """Episodes in a mini-batch; all of them when absent."""
    restarts: Count | None = None
    """Most attempts from fresh parameters. Attempts end early at one that explains the episodes (see `target`)."""
    target: float = 0.002
    """Loss, in nats a step, at which episodes count as explained: the attempt ends, and no further one is needed."""

    error: ClassVar[type[NrmError]] = LearningError


@dataclass(frozen=True)
class FitConfig(FitSettings):
    """How to learn from recorded episodes. The defaults suit grounding with a known machine."""

    restarts: Count = 32
    """Most attempts from fresh parameters. Attempts end early at one that explains the episodes (see `target`)."""
    held_out: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.15
    """Share of the episodes that choose among the restarts, and are not learned from."""
    patience: Count = 80
    """Epochs without a better loss after which an attempt ends."""
    seed: int = 0
    """Of the split, the fresh parameters and the mini-batches."""

    def network_restarts(self, recurrent: bool) -> int:  # noqa: ARG002 - updates while acting go by it
        """Most attempts where `em` teaches a network directly, because observations cannot be enumerated."""
        return self.restarts


@dataclass(frozen=True)
class Attempt:
    """One restart."""

    number: int
    losses: tuple[float, ...] = field(repr=False)
    """The loss of each epoch, in nats a step."""
    train: float
    """Minus the log-likelihood a step of the episodes learned from, with the parameters that were kept."""
    held_out: float
    """The same for the episodes held out; of all episodes when none are."""
    stopped: Reason
    """Why it ended."""
    seconds: float
    restarts: int = 1
    """How many restarts it stands for: `em` on a table runs several side by side, and shows its best."""

    @property
    def epochs(self) -> int:
        """How many epochs were done."""
        return len(self.losses)

    def explains(self, target: float) -> bool:
        """Whether it explains all episodes up to a loss."""
        return max(self.train, self.held_out) <= target


@dataclass(frozen=True)
class FitRecord:
    """What happened. The model holds the parameters of the best attempt."""

    learned: tuple[Learnable, ...]
    objective: Objective
    attempts: tuple[Attempt, ...]
    best: Attempt
    target: float
    """The loss at which episodes count as explained."""
    episodes: int
    distinct_observations: int

    @property
    def explained(self) -> bool:
        """Whether the best attempt explains all episodes up to the target."""
        return self.best.explains(self.target)

    @property
    def seconds(self) -> float:
        """Time of all attempts together."""
        return sum(attempt.seconds for attempt in self.attempts)
