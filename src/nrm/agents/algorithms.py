"""Algorithms: how a policy learns from what it did, and what on-policy ones share. Each registers one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from nrm.agents.acting import Actor, Rollout
from nrm.agents.networks import Network, NetworkConfig
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError, TrainingError
from nrm.registry import Registry
from nrm.settings import USUAL, Checked, Count, Positive, Share
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
    """A learning algorithm."""

    name: str
    """Name on the command line and in files."""
    label: str
    """Name for readers."""
    config: type
    """Frozen dataclass of its settings: `--algorithm.learning-rate`."""
    build: Build
    images: str = "standard"
    """Default network for images that cannot be enumerated."""
    num_envs: int = 16
    """Default number of parallel environments."""

    def __post_init__(self) -> None:
        if not is_dataclass(self.config):
            raise ConfigError(f"the config of the algorithm '{self.name}' is no dataclass: {self.config!r}")


ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    tuple(field.name for field in fields(Algorithm) if field.name != "name"),
    {name: f"nrm.agents.{name}" for name in ("a2c", "ppo")},
)


@dataclass(frozen=True)
class OnPolicyConfig(Checked):
    """Settings of every on-policy algorithm."""

    section = "algorithm."

    num_steps: Count = USUAL
    """Steps per environment in each rollout. Default: 5 for A2C, 32 for PPO."""
    learning_rate: Positive = 1e-3
    """Initial learning rate of Adam, for all networks."""
    gamma: Share = 0.97
    """Discount factor."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation; 1 gives n-step returns."""
    vf_coef: float = 0.5
    """Weight of the value loss."""
    ent_coef: float = USUAL
    """Initial weight of the entropy bonus. Default: 0.05 for A2C, 0.02 for PPO."""
    final_ent_coef: float | None = None
    """Final weight of the entropy bonus; it changes linearly. Default: a tenth of the initial one."""
    reward_scale: Positive = 0.01
    """Factor that rewards are multiplied with before learning."""
    max_grad_norm: float | None = 0.5
    """Maximum norm of the gradient."""

    def ent_coef_at(self, progress: float) -> float:
        """The weight of the entropy when this share of training is over."""
        final = self.ent_coef / 10 if self.final_ent_coef is None else self.final_ent_coef
        return self.ent_coef + min(1.0, progress) * (final - self.ent_coef)


