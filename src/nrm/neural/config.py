"""What learning is asked to do, and the record of what it did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import msgspec

from nrm.errors import LearningError, NrmError
from nrm.settings import USUAL, Checked, Count, Positive, SeedSetting

Objective = Literal["em", "sequence", "marginal", "regularised"]
Maximisation = Literal["posterior", "evidence"]
Reason = Literal["target reached", "no more improvement", "epoch limit reached"]


@dataclass(frozen=True)
class FitSettings(Checked):
    """What can be set of learning, from recorded episodes and in between acting alike."""

    objective: Objective = "em"
    """Loss. em: likelihood of whole reward sequences, by expectation-maximisation. sequence: the same by gradient
    descent. marginal: cross-entropy of each step, as in the paper. regularised: sequence with weight decay, stopped by
    held-out episodes; em becomes it for verdicts, if observations cannot be enumerated."""
    maximisation: Maximisation = USUAL
    """Target of the M-step if observations cannot be enumerated. posterior: the probability of each symbol, given all
    rewards. evidence: the set of symbols that the rewards allow. Default: evidence, and posterior during training."""
    epochs: Count = 400
    """Maximum passes over the episodes per restart. If observations cannot be enumerated, an iteration counts as 20."""
    learning_rate: Positive = 0.01
    """Learning rate of Adam for the grounder; it falls to a tenth on a cosine schedule."""
    restarts: Count = 32
    """Maximum number of random restarts. The first that explains the episodes is taken. During training an
    eighth of it, unless the objective is em."""
    target: Positive = USUAL
    """Loss in nats per step at which episodes count as explained and learning stops. Default: 0.002, and 0.003 during
    training."""

    error: ClassVar[type[NrmError]] = LearningError


@dataclass(frozen=True)
class FitConfig(FitSettings, SeedSetting):
    """How to learn from logged episodes. The defaults suit grounding with a known machine."""

    usual: ClassVar = {"seed": 0, "target": 0.002, "maximisation": "evidence"}

    held_out: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.15
    """Share of the episodes that is held out, to choose among restarts."""

    @property
    def patience(self) -> int:
        """Epochs without improvement after which a restart ends."""
        return max(20, self.epochs // 4)

    def network_restarts(self, usual: int) -> int:  # noqa: ARG002 - updates while acting go by it
        """Maximum number of restarts if observations cannot be enumerated; `usual`: what the grounder needs."""
        return self.restarts

    @property
    def regularised(self) -> FitConfig:
        """The same by regularised descent, whose epochs are shorter than those of a table."""
        return replace(self, objective="regularised", epochs=max(1, self.epochs // 10))


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
    epochs_each: int = 1
    """How many epochs each of the losses counts as."""

    @property
    def epochs(self) -> int:
        """How many epochs were done."""
        return len(self.losses) * self.epochs_each

    def explains(self, target: float) -> bool:
        """Whether it explains all episodes up to a loss."""
        return max(self.train, self.held_out) <= target


@dataclass(frozen=True)
class FitRecord:
    """What happened. The model holds the parameters of the best attempt."""

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
