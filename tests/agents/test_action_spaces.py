"""Agents with continuous actions and with several choices at once: solved, resumed exactly, evaluated both ways."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

import nrm
from nrm.agents import METHODS, Trainer, evaluate, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.agents.ppo import PPOConfig
from nrm.envs import GymVectorEnv, TaskEnv
from nrm.tracking import GroundingConfig

UNAIDED = [name for name in METHODS if name not in ("naive", "independent-belief")]
"""Methods that need no detector."""

MACHINE = nrm.compile("F(left & F right)", ["left", "right", "middle"])
CONFIGS: dict[str, Any] = {
    "ppo": PPOConfig(num_steps=16, minibatch_size=64, learning_rate=3e-3),
    "a2c": A2CConfig(learning_rate=3e-3),
}


class Line(gymnasium.Env[Any, Any]):
    """A point between -1 and 1 that moves by its action, or by one of two numbers of a pair of choices."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, continuous: bool) -> None:
        self._continuous = continuous
        self.action_space = spaces.Box(-0.5, 0.5, (1,)) if continuous else spaces.MultiDiscrete([2, 2])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._place, self._time = float(self.np_random.uniform(-0.3, 0.3)), 0
        return self._seen()

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        moved = float(action[0]) if self._continuous else (0.5 if action[0] else -0.5) * float(action[1])
        self._place = float(np.clip(self._place + moved, -1, 1))
        self._time += 1
        seen, info = self._seen()
        return seen, 0.0, False, self._time >= 20, info

    def _seen(self) -> Any:
        name = "left" if self._place < -0.7 else "right" if self._place > 0.7 else "middle"
        return np.array([self._place], dtype=np.float32), {"labels": [name]}


def trainer(continuous: bool, method: str, algorithm: str, episodes: int, seed: int = 0) -> Trainer:
    env = GymVectorEnv.of(lambda: TaskEnv(Line(continuous), MACHINE), 8)
    settings = {"algorithm": CONFIGS[algorithm], "grounding": GroundingConfig(every=30, epochs=60)}
    return new_trainer(env, method, algorithm, episodes=episodes, seed=seed, settings=settings)


def noise_of(made: Trainer) -> torch.Tensor:
    """(time, envs, numbers) the noise that the actions of a rollout were sampled with."""
    rollout = made.learner.collect()
    actor: Any = made.learner.actor  # type: ignore[attr-defined]
    mean, log_std = rollout.scores.chunk(2, -1)
    action = (rollout.action - actor.head._centre) / actor.head._half
    noise: torch.Tensor = (action.clamp(-0.999, 0.999).atanh() - mean) / log_std.exp()
    return noise


def test_continuous_actions_keep_their_noise_for_some_steps() -> None:
    noise = noise_of(trainer(True, "rm", "ppo", 45)).view(2, 8, 8)
    torch.testing.assert_close(noise, noise[:, :1].expand_as(noise), rtol=0, atol=1e-3)
    assert not torch.isclose(noise[0, 0], noise[1, 0], atol=1e-2).any()


@pytest.mark.parametrize("algorithm", CONFIGS)
@pytest.mark.parametrize("continuous", [True, False])
def test_a_line_is_walked_to_both_ends(continuous: bool, algorithm: str) -> None:
    made = trainer(continuous, "rm", algorithm, 500)
    made.run()
    assert made.history.mean_return() > 90
    env = GymVectorEnv.of(lambda: TaskEnv(Line(continuous), MACHINE), 4)
    for greedy in (True, False):
        assert evaluate(made, env, 20, seed=9, greedy=greedy).mean_return > 85


@pytest.mark.parametrize("method", UNAIDED)
@pytest.mark.parametrize("continuous", [True, False])
def test_every_method_goes_on_exactly(continuous: bool, method: str) -> None:
    algorithm = "ppo" if continuous else "a2c"
    whole, half, resumed = (trainer(continuous, method, algorithm, 45) for _ in range(3))
    whole.run()
    while half.updates < whole.updates // 2:
        half.update()
    resumed.load_state_dict(half.state_dict())
    assert resumed.run() == whole.history
    assert all(torch.isfinite(parameter).all() for parameter in whole.learner.actor.parameters)  # type: ignore[attr-defined]