class OnPolicyLearner:
    """One agent on one batched environment."""

    def __init__(
        self, env: BatchedEnv, memory: Memory, config: OnPolicyConfig, network: NetworkConfig, seed: int
    ) -> None:
        self.memory, self.config = memory, config
        self.actor = Actor(env, memory, network, config.num_steps, seed)
        self.policy = self.actor.net
        self._descent = Descent(self.actor.parameters, config.learning_rate, config.max_grad_norm)

    def collect(self) -> Rollout:
        return self.actor.collect()

    def advantage(self, rollout: Rollout, rewards: Tensor, values: Tensor) -> Tensor:
        """(time, envs) of a rollout's actions, for rewards and values (time, envs)."""
        following, how = self.actor.next_values(rollout, values), self.config
        ended = rollout.terminated, rollout.truncated
        return advantages(rewards * how.reward_scale, values, following, *ended, how.gamma, how.gae_lambda)

    def weights(self) -> dict[str, Any]:
        """What acting needs: the weights of the networks, and of a memory that learns."""
        state = self.actor.state_dict()
        return {"net": state["net"], "memory": state["memory"]}

    def load_weights(self, weights: dict[str, Any]) -> None:
        self.actor.load_weights(weights)

    def state_dict(self) -> dict[str, Any]:
        return {"actor": self.actor.state_dict(), "optimizer": self._descent.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.actor.load_state_dict(state["actor"])
        self._descent.load_state_dict(state["optimizer"])


def advantages(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    gamma: float,
    gae_lambda: float = 1.0,
) -> Tensor:
    """(time, envs) generalised advantage estimates; `gae_lambda=1` gives n-step returns minus values.

    `values`: V of what each action was taken at; `next_values`: of what it led to, before any reset. A terminated
    episode is worth nothing more; a truncated one is bootstrapped. All inputs are (time, envs) without gradient.
    """
    delta = rewards + gamma * next_values * ~terminated - values
    carried = gamma * gae_lambda * ~(terminated | truncated)
    running = torch.zeros_like(delta[0])
    result = []
    for here, later in zip(reversed(delta.unbind(0)), reversed(carried.unbind(0)), strict=True):
        running = torch.addcmul(here, later, running)
        result.append(running)
    return torch.stack(result[::-1])


class Descent:
    """Adam on some parameters, with gradients that are shortened where they are long.

    Small networks spend more time in calls than on numbers, so parameters and gradients become views of one vector
    each: a step is a handful of calls however many parameters there are. The views must not be replaced.
    """

    def __init__(self, parameters: Sequence[Tensor], learning_rate: float, max_grad_norm: float | None) -> None:
        self._parameters = list(parameters)
        self._gradient_norm = max_grad_norm
        self._values = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in self._parameters]))
        self._gradient = self._values.grad = torch.zeros_like(self._values)
        self._optimizer = torch.optim.Adam([self._values], lr=learning_rate, fused=True)
        views = zip(self._parameters, self._parts(self._values.data), self._parts(self._gradient), strict=True)
        for parameter, value, gradient in views:
            parameter.data, parameter.grad = value, gradient

    def step(self, loss: Tensor, learning_rate: float | None = None) -> None:
        """One step down a loss; `learning_rate`: a new step size."""
        self._gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        if learning_rate is not None:
            self._optimizer.param_groups[0]["lr"] = learning_rate
        with torch.no_grad():
            self._shorten()
        self._optimizer.step()

    def _shorten(self) -> None:
        if self._gradient_norm is None:
            return
        length = float(torch.linalg.vector_norm(self._gradient))
        if not length <= self._gradient_norm:  # what is not a number stays so, and shows in the loss
            self._gradient.mul_(self._gradient_norm / (length + 1e-6))

    def _parts(self, vector: Tensor) -> list[Tensor]:
        """What of a vector belongs to each parameter, as views of their shapes."""
        parts = torch.split(vector, [parameter.numel() for parameter in self._parameters])
        return [part.view(parameter.shape) for part, parameter in zip(parts, self._parameters, strict=True)]

    def state_dict(self) -> list[dict[str, Tensor]]:
        """Steps and moments of every parameter, in order; of the same shapes before the first step."""
        now = self._optimizer.state.get(self._values, {})
        step = now.get("step", torch.tensor(0.0))
        means, squares = (
            self._parts(now.get(name, torch.zeros_like(self._gradient))) for name in ("exp_avg", "exp_avg_sq")
        )
        return [
            {"step": step.clone(), "exp_avg": mean.clone(), "exp_avg_sq": square.clone()}
            for mean, square in zip(means, squares, strict=True)
        ]

    def load_state_dict(self, saved: list[dict[str, Tensor]]) -> None:
        """Go on with saved moments, whose shapes are known to be right: fused Adam trusts what it is given."""
        device = self._values.device
        self._optimizer.state[self._values] = {
            "step": saved[0]["step"].clone().to(device),
            "exp_avg": torch.cat([state["exp_avg"].flatten() for state in saved]).to(device),
            "exp_avg_sq": torch.cat([state["exp_avg_sq"].flatten() for state in saved]).to(device),
        }


def finite(parts: Mapping[str, Tensor], learning_rate: float) -> dict[str, float]:
    """The parts of a loss as numbers, or a `TrainingError` where one is no longer finite."""
    numbers = dict(zip(parts, torch.stack(list(parts.values())).tolist(), strict=True))
    if not all(abs(part) < float("inf") for part in numbers.values()):
        shown = ", ".join(f"{name} {value:g}" for name, value in numbers.items())
        raise TrainingError(
            f"the loss is no longer finite ({shown}); lower learning_rate (now {learning_rate:g}) or max_grad_norm"
        )
    return numbers
