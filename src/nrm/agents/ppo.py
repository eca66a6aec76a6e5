"""Proximal policy optimisation: collect a rollout, learn from it several times (Schulman et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from nrm.agents.acting import Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm, OnPolicyConfig, OnPolicyLearner, finite
from nrm.agents.networks import NetworkConfig
from nrm.envs import BatchedEnv
from nrm.machines import Penalties
from nrm.settings import Count
from nrm.tracking import Memory

CLIP_COEF = 0.2
"""How far, as a share, the probability of an action may move in an update before it no longer counts."""


@dataclass(frozen=True)
class PPOConfig(OnPolicyConfig):
    """Proximal policy optimisation."""

    usual: ClassVar = {"num_steps": 32, "ent_coef": 0.02}

    update_epochs: Count = 3
    """Passes over the rollout in each update."""
    minibatch_size: Count = 512
    """Steps in a minibatch. Recurrent memories are replayed, so their minibatches hold whole environments."""
    norm_adv: bool = True
    """Normalise advantages in each minibatch."""

    def learning_rate_at(self, progress: float) -> float:
        """The step size when this share of training is over: it comes down to nothing, in a straight line."""
        return self.learning_rate + min(1.0, progress) * (0.0 - self.learning_rate)


def inverse_weight(progress: float) -> float:
    """The weight of the inverse-dynamics loss when this share of training is over: none after four fifths of it."""
    return max(0.0, 1 - progress / 0.8)


class PPO(OnPolicyLearner):
    """One agent on one batched environment."""

    config: PPOConfig

    def __init__(self, env: BatchedEnv, memory: Memory, config: PPOConfig, network: NetworkConfig, seed: int) -> None:
        super().__init__(env, memory, config, network, seed)
        self._generator = torch.Generator().manual_seed(seed)
        self._penalties = Penalties()

    def learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """Some epochs of minibatches from a rollout. The parts of the loss are means over all of them."""
        config, actor = self.config, self.actor
        weight = self._penalties.weights(rollout.reward, rollout.terminated)
        inverse = inverse_weight(progress)
        prepared = actor.preprocess(rollout, motion=inverse > 0)
        values = rollout.value
        log_probs, _ = actor.head.evaluate(rollout.scores, rollout.action)
        advantage = self.advantage(rollout, rollout.reward * weight, values)
        # What a minibatch takes from: columns like those of the rollout, (time, envs).
        known = torch.stack([log_probs, values, advantage])
        rate, ent_coef = config.learning_rate_at(progress), config.ent_coef_at(progress)
        found = []
        for _ in range(config.update_epochs):
            for part, rows in self._minibatches(prepared, known):
                losses = self._losses(part, *rows)
                policy_loss, value_loss, entropy = losses
                loss = policy_loss + config.vf_coef * value_loss - ent_coef * entropy
                # One in four steps of a minibatch is enough.
                moved = self.actor.inverse_dynamics_loss(part.subsample(4)) if inverse > 0 else None
                self._descent.step(loss if moved is None else loss + inverse * moved, rate)
                found.append(torch.stack(losses).detach())
        actor.updated()
        means = torch.stack(found).mean(0)
        return finite(dict(zip(("actor", "critic", "entropy"), means, strict=True)), rate)

    def _losses(
        self, part: Rollout, log_probs: Tensor, values: Tensor, advantage: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Policy loss, value loss and entropy of a minibatch; the tensors are (time, envs), from before the update."""
        config, actor = self.config, self.actor
        scores, now = actor.evaluate(part)
        chosen, entropies = actor.head.evaluate(scores, part.action)
        returns = values + advantage
        if config.norm_adv and advantage.numel() > 1:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        # Narrow Gaussians can make an action e^100 times as probable, and infinity times nothing is no number.
        ratio = (chosen - log_probs).clamp(max=20.0).exp()
        clipped = ratio.clamp(1 - CLIP_COEF, 1 + CLIP_COEF)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        return policy_loss, (now - returns).square().mean(), entropies.mean()

    def _minibatches(self, rollout: Rollout, known: Tensor) -> Iterator[tuple[Rollout, Tensor]]:
        """Parts of a rollout in a drawn order, each step in one of them, and the same parts of `known` (k, time, envs).

        Steps of a memory that does not learn stand for themselves. One that learns is replayed from its carry at the
        beginning of the rollout, through the whole of it.
        """
        time, envs = rollout.reward.shape
        if self.memory.learns:
            for chosen in self._drawn(envs, max(1, self.config.minibatch_size // time)):
                yield rollout.of(chosen), known.index_select(2, chosen)
        else:
            flat = known.flatten(1)
            for chosen in self._drawn(time * envs, self.config.minibatch_size):
                yield rollout.at(chosen), flat.index_select(1, chosen).unsqueeze(1)

    def _drawn(self, count: int, size: int) -> Iterator[Tensor]:
        """The numbers up to `count` in a drawn order, in parts of about `size` that differ by one at most."""
        order = torch.randperm(count, generator=self._generator)
        yield from order.to(self.actor.device).tensor_split(max(1, round(count / size)))

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "generator": self._generator.get_state(),
            "success": self._penalties.success,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self._generator.set_state(state["generator"])
        self._penalties.success = state["success"]


ALGORITHMS.register(Algorithm("ppo", "PPO", PPOConfig, PPO, images="egocentric", num_envs=64))
