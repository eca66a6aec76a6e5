"""How the grounding is learned from rewards in between acting: what can be set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from nrm.errors import ConfigError
from nrm.neural import FitConfig, FitSettings
from nrm.settings import Count, EverySetting, GrounderSetting
from nrm.tracking.memories import Belief

TrainingBelief: TypeAlias = Literal["annealed", "filtered", "open-loop", "argmax"]


class UpdateConfig(FitConfig):
    """How one grounding update learns: where observations cannot be enumerated, the next one goes on from it."""

    def network_restarts(self, usual: int) -> int:
        """As many as the grounder needs."""
        return usual


@dataclass(frozen=True)
class GroundingConfig(FitSettings, EverySetting, GrounderSetting):
    """How a grounder learns from rewards during training: the settings of `FitConfig`, and when to learn."""

    usual: ClassVar = {"target": 0.003, "maximisation": "posterior"}

    keep: Count = 360
    """Maximum number of episodes that an update learns from."""
    initial: str | None = None
    """Folder of a run, or of nrm fit, whose grounder to start from. Symbols and observations must match.
    The method frozen keeps it as it is."""
    belief: TrainingBelief = "annealed"
    """What the belief reads in training. filtered: observations and rewards. open-loop: observations only, as in the
    paper and in tests. argmax: the most probable symbol of each step. annealed: filtered in the first half of
    training, then open-loop."""

    error = ConfigError
    section = "grounding."

    @property
    def first_belief(self) -> Belief:
        """The belief that training begins with."""
        return "filtered" if self.belief == "annealed" else self.belief

    def without_rewards(self) -> GroundingConfig:
        """The same where no reward is paid before the end of an episode; an error if beliefs are to read them."""
        if self.belief == "filtered":
            raise ConfigError("no reward is paid before the end (--reward terminal): take --grounding.belief open-loop")
        return replace(self, belief="open-loop") if self.belief == "annealed" else self

    def fit_config(self, seed: int) -> FitConfig:
        """How one update learns."""
        return UpdateConfig(
            objective=self.objective,
            maximisation=self.maximisation,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            restarts=self.restarts if self.objective == "em" else max(1, self.restarts // 8),
            target=self.target,
            seed=seed,
        )


def update_settings(every: int, keep: int, config: FitConfig | None, seed: int) -> FitConfig:
    """How updates learn where observations cannot be enumerated: as `config` says, or by default; checked."""
    default = GroundingConfig(every=every, keep=keep).fit_config(seed)
    if config is not None and not isinstance(config, FitConfig):
        raise ConfigError(f"config must be a FitConfig, such as nrm.FitConfig(epochs=100), not {config!r}")
    return config or default
