"""Advantage actor-critic: collect a rollout, learn from it once (Mnih et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nrm.agents.acting import Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm, OnPolicyConfig, OnPolicyLearner, finite


@dataclass(frozen=True)
class A2CConfig(OnPolicyConfig):
    """Advantage actor-critic."""

    usual: ClassVar = {"num_steps": 5, "ent_coef": 0.05}

    def ent_coef_at(self, progress: float) -> float:
        """The weight of the entropy when this share of training is over: it has come down half way."""
        return super().ent_coef_at(2 * progress)


class A2C(OnPolicyLearner):
    """One agent on one batched environment."""

    config: A2CConfig

    def learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """One gradient step from a rollout."""
        config, actor = self.config, self.actor
        scores, values = actor.evaluate(rollout)
        chosen, entropies = actor.head.evaluate(scores, rollout.action)
        fixed = values.detach()
        advantage = self.advantage(rollout, rollout.reward, fixed)
        policy_loss = -(chosen * advantage).mean()
        value_loss = (fixed + advantage - values).square().mean()
        entropy = entropies.mean()
        loss = policy_loss + config.vf_coef * value_loss - config.ent_coef_at(progress) * entropy
        self._descent.step(loss)
        actor.updated()
        parts = {"actor": policy_loss, "critic": value_loss, "entropy": entropy}
        return finite({name: part.detach() for name, part in parts.items()}, config.learning_rate)


ALGORITHMS.register(Algorithm("a2c", "A2C", A2CConfig, A2C))
