"""Advantage actor-critic: collect a rollout, learn from it once (Mnih et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nrm.agents.acting import Actor, Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm
from nrm.agents.networks import NetworkConfig
from nrm.agents.optimizers import load_moments, moments
from nrm.agents.returns import advantages
from nrm.envs.world import BatchedWorld
from nrm.errors import ConfigError, TrainingError
from nrm.tracking import Memory


@dataclass(frozen=True)
class A2CConfig:
    """Advantage actor-critic."""

    steps: int = 5
    """Steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Adam's step size for actor, critic, features and recurrent memory."""
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

    def __post_init__(self) -> None:
        for name in ("steps", "learning_rate", "reward_scale"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"algorithm.{name} must be positive, not {getattr(self, name)}")
        for name in ("discount", "gae"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"algorithm.{name} lies from 0 to 1, not {getattr(self, name)}")

    def entropy_weight_at(self, progress: float) -> float:
        """The weight of the entropy when this share of training is over."""
        return self.entropy_weight + min(1.0, 2 * progress) * (self.final_entropy_weight - self.entropy_weight)


class A2C:
    """One agent on one batched world."""

    def __init__(
        self, world: BatchedWorld, memory: Memory, config: A2CConfig, network: NetworkConfig, seed: int
    ) -> None:
        self.memory = memory
        self.config = config
        self.actor = Actor(world, memory, network, config.steps, seed)
        self.policy = self.actor.net
        self.optimizer = torch.optim.Adam(self.actor.parameters, lr=config.learning_rate, fused=True)

    def collect(self) -> Rollout:
        """Act for a rollout."""
        return self.actor.collect()

    def learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """One gradient step from a rollout."""
        config, actor = self.config, self.actor
        logits, values = actor.evaluate(rollout)
        log_probs = torch.log_softmax(logits, -1)
        fixed = values.detach()
        with torch.no_grad():
            following = actor.following(rollout, fixed)
            rewards = rollout.reward * config.reward_scale
            advantage = advantages(
                rewards, fixed, following, rollout.terminated, rollout.truncated, config.discount, config.gae
            )
        chosen = log_probs.gather(-1, rollout.action.unsqueeze(-1)).squeeze(-1)
        policy_loss = -(chosen * advantage).mean()
        value_loss = (values - (fixed + advantage)).square().mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        weight = config.entropy_weight_at(progress)
        loss = config.actor_weight * policy_loss + config.critic_weight * value_loss - weight * entropy
        for parameter in actor.parameters:  # as zero_grad does, at a tenth of its time
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        if config.gradient_norm is not None:
            nn.utils.clip_grad_norm_(actor.parameters, config.gradient_norm, foreach=True)
        self.optimizer.step()
        actor.updated()
        values_of_parts = torch.stack([policy_loss, value_loss, entropy]).tolist()
        parts = dict(zip(("actor", "critic", "entropy"), values_of_parts, strict=True))
        if not all(abs(part) < float("inf") for part in values_of_parts):
            told = ", ".join(f"{name} {value:g}" for name, value in parts.items())
            raise TrainingError(
                f"the loss is no longer finite ({told}); lower learning_rate (now {config.learning_rate:g}) or "
                "gradient_norm"
            )
        return parts

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {"actor": self.actor.state_dict(), "optimizer": moments(self.optimizer)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.actor.load_state_dict(state["actor"])
        load_moments(self.optimizer, state["optimizer"])


ALGORITHMS.register(Algorithm("a2c", "A2C", A2CConfig, A2C))
