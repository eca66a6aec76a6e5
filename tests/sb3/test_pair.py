"""An agent and its machine in one file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from nrm.errors import ConfigError, EnvError, ModelFileError
from nrm.machines import MooreMachine
from nrm.neural import NeuralRewardMachine
from nrm.sb3 import (
    BeliefExtractor,
    CounterfactualReplayBuffer,
    GroundingCallback,
    NeuralRewardMachineVecWrapper,
    counterfactual,
    load_pair,
    save_pair,
)
from tests.wrappers.envs import TASK, task_env, untrained

KINDS: list[tuple[type[BaseAlgorithm], dict[str, Any], bool]] = [
    (PPO, {"n_steps": 8, "batch_size": 8}, False),
    (A2C, {}, False),
    (DQN, {"learning_starts": 4}, False),
    (DQN, {"learning_starts": 4}, True),
]


def trained(
    algorithm: type[BaseAlgorithm], options: dict[str, Any], model: NeuralRewardMachine | MooreMachine, imagine: bool
) -> BaseAlgorithm:
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([task_env] * 2), model, belief="open-loop", reward_scale=0.01)
    extra = counterfactual(venv, TASK) if imagine else {}
    kwargs = {"features_extractor_class": BeliefExtractor}
    agent = algorithm("MultiInputPolicy", venv, policy_kwargs=kwargs, device="cpu", seed=0, **options, **extra)
    return agent.learn(32)


def actions(agent: BaseAlgorithm, env: Any) -> list[list[int]]:
    env.seed(0)
    seen, done = env.reset(), []
    for _ in range(15):
        chosen, _ = agent.predict(seen, deterministic=True)
        done.append(np.asarray(chosen).tolist())
        seen = env.step(chosen)[0]
    return done


@pytest.mark.parametrize("kind", ["nrm", "rm"])
@pytest.mark.parametrize(("algorithm", "options", "imagine"), KINDS)
def test_what_is_loaded_acts_alike_and_goes_on(
    algorithm: type[BaseAlgorithm], options: dict[str, Any], kind: str, imagine: bool, tmp_path: Path
) -> None:
    model = TASK if kind == "rm" else untrained(3)
    agent = trained(algorithm, options, model, imagine)
    path = save_pair(tmp_path / "pair.zip", agent, model)
    pair = load_pair(path, DummyVecEnv([task_env] * 2), device="cpu")
    assert isinstance(pair.algorithm, algorithm)
    assert isinstance(pair.env, NeuralRewardMachineVecWrapper)
    assert pair.env.model is pair.model
    assert (pair.env.belief, pair.env.reward_scale) == ("open-loop", 0.01)
    if isinstance(model, MooreMachine):
        assert pair.model == model
    else:
        assert isinstance(pair.model, NeuralRewardMachine)
        rows = torch.rand(4, 2)
        assert torch.equal(pair.model.ground(rows), model.ground(rows))
    assert actions(pair.algorithm, pair.env) == actions(agent, agent.get_env())
    if imagine:
        buffer = pair.algorithm.replay_buffer  # type: ignore[attr-defined]
        assert isinstance(buffer, CounterfactualReplayBuffer)
        assert buffer.model is (None if kind == "rm" else pair.model)
    pair.algorithm.learn(32, callback=GroundingCallback(pair.model))
    alone = load_pair(path, device="cpu")
    assert alone.env is None


def test_misuse_is_named(tmp_path: Path) -> None:
    model = untrained()
    agent = trained(A2C, {}, model, False)
    with pytest.raises(EnvError, match="with the model that is saved"):
        save_pair(tmp_path / "pair.zip", agent, untrained())
    assert not (tmp_path / "pair.zip").exists()
    path = save_pair(tmp_path / "pair.zip", agent, model)
    wrapped = agent.get_env()
    assert wrapped is not None
    with pytest.raises(EnvError, match="without the belief"):
        load_pair(path, wrapped)
    with pytest.raises(ModelFileError, match="there is no file"):
        load_pair(tmp_path / "none.zip")
    agent.save(tmp_path / "agent.zip")
    with pytest.raises(ModelFileError, match=r"was it written by save_pair\?"):
        load_pair(tmp_path / "agent.zip")
    (tmp_path / "half.zip").write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ModelFileError, match="damaged"):
        load_pair(tmp_path / "half.zip")
    with zipfile.ZipFile(tmp_path / "new.zip", "w") as archive:
        archive.writestr("pair.json", '{"format": "nrm-sb3-pair", "version": 99}')
        archive.writestr("algorithm.zip", "")
    with pytest.raises(ModelFileError, match=r"version 99 .* update nrm"):
        load_pair(tmp_path / "new.zip")


def test_normalisation_around_the_belief_comes_back(tmp_path: Path) -> None:
    model = untrained(3)

    def around(venv: Any) -> VecNormalize:
        return VecNormalize(venv, norm_obs_keys=["observation"])

    venv = around(NeuralRewardMachineVecWrapper(DummyVecEnv([task_env] * 2), model))
    agent = PPO("MultiInputPolicy", venv, n_steps=16, batch_size=8, device="cpu", seed=0).learn(64)
    path = save_pair(tmp_path / "pair.zip", agent, model)
    pair = load_pair(path, DummyVecEnv([task_env] * 2), device="cpu")
    assert isinstance(pair.env, VecNormalize)
    venv.training = pair.env.training = False
    assert actions(agent, venv) == actions(pair.algorithm, pair.env)
    with pytest.raises(EnvError, match=r"saved with VecNormalize.*load_pair\(path, venv\)"):
        load_pair(path)


def test_arguments_in_the_wrong_order_are_named(tmp_path: Path) -> None:
    model = untrained(3)
    agent = trained(A2C, {}, model, imagine=False)
    with pytest.raises(ConfigError, match="takes an agent second, not NeuralRewardMachine"):
        save_pair(tmp_path / "pair.zip", model, agent)  # type: ignore[arg-type]
