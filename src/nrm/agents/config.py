"""How an agent learns: one configuration for all three methods, and two presets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from nrm.errors import ConfigError, suggestion
from nrm.neural.config import FitConfig, Objective

Method = Literal["rm", "nrm", "rnn"]
METHODS: tuple[Method, ...] = ("rm", "nrm", "rnn")
Preset = Literal["default", "paper"]

GROUNDING_TARGET = 0.003
"""Nats a step at which episodes count as explained, so that a burst ends or is skipped."""


@dataclass(frozen=True)
class AgentConfig:
    """A2C, its networks, and for NRM the learning of the grounding in between. The defaults are one of the presets."""

    episodes: int = 10_000
    """How many episodes to train for."""
    environments: int = 16
    """Environments that step side by side."""
    window: int = 5
    """Steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Adam's step size for actor, critic, features and LSTM."""
    discount: float = 0.97
    """How much the next step counts."""
    gae: float = 0.95
    """Lambda of the advantage estimates; 1 gives n-step returns."""
    actor_weight: float = 1.0
    """Weight of the policy gradient in the loss."""
    critic_weight: float = 0.5
    """Weight of the squared error of values in the loss."""
    entropy_weight: float = 0.05
    """Weight of the policy's entropy in the loss, at the beginning."""
    final_entropy_weight: float = 0.005
    """The weight that it has come down to half way, in a straight line; it stays there."""
    reward_scale: float = 0.01
    """Rewards are multiplied by this before they are learned from."""
    gradient_norm: float | None = 0.5
    """Longer gradients are shortened to this."""
    hidden: int = 120
    """Width of the hidden layers of actor and critic."""
    normalise: bool = True
    """Whether observations are centred and scaled over all there are, and image features spread out on them."""
    recurrent_size: int = 50
    """RNN: units of each LSTM layer."""
    recurrent_layers: int = 2
    """RNN: layers of the LSTM."""
    recurrent_reads_rewards: bool = True
    """RNN: whether the LSTM reads the last action and reward too, or the observation alone."""
    belief: Literal["conditioned", "open"] = "conditioned"
    """NRM: whether the policy's belief takes in the rewards received, or follows the observations alone (the paper)."""
    grounding_every: int = 120
    """NRM: episodes between two bursts of learning the grounding."""
    grounding_epochs: int = 400
    """NRM: most epochs of a burst, in each attempt; a twentieth of it where observations are too many to list."""
    grounding_restarts: int = 4
    """NRM: most attempts of a burst; the first one goes on from the present grounder."""
    grounding_rate: float = 0.01
    """NRM: Adam's step size for the grounder; a third of it where observations are too many to list."""
    grounding_batch: int | None = None
    """NRM: episodes in a mini-batch of the grounder; when absent all, or 16 where observations are too many to list."""
    grounding_objective: Objective = "sequence"
    """NRM: what the grounder maximises; `marginal` is the paper's."""
    grounding_memory: int = 360
    """NRM: most recent episodes that a burst learns from."""
    grounder: Literal["default", "paper"] = "default"
    """NRM: our grounder networks or those of the paper's appendix."""

    def __post_init__(self) -> None:
        positive = ("episodes", "environments", "window", "learning_rate", "reward_scale", "hidden", "grounding_every")
        for name in positive:
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("discount", "gae"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} lies from 0 to 1, not {getattr(self, name)}")

    def entropy_weight_after(self, episodes: int) -> float:
        """The weight of the entropy when so many episodes are done."""
        progress = min(1.0, 2 * episodes / self.episodes)
        return self.entropy_weight + progress * (self.final_entropy_weight - self.entropy_weight)

    def fit_config(self, seed: int, listed: bool = True) -> FitConfig:
        """How one burst learns; `listed`: whether all observations of the world are known and few.

        Otherwise there are thousands of distinct ones in a burst: mini-batches, so many small steps in every epoch,
        and one attempt, which the next burst goes on from.
        """
        config = FitConfig(
            objective=self.grounding_objective,
            epochs=self.grounding_epochs,
            learning_rate=self.grounding_rate,
            batch_size=self.grounding_batch,
            restarts=self.grounding_restarts,
            patience=max(20, self.grounding_epochs // 4),
            target=GROUNDING_TARGET,
            seed=seed,
        )
        if listed:
            return config
        return replace(
            config,
            epochs=max(1, self.grounding_epochs // 20),
            learning_rate=self.grounding_rate / 3,
            batch_size=self.grounding_batch or 16,
            restarts=1,
        )


DEFAULT = AgentConfig()
PAPER = replace(
    DEFAULT,
    environments=1,
    learning_rate=4e-4,
    discount=0.99,
    gae=1.0,
    actor_weight=0.3,
    critic_weight=0.5,
    entropy_weight=1e-4,
    final_entropy_weight=1e-4,
    reward_scale=1.0,
    gradient_norm=None,
    normalise=False,
    recurrent_reads_rewards=False,
    belief="open",
    grounding_epochs=100,
    grounding_restarts=1,
    grounding_rate=4e-4,
    grounding_objective="marginal",
    grounding_memory=1000,
    grounder="paper",
)
"""The paper's hyper-parameters (its appendix). It implies one environment, and gives neither the discount nor how many
episodes a burst learns from; of the last 120 alone a grounder forgets all places that the policy no longer visits."""
PRESETS: dict[str, AgentConfig] = {"default": DEFAULT, "paper": PAPER}


def preset(name: str) -> AgentConfig:
    """The preset of that name."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset '{name}'{suggestion(name, PRESETS)} (presets: {', '.join(PRESETS)})")
    return PRESETS[name]
