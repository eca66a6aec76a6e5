"""One agent of Stable-Baselines3 for many tasks, which satisfies a formula that it has never seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

import nrm
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.machines import TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.samplers import sample_tasks
from nrm.sb3 import (
    BeliefExtractor,
    GroundingCallback,
    NeuralRewardMachineVecWrapper,
    model_for,
)

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "steps": 10}
ALPHABET = LetterConfig(**SMALL).alphabet
POOL = sample_tasks("reach-avoid", ALPHABET, 12, 0)
UNSEEN = "F(c & F(b & F a))"


def num_envs(pool: TaskSet, count: int = 16) -> DummyVecEnv:
    return DummyVecEnv([lambda: nrm.TaskEnv(LetterEnv(**SMALL), pool)] * count)


def new_agent(env: NeuralRewardMachineVecWrapper) -> PPO:
    extractor = {"features_extractor_class": BeliefExtractor, "net_arch": [64, 64]}
    sizes: dict[str, Any] = {"n_steps": 32, "batch_size": 128, "n_epochs": 4, "gamma": 0.95, "learning_rate": 2e-3}
    return PPO("MultiInputPolicy", env, seed=0, device="cpu", policy_kwargs=extractor, **sizes)


def success(agent: PPO, model: NeuralRewardMachine | TaskSet) -> float:
    """How often an agent carries the unseen formula out, with no reward read."""
    tasks = TaskSet.of([UNSEEN], ALPHABET)
    assert tasks.machines[0] not in POOL.machines
    known = tasks if isinstance(model, TaskSet) else NeuralRewardMachine(model.grounder, tasks)
    env = NeuralRewardMachineVecWrapper(num_envs(tasks), known, belief="open-loop", record=False)
    env.seed(11)
    torch.manual_seed(11)
    returns, _ = evaluate_policy(agent, env, 64, deterministic=False, warn=False, return_episode_rewards=True)
    return float(np.mean(np.asarray(returns) > 99.0))


@pytest.mark.parametrize("kind", ["rm", "nrm"])
def test_a_tiny_family_is_learned_and_an_unseen_formula_satisfied(kind: str) -> None:
    envs = num_envs(POOL)
    model = POOL if kind == "rm" else model_for(envs.observation_space, POOL)
    agent = new_agent(NeuralRewardMachineVecWrapper(envs, model, reward_scale=0.01))
    before = success(agent, model)
    callback = GroundingCallback(model, every=60, task=POOL)
    agent.learn(16_000, callback=callback)
    assert success(agent, model) > before + 0.2
    if kind == "nrm":
        assert callback.accuracy is not None
        assert callback.accuracy.plain == 1.0


def test_environments_in_other_processes_and_other_wrappers_tell_their_tasks() -> None:
    makers: list[Any] = [lambda: nrm.TaskEnv(LetterEnv(**SMALL), POOL)] * 2
    there = NeuralRewardMachineVecWrapper(VecMonitor(SubprocVecEnv(makers, start_method="fork")), POOL)
    here = NeuralRewardMachineVecWrapper(DummyVecEnv(makers), POOL)
    for env in (there, here):
        env.seed(3)
        env.reset()
    for actions in np.random.default_rng(0).integers(0, 4, (40, 2)):
        distant, near = (env.step(actions)[0] for env in (there, here))
        assert isinstance(distant, dict)
        assert isinstance(near, dict)
        assert (distant["task"] == near["task"]).all()
    there.close()
