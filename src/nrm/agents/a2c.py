"""Advantage actor-critic: collect a rollout, learn from it once (Mnih et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from nrm.agents.acting import Actor, Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm
from nrm.agents.networks import NetworkConfig
from nrm.agents.updates import Descent, advantages, finite
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.tracking import Memory


@dataclass(frozen=True)
class A2CConfig:
    """Advantage actor-critic."""

    num_steps: int = 5
    """Steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Adam's step size for actor, critic, features and recurrent memory."""
    gamma: float = 0.97
    """How much the next step counts."""
    gae_lambda: float = 0.95
    """Lambda of the advantage estimates; 1 gives n-step returns."""
    actor_coef: float = 1.0
    """Weight of the policy gradient in the loss."""
    vf_coef: float = 0.5
    """Weight of the squared error of values in the loss."""
    ent_coef: float = 0.05
    """Weight of the policy's entropy in the loss, at the beginning."""
    final_ent_coef: float = 0.005
    """The weight that it has come down to half way, in a straight line; it stays there."""
    reward_scale: float = 0.01
    """Rewards are multiplied by this before they are learned from."""
    max_grad_norm: float | None = 0.5
    """Longer gradients are shortened to this."""
    sde_sample_freq: int | None = None
    """Steps in training that sample actions with the same noise, within a rollout: exploration that is correlated in
    time. 8 for continuous actions, else 1, when absent. Tests draw anew at every step."""

    def __post_init__(self) -> None:
        for name in ("num_steps", "learning_rate", "reward_scale"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"algorithm.{name} must be positive, not {getattr(self, name)}")
        if self.sde_sample_freq is not None and self.sde_sample_freq < 1:
            raise ConfigError(f"sde_sample_freq counts steps, at least 1, not {self.sde_sample_freq}")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"algorithm.{name} lies from 0 to 1, not {getattr(self, name)}")

    def ent_coef_at(self, progress: float) -> float:
        """The weight of the entropy when this share of training is over."""
        return self.ent_coef + min(1.0, 2 * progress) * (self.final_ent_coef - self.ent_coef)


class A2C:
    """One agent on one batched environment."""

    def __init__(self, env: BatchedEnv, memory: Memory, config: A2CConfig, network: NetworkConfig, seed: int) -> None:
        self.memory = memory
        self.config = config
        self.actor = Actor(env, memory, network, config.num_steps, seed, config.sde_sample_freq)
        self.policy = self.actor.net
        self._descent = Descent(self.actor.parameters, config.learning_rate, config.max_grad_norm)

    def collect(self) -> Rollout:
        """Act for a rollout."""
        return self.actor.collect()

    def learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """One gradient step from a rollout."""
        config, actor = self.config, self.actor
        scores, values = actor.evaluate(rollout)
        chosen, entropies = actor.head.evaluate(scores, rollout.action)
        fixed = values.detach()
        with torch.no_grad():
            next_values = actor.next_values(rollout, fixed)
            rewards = rollout.reward * config.reward_scale
            advantage = advantages(
                rewards, fixed, next_values, rollout.terminated, rollout.truncated, config.gamma, config.gae_lambda
            )
            policy_loss = -(chosen * advantage).mean()
            value_loss = advantage.square().mean()
            entropy = entropies.mean()
            # loss = actor_coef * policy_loss + vf_coef * (values - returns)^2 - weight * entropy, in the mean;
            # its gradients with respect to chosen, values and entropies.
            share = 1 / advantage.numel()
            weight = torch.full_like(entropies, -share * config.ent_coef_at(progress))
            gradients = (
                -share * config.actor_coef * advantage,
                -2 * share * config.vf_coef * advantage,
                weight,
            )
        self._descent.step((chosen, values, entropies), gradients=gradients)
        actor.updated()
        return finite({"actor": policy_loss, "critic": value_loss, "entropy": entropy}, config.learning_rate)

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {"actor": self.actor.state_dict(), "optimizer": self._descent.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.actor.load_state_dict(state["actor"])
        self._descent.load_state_dict(state["optimizer"])


ALGORITHMS.register(Algorithm("a2c", "A2C", A2CConfig, A2C))
