"""Which environment, what holds in it, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from nrm.aliases import Argument, Symbol
from nrm.errors import EnvError
from nrm.machines import Alphabet, alphabet_of

PREFIX = "gym:"
"""What the names of registered environments begin with: `gym:CartPole-v1`."""


@dataclass(frozen=True)
class GymConfig:
    """An environment of Gymnasium, or of your own."""

    source: str
    """`gym:ID`, `gym:package:ID`, or `module:name` of a function or class that makes an environment."""
    label: str | None = None
    """What holds after a step: module:name of a function of (observation, info, environment), info:KEY, or labels,
    propositions, get_events, label. Whichever of the last four the environment has, when absent."""
    symbols: tuple[Symbol, ...] | None = None
    """Exactly one of these holds at each step."""
    propositions: tuple[Symbol, ...] | None = None
    """Any of these may hold at a step. Those of the formula, where nobody says what can hold."""
    empty: Symbol | None = None
    """The symbol that holds when the label says that nothing does; `empty`, where it is one of the symbols."""
    kwargs: dict[str, Argument] = field(default_factory=dict)
    """What the environment is made with: --env.kwargs.size 8."""
    wrappers: tuple[str, ...] = ()
    """Wrappers to put around it, module:name each, such as gymnasium.wrappers:FlattenObservation."""
    steps: int | None = None
    """The length after which an episode is truncated, as by Gymnasium's TimeLimit. When absent, the environment's own;
    where it has no TimeLimit, 1,000, so that no episode goes on for ever."""
    processes: bool = False
    """Whether each environment steps in a process of its own: for slow ones."""

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise EnvError(f"an episode has at least one step; steps is {self.steps}")
        _ = self.alphabet

    @property
    def alphabet(self) -> Alphabet | None:
        """What can hold, if the configuration says so."""
        return alphabet_of(self.symbols, self.propositions)

    @property
    def id(self) -> str | None:
        """The Gymnasium id, with its package if one is named; None for a function or class of the user's."""
        return self.source.removeprefix(PREFIX) if self.source.startswith(PREFIX) else None
