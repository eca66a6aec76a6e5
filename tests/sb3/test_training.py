"""Training with Stable-Baselines3: each algorithm learns, with and without labels."""

from __future__ import annotations

from typing import Any

import pytest
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv
from nrm.sb3 import BeliefExtractor, GroundingCallback, NeuralRewardMachineVecWrapper
from nrm.wrappers import model_for
from tests.wrappers.envs import Silent

EASY = nrm.compile("F(gem & F pickaxe)", MINECRAFT_SYMBOLS)
"""It takes a memory: beside the pickaxe, what to do depends on whether the gem was visited."""
COMMON: dict[str, Any] = {
    "gamma": 0.9,
    "seed": 0,
    "device": "cpu",
    "policy_kwargs": {"features_extractor_class": BeliefExtractor, "net_arch": [64]},
}
ALGORITHMS: dict[str, tuple[type[BaseAlgorithm], int, dict[str, Any]]] = {
    "PPO": (PPO, 6500, {"learning_rate": 1e-3, "n_steps": 32, "batch_size": 128, "n_epochs": 6, "ent_coef": 0.01}),
    "A2C": (A2C, 10_000, {"learning_rate": 3e-3, "n_steps": 8, "ent_coef": 0.01, "use_rms_prop": False}),
    "DQN": (
        DQN,
        5000,
        {
            "learning_rate": 1e-3,
            "learning_starts": 300,
            "exploration_fraction": 0.4,
            "target_update_interval": 200,
            "train_freq": 1,
        },
    ),
}
"""Name: the class, the steps that it needs here, and its settings."""


def easy_env(told: bool) -> Any:
    env: Any = nrm.TaskEnv(MinecraftEnv(steps=30), EASY)
    return env if told else Silent(env)


@pytest.mark.parametrize(("name", "kind"), [("PPO", "rm"), *((name, "nrm") for name in ALGORITHMS)])
def test_it_learns(name: str, kind: str) -> None:
    model = EASY if kind == "rm" else model_for(easy_env(True).observation_space, EASY)
    envs = DummyVecEnv([lambda: easy_env(kind == "rm")] * 8)
    # Open loop: the potentials of this task tell the state, and the grounder would not be needed.
    venv = NeuralRewardMachineVecWrapper(envs, model, belief="open-loop", reward_scale=0.01)
    algorithm, steps, options = ALGORITHMS[name]
    agent = algorithm("MultiInputPolicy", venv, **COMMON, **options)
    callback = GroundingCallback(model, every=40)
    agent.learn(steps, callback=callback)
    if kind == "nrm":
        assert callback.updates[0].record is not None
        assert callback.updates[0].explained == 0
        assert callback.updates[-1].explained > 0.8
    else:
        assert callback.updates == []
    returns, _ = evaluate_policy(agent, venv, n_eval_episodes=16, warn=False, return_episode_rewards=True)
    assert returns == pytest.approx([1.0] * 16)
