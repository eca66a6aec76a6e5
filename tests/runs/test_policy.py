"""Policies act as their runs do, from a small file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nrm
from nrm.agents import Agent, Policy, evaluate, film, new_trainer
from nrm.envs import GymVectorEnv, TaskEnv
from nrm.errors import ConfigError, EnvError, FileError, NrmError, NrmWarning
from nrm.runs import LoadedRun, RunFolder
from nrm.runs.checkpoint import save_policy
from tests.agents.test_dict_observations import TASK, Row
from tests.results.folders import many_run, run

METHODS = ("rm", "nrm", "rnn", "memoryless", "automata-learning", "pure-learning")


@pytest.fixture(scope="module", params=METHODS)
def single(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("single") / request.param, request.param)


def stepped(loaded: LoadedRun, task: str | None, machine: nrm.MooreMachine, greedy: bool) -> list[int]:
    """The actions of an episode in which a policy is stepped by hand."""
    env: Any = loaded.config.env_config.render(machine, "ansi", loaded.config.end)
    observation, info = env.reset(seed=3)
    loaded.policy.reset(task, seed=3)
    actions, over = [], False
    while not over:
        actions.append(loaded.policy.act(observation, labels=info.get("labels"), greedy=greedy))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        over = terminated or truncated
    return actions


@pytest.mark.parametrize("greedy", [False, True])
def test_a_policy_acts_as_its_run_does(single: Path, greedy: bool) -> None:
    loaded = nrm.load_run(single)
    machine = loaded.trainer.env.machine
    env = loaded.config.env_config.render(machine, "ansi", loaded.config.end)
    shots = film(RunFolder(single).load("cpu"), env, 3, greedy)
    assert stepped(loaded, None, machine, greedy) == [int(shot.played.action[0]) for shot in shots]


def test_images_are_read_as_they_are_shown(tmp_path: Path) -> None:
    test_a_policy_acts_as_its_run_does(run(tmp_path / "image", "nrm", env="image", episodes=8), False)


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_entries_of_dict_observations_are_read_together(method: str) -> None:
    trainer = new_trainer(GymVectorEnv.of(lambda: TaskEnv(Row(), TASK), 2), method, episodes=4)
    trainer.run()
    policy, env = Policy(trainer), TaskEnv(Row(), TASK)
    played = [int(shot.played.action[0]) for shot in film(trainer, TaskEnv(Row(), TASK), 3, False)]
    observation, info = env.reset(seed=3)
    policy.reset(seed=3)
    for action in played:
        assert policy.act(observation, labels=info["labels"]) == action
        observation, _, _, _, info = env.step(action)


def test_weights_alone_evaluate_as_the_checkpoint_does(single: Path) -> None:
    folder, found = RunFolder(single), nrm.evaluate(single, episodes=20, seed=5)
    whole = folder.load("cpu")
    assert found == evaluate(whole, folder.config().build_env(16), 20, 5, greedy=False)
    loaded = folder.load_policy()
    assert (loaded.steps, loaded.history.returns) == (whole.steps, whole.history.returns)
    assert loaded.done


def test_weights_need_no_checkpoint_and_are_small(single: Path, tmp_path: Path) -> None:
    for name in ("config.json", "versions.json", "policy.safetensors"):
        (tmp_path / name).write_bytes((single / name).read_bytes())
    assert nrm.evaluate(tmp_path, episodes=3, seed=1) == nrm.evaluate(single, episodes=3, seed=1)
    assert (single / "policy.safetensors").stat().st_size < 3e6


@pytest.fixture(scope="module", params=("rm", "nrm", "rnn"))
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_run(tmp_path_factory.mktemp("many") / request.param, request.param)


def test_a_policy_of_many_tasks_takes_a_task(many: Path) -> None:
    loaded, task = nrm.load_run(many), "F(a & F b)"
    machine = loaded.config.task_named(task).machine()
    env = loaded.config.env_config.render(machine, "ansi", loaded.config.end)
    executed = Agent(RunFolder(many).load("cpu")).execute(machine, env, seed=3)  # until it believes to be done
    assert tuple(stepped(loaded, task, machine, False)[: executed.steps]) == executed.actions
    with pytest.raises(ConfigError, match="many tasks"):
        loaded.policy.reset()
    found = nrm.evaluate(loaded, task=task, episodes=6)
    assert (found.episodes, [one.name for one in found.by_task]) == (6, [task])
    assert len(nrm.evaluate(loaded, episodes=30).by_task) > 1


def test_what_a_policy_refuses(single: Path) -> None:
    loaded = nrm.load_run(single)
    policy = loaded.policy
    shown = np.zeros(loaded.trainer.env.shape, dtype=np.float32)
    with pytest.raises(EnvError, match="reset"):
        policy.act(shown)
    with pytest.raises(ConfigError, match="F gem"):
        policy.reset("F gem")
    with pytest.raises(ConfigError, match="F gem"):
        nrm.evaluate(loaded, task="F gem")
    policy.reset()
    with pytest.raises(EnvError, match=r"\(7,\)"):
        policy.act(np.zeros(7))
    policy.act(shown)
    if single.name in ("rm", "automata-learning"):
        with pytest.raises(EnvError, match="labels"):
            policy.act(shown)
        with pytest.raises(NrmError, match="nonsense"):
            policy.act(shown, labels="nonsense")


def test_weights_that_are_damaged_or_old(tmp_path: Path) -> None:
    folder = RunFolder(run(tmp_path / "a", "rm"))
    path = folder.path / "policy.safetensors"
    path.write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"policy\.safetensors"):
        folder.load_policy()
    (folder.path / "checkpoint.pt").touch()  # a later checkpoint counts
    assert folder.load_policy().done
    path.unlink()
    whole = folder.load_policy()
    assert whole.done
    save_policy(path, whole)
    (folder.path / "checkpoint.pt").write_bytes(b"damaged")
    os.utime(path, (0, 0))
    with pytest.warns(NrmWarning, match=r"checkpoint\.pt"):
        assert folder.load_policy().done


def test_continuous_actions_fit_the_space(tmp_path: Path) -> None:
    settings = {"env": {"steps": 20}, "tasks": {"count": 4}}
    config = nrm.choose_run(None, "flat", "rm", tasks="reach", total_timesteps=64, num_envs=2, settings=settings)
    folder = RunFolder(tmp_path / "flat")
    folder.begin(config)
    nrm.train(folder, folder.load())
    pool = config.pool
    assert pool is not None
    env: Any = config.env_config.render(pool.machines[0], "rgb_array", config.end)
    observation, info = env.reset(seed=0)
    policy = nrm.load_run(folder.path).policy
    policy.reset(pool.names[0])
    for _ in range(3):
        action = policy.act(observation, labels=info.get("labels"))
        assert env.action_space.contains(action)
        observation, _, _, _, info = env.step(action)
