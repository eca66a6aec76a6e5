"""What learning is asked to do, and the record of what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from nrm.errors import LearningError, NrmError, listing, suggestion

Objective = Literal["em", "sequence", "marginal"]
Maximisation = Literal["posterior", "evidence"]
Learnable = Literal["grounding", "transitions", "rewards"]
Reason = Literal["target reached", "no more improvement", "all epochs done"]

LEARN: dict[str, tuple[Learnable, ...]] = {
    "grounding": ("grounding",),
    "transitions": ("transitions",),
    "rewards": ("rewards",),
    "machine": ("transitions", "rewards"),
    "both": ("grounding", "transitions", "rewards"),
    "all": ("grounding", "transitions", "rewards"),
}
"""What can be unknown, by name; `both` and `all` are one."""


@dataclass(frozen=True)
class FitSettings:
    """What can be set of learning, from recorded episodes and in between acting alike."""

    objective: Objective = "em"
    """`em`: the likelihood of whole reward sequences, by expectation-maximisation (unknown parts of a machine as by
    `sequence`). `sequence`: the same by descent. `marginal`: the paper's cross-entropy of each step."""
    maximisation: Maximisation = "posterior"
    """What an M-step of `em` teaches a network where observations cannot be enumerated. `posterior`: how probable each
    letter was, given the rewards and the grounder before. `evidence`: any letter that the rewards allow."""
    epochs: int = 400
    """Most passes over the episodes, in each restart; a twentieth of it where observations cannot be enumerated."""
    learning_rate: float = 0.01
    """Adam's step size for the grounder; it falls to a tenth along a cosine."""
    batch_size: int | None = None
    """Episodes in a mini-batch; all of them when absent."""
    restarts: int | None = None
    """Most attempts from fresh parameters. Attempts end early at one that explains the episodes (see `target`)."""
    target: float = 0.002
    """Loss, in nats a step, at which episodes count as explained: the attempt ends, and no further one is needed."""

    error: ClassVar[type[NrmError]] = LearningError
    """What a bad value raises."""
    section: ClassVar[str] = ""
    """What stands before the name of a setting in errors."""

    def __post_init__(self) -> None:
        self.check_choice("objective", get_args(Objective))
        self.check_choice("maximisation", get_args(Maximisation))
        self.check_positive("epochs", "learning_rate", "batch_size", "restarts")

    def check_choice(self, name: str, known: Sequence[str]) -> None:
        """Raise unless a setting has one of the known values."""
        value = getattr(self, name)
        if value not in known:
            raise self.error(
                f"unknown {self.section}{name} '{value}'{suggestion(str(value), known)} ({name}s: {listing(known)})"
            )

    def check_positive(self, *names: str) -> None:
        """Raise unless settings are positive, or absent."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise self.error(f"{self.section}{name} must be positive, not {value}")


@dataclass(frozen=True)
class FitConfig(FitSettings):
    """How to learn from recorded episodes. The defaults suit grounding with a known machine."""

    restarts: int = 32
    """Most attempts from fresh parameters. Attempts end early at one that explains the episodes (see `target`)."""
    held_out: float = 0.15
    """Share of the episodes that choose among the restarts, and are not learned from."""
    patience: int = 80
    """Epochs without a better loss after which an attempt ends."""
    seed: int = 0
    """Of the split, the fresh parameters and the mini-batches."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_positive("patience")
        if not 0 <= self.held_out < 1:
            raise LearningError(f"held_out is a share of the episodes from 0 up to 1, not {self.held_out}")

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
    """How many restarts it stands for: `em` on a table runs several side by side, and is told by its best."""

    @property
    def epochs(self) -> int:
        """How many epochs were done."""
        return len(self.losses)


@dataclass(frozen=True)
class FitRecord:
    """What happened. The model holds the parameters of the best attempt."""

    learned: tuple[Learnable, ...]
    objective: Objective
    attempts: tuple[Attempt, ...]
    best: Attempt
    explained: bool
    """Whether the best attempt explains all episodes up to the target."""
    episodes: int
    distinct_observations: int

    @property
    def seconds(self) -> float:
        """Time of all attempts together."""
        return sum(attempt.seconds for attempt in self.attempts)


def target_for(config: FitConfig, parts: tuple[Learnable, ...]) -> float:
    """The loss at which episodes count as explained."""
    # When a machine is learned, even one wrong reward among ten thousand must show.
    return config.target if parts == ("grounding",) else 2e-5


def what_to_learn(learn: str | tuple[str, ...]) -> tuple[Learnable, ...]:
    """The parts that a request names."""
    names = (learn,) if isinstance(learn, str) else tuple(learn)
    parts: list[Learnable] = []
    for name in names:
        if name not in LEARN:
            raise LearningError(
                f"cannot learn '{name}'{suggestion(name, LEARN)} (what can be learned: {listing(LEARN)})"
            )
        parts += [part for part in LEARN[name] if part not in parts]
    if not parts:
        raise LearningError(f"nothing to learn; name at least one of {listing(LEARN)}")
    return tuple(parts)
