"""Wrappers whose grounder reads several entries of a Dict observation together, or carries a state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3 import A2C
from stable_baselines3.common.vec_env import DummyVecEnv

from nrm.errors import ConfigError, EnvError, LearningError
from nrm.neural import FitConfig, MlpGrounder, load_model, save_model
from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper, counterfactual
from nrm.wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper, model_for
from tests.wrappers.envs import TASK, InDict, task_env

SPACE = InDict(task_env()).observation_space


def make() -> gymnasium.Env[Any, Any]:
    return InDict(task_env())


def actions(steps: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(0, 4, size=(steps, count))


@pytest.mark.parametrize("grounder", ["auto", "recurrent"])
def test_all_wrappers_believe_alike(grounder: str) -> None:
    model = model_for(SPACE, TASK, grounder=grounder)
    single = [NeuralRewardMachineWrapper(make(), model) for _ in range(2)]
    vector = NeuralRewardMachineVectorWrapper(
        SyncVectorEnv([make] * 2, autoreset_mode=AutoresetMode.SAME_STEP),
        model,
    )
    stacked = NeuralRewardMachineVecWrapper(DummyVecEnv([make] * 2), model)
    for index, env in enumerate(single):
        env.reset(seed=index)
    vector.reset(seed=[0, 1])
    stacked.seed(0)
    stacked.reset()
    for taken in actions(30, 2):
        found = [env.step(action) for env, action in zip(single, taken, strict=True)]
        by_vector, _, _, _, info = vector.step(taken)
        by_stack: Any = stacked.step(taken)
        for index, (observation, _, terminated, truncated, _) in enumerate(found):
            over = terminated or truncated
            wanted = observation["belief"]
            ended: Any = info["final_obs"][index] if over else None
            shown = ended["belief"] if over else by_vector["belief"][index]
            assert np.allclose(shown, wanted, atol=1e-6)
            shown = by_stack[3][index]["terminal_observation"]["belief"] if over else by_stack[0]["belief"][index]
            assert np.allclose(shown, wanted, atol=1e-6)
            if over:  # the vector environments have begun the next episode, from their own randomness
                return
    raise AssertionError("no episode ended")


def test_the_same_place_is_believed_otherwise_after_another_past() -> None:
    """The belief of a recurrent grounder is not that of its last observation; after a reset it is as at first."""
    env = NeuralRewardMachineWrapper(task_env(), model_for(task_env().observation_space, TASK, grounder="recurrent"))
    carries = []
    for _ in range(2):
        env.reset(seed=0)
        assert env.belief.tolist() == [1, 0, 0, 0]
        for action in (0, 1, 0, 1):
            env.step(action)
        carries.append(env.tracker._carry.clone())
    assert torch.equal(carries[0], carries[1])
    assert float(carries[0][:, TASK.states + 1 :].abs().sum()) > 0


def test_entries_are_chosen() -> None:
    env = NeuralRewardMachineWrapper(make(), model_for(SPACE, TASK, reads=("place", "clock")), reads=("place", "clock"))
    env.reset(seed=0)
    env.step(0)
    _, episode, _, _ = env.tracker.recorder.present(0)
    assert episode.shape == (1, 3)
    assert episode[0, -1] == 1
    model = model_for(SPACE, TASK, reads="place")
    assert isinstance(model.grounder, MlpGrounder)
    together: Any = model_for(SPACE, TASK).grounder
    assert together.parts.width == 3


def test_misuse_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'cnn'.*clock 1, place 2.*recurrent, parts"):
        model_for(SPACE, TASK, grounder="cnn")
    one = model_for(SPACE, TASK, reads="place")
    with pytest.raises(EnvError, match=r"clock 1, place 2.*reads="):
        NeuralRewardMachineWrapper(make(), one)
    several = model_for(SPACE, TASK)
    with pytest.raises(EnvError, match="entries clock 1, place 2"):
        NeuralRewardMachineWrapper(make(), several, reads=("place", "clock"))
    with pytest.raises(EnvError, match="entries"):
        NeuralRewardMachineWrapper(make(), several, reads="place")
    with pytest.raises(EnvError, match=r"'plase'.*'place'"):
        model_for(SPACE, TASK, reads=("plase", "clock"))
    with pytest.raises(EnvError, match="names entries of Dict"):
        model_for(spaces.Discrete(3), TASK, reads=("a", "b"))
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([make]), several)
    with pytest.raises(EnvError, match=r"one entry.*clock 1, place 2"):
        counterfactual(venv, TASK)
    remembers = model_for(SPACE, TASK, reads="place", grounder="recurrent")
    with pytest.raises(LearningError, match="GruGrounder names symbols by what an episode"):
        counterfactual(NeuralRewardMachineVecWrapper(DummyVecEnv([make]), remembers, reads="place"), TASK)
    assert counterfactual(NeuralRewardMachineVecWrapper(DummyVecEnv([make]), TASK), TASK)


def test_agents_are_trained_and_saved(tmp_path: Path) -> None:
    reads = ("place", "clock")
    model = model_for(SPACE, TASK, reads=reads, grounder="recurrent")
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([make] * 4), model, reads=reads, reward_scale=0.01)
    agent = A2C("MultiInputPolicy", venv, device="cpu", seed=0)
    callback = GroundingCallback(model, every=10, config=FitConfig(epochs=20), task=TASK)
    agent.learn(400, callback=callback)
    assert callback.accuracy is not None
    assert 0 < callback.accuracy.plain <= 1
    again = load_model(save_model(tmp_path / "model.pt", model))
    assert all(torch.equal(one, other) for one, other in zip(again.parameters(), model.parameters(), strict=True))
