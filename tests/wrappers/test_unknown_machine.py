"""Environments of other libraries with a machine of which nothing is known."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv, TaskEnv
from nrm.errors import EnvError
from nrm.wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper
from tests.wrappers.envs import Silent

TASK = nrm.compile("F(gem & F pickaxe)", MINECRAFT_SYMBOLS)


def task_env() -> TaskEnv[Any, Any]:
    return TaskEnv(MinecraftEnv(size=3, items=["gem@2,0", "pickaxe@0,2"], steps=20), TASK)


def random_episodes(env: Any, count: int) -> None:
    env.action_space.seed(0)
    for _ in range(count):
        env.reset()
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
        env.model.add(env.tracker.take())


@pytest.mark.parametrize("told", [False, True])
def test_a_machine_is_learned_in_a_loop_of_ones_own(told: bool) -> None:
    model = nrm.tracking.unknown_machine(5, symbols=TASK if told else None)
    env = NeuralRewardMachineWrapper(task_env() if told else Silent(task_env()), model)
    assert env.observation_space["belief"].shape == (5,)  # type: ignore[index]
    random_episodes(env, 60)
    assert model.hypothesis.states == 3
    # One that knows the way: its belief is the third state at the end.
    env.reset()
    for action in (
        1,
        1,
        3,
        3,
        2,
        2,
    ):  # right, left and down do not matter in order: what is believed follows potentials
        seen, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    assert float(seen["belief"].sum()) == 1.0


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("told", [False, True])
def test_vectors_learn_one_machine_together(mode: AutoresetMode, told: bool) -> None:
    model = nrm.tracking.unknown_machine(5, symbols=TASK if told else None)
    made: Any = SyncVectorEnv([task_env] * 3, autoreset_mode=mode)
    env = NeuralRewardMachineVectorWrapper(made, model)
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(300):
        env.step(env.action_space.sample())
        if model.add(env.tracker.take()) is not None:
            env.tracker.refresh()
    assert model.hypothesis.states == 3
    guess = nrm.inference.guess_formula(model.hypothesis, model.levels.values)
    assert guess is not None
    assert str(guess.formula) == "F(a & F b)"
    assert env.tracker.beliefs.sum(1).tolist() == [1.0, 1.0, 1.0]


def test_present_episodes_follow_a_new_machine() -> None:
    model = nrm.tracking.unknown_machine(4)
    tracker = nrm.tracking.Tracker(model, 1)
    for observation, reward in ((0.0, 0.0), (1.0, 50.0)):
        tracker.step(np.array([[observation]]), np.array([reward]))
    tracker.restart(np.ones(1, dtype=np.bool_))
    tracker.step(np.array([[1.0]]), np.array([50.0]))
    assert tracker.beliefs.argmax() == 0  # nothing was learned yet
    assert model.add(tracker.take()) is not None
    tracker.refresh()
    assert tracker.beliefs.argmax() == 1


def test_symbols_that_nobody_tells_are_an_error() -> None:
    env = NeuralRewardMachineWrapper(Silent(task_env()), nrm.tracking.unknown_machine(4, symbols=TASK))
    with pytest.raises(EnvError, match=r"symbols.*unknown_machine\(\)"):
        random_episodes(env, 1)


def test_stable_baselines_learn_the_machine_too() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import DummyVecEnv

    from nrm.sb3 import MachineCallback, NeuralRewardMachineVecWrapper

    model = nrm.tracking.unknown_machine(6)
    made: gymnasium.Env[Any, Any] = Silent(task_env())
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([lambda: made]), model, reward_scale=0.01)
    agent = sb3.PPO("MultiInputPolicy", venv, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    agent.learn(1500, callback=MachineCallback(model))
    assert model.hypothesis.states == 3
    assert len(model.versions) >= 1
    with pytest.raises(EnvError, match="one and the same model"):
        agent.learn(1, callback=MachineCallback(nrm.tracking.unknown_machine(6)))
    with pytest.raises(EnvError, match="GroundingCallback"):
        MachineCallback(TASK)  # type: ignore[arg-type]
