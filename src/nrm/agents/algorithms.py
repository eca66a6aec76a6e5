"""Algorithms: how a policy learns from what it did. Each is one file that registers one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol

from nrm.agents.networks import Network, NetworkConfig
from nrm.agents.rollouts import Rollout
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.registry import Registry
from nrm.tracking import Memory


class Learner(Protocol):
    """An algorithm at work on an environment, with a memory."""

    @property
    def memory(self) -> Memory:
        """What the agent remembers."""

    @property
    def policy(self) -> Network:
        """How it acts now."""

    def collect(self) -> Rollout:
        """Act for some steps; environments go on where they are."""

    def learn(self, rollout: Rollout, progress: float) -> Mapping[str, float]:
        """Learn from a rollout, when the share `progress` of training is over; the parts of the loss, by name."""

    def state_dict(self) -> dict[str, Any]:
        """Everything that acting and learning go on from, of the same shapes from the beginning on."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""


Build = Callable[[BatchedEnv, Memory, Any, NetworkConfig, int], Learner]
"""From an environment, a memory, the algorithm's settings, those of the networks, and a seed."""


@dataclass(frozen=True)
class Algorithm:
    """A way to learn."""

    name: str
    """How the command line and files call it."""
    label: str
    """How people read it."""
    config: type
    """The frozen dataclass of its settings: `--algorithm.learning-rate`."""
    build: Build
    images: str = "paper"
    """The network for images without end, unless told otherwise."""
    num_envs: int = 16
    """Environments that step side by side, unless told otherwise."""

    def __post_init__(self) -> None:
        if not is_dataclass(self.config):
            raise ConfigError(f"the config of the algorithm '{self.name}' is no dataclass: {self.config!r}")


ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    tuple(field.name for field in fields(Algorithm) if field.name != "name"),
    {name: f"nrm.agents.{name}" for name in ("a2c", "ppo")},
)
