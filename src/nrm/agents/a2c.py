"""Advantage actor-critic: collect a rollout, learn from it once (Mnih et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from nrm.agents.acting import Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm, OnPolicyConfig, OnPolicyLearner, advantages, finite
from nrm.agents.networks import NetworkConfig
from nrm.envs import BatchedEnv
from nrm.tracking import Memory


@dataclass(frozen=True)
class A2CConfig(OnPolicyConfig):
    """Advantage actor-critic."""

    usual: ClassVar = {"num_steps": 5, "ent_coef": 0.05}

    actor_coef: float = 1.0
    """Weight of the policy loss."""

    def ent_coef_at(self, progress: float) -> float:
        """The weight of the entropy when this share of training is over: it has come down half way."""
        return super().ent_coef_at(2 * progress)


class A2C(OnPolicyLearner):
    """One agent on one batched environment."""

    def __init__(self, env: BatchedEnv, memory: Memory, config: A2CConfig, network: NetworkConfig, seed: int) -> None:
        super().__init__(env, memory, config, network, seed)
        self.config = config

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


ALGORITHMS.register(Algorithm("a2c", "A2C", A2CConfig, A2C))
