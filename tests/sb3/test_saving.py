"""Agents are saved by Stable-Baselines3, and their models by nrm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv

import nrm
from nrm.neural import NeuralRewardMachine
from nrm.sb3 import (
    BeliefExtractor,
    CounterfactualReplayBuffer,
    GroundingCallback,
    NeuralRewardMachineVecWrapper,
    counterfactual,
)
from tests.wrappers.envs import TASK, task_env, untrained

Kind = tuple[type[BaseAlgorithm], dict[str, Any], bool]
KINDS: list[Kind] = [
    (PPO, {"n_steps": 8, "batch_size": 8}, False),
    (DQN, {"learning_starts": 4}, False),
    (DQN, {"learning_starts": 4}, True),
]


def around(model: NeuralRewardMachine) -> NeuralRewardMachineVecWrapper:
    return NeuralRewardMachineVecWrapper(DummyVecEnv([task_env] * 2), model, reward_scale=0.01)


def actions(agent: BaseAlgorithm, env: Any) -> list[list[int]]:
    env.seed(0)
    seen, done = env.reset(), []
    for _ in range(15):
        chosen, _ = agent.predict(seen, deterministic=True)
        done.append(np.asarray(chosen).tolist())
        seen = env.step(chosen)[0]
    return done


@pytest.mark.parametrize(("algorithm", "options", "imagine"), KINDS)
def test_what_is_loaded_acts_alike_and_goes_on(
    algorithm: Any, options: dict[str, Any], imagine: bool, tmp_path: Path
) -> None:
    model = untrained(3)
    venv = around(model)
    extra = counterfactual(venv, TASK) if imagine else {}
    kwargs = {"features_extractor_class": BeliefExtractor}
    agent = algorithm("MultiInputPolicy", venv, policy_kwargs=kwargs, device="cpu", seed=0, **options, **extra)
    agent.learn(32)
    agent.save(tmp_path / "agent.zip")
    nrm.save_model(tmp_path / "model.pt", model)
    again = nrm.load_model(tmp_path / "model.pt")
    other = around(again)
    extra = counterfactual(other, TASK) if imagine else {}
    loaded = algorithm.load(tmp_path / "agent.zip", env=other, device="cpu", **extra)
    assert actions(loaded, other) == actions(agent, venv)
    if imagine:
        assert isinstance(loaded.replay_buffer, CounterfactualReplayBuffer)
        assert loaded.replay_buffer.model is again
    loaded.learn(32, callback=GroundingCallback(again))
