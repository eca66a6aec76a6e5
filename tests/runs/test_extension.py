"""Runs that are trained for longer than they were made for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nrm.errors import ConfigError, FileError
from nrm.results.groups import group_runs
from nrm.results.records import read_records
from nrm.runs import RunConfig, RunFolder, choose_run, train
from nrm.runs.config import extended


def _trained(path: Path, config: RunConfig) -> RunFolder:
    folder = RunFolder(path)
    folder.begin(config)
    assert train(folder, folder.load())
    return folder


def _ppo(steps: int) -> RunConfig:
    settings = {"algorithm": {"num_steps": 8, "minibatch_size": 16}}
    return choose_run("1", "map", "rm", 3, algorithm="ppo", total_timesteps=steps, num_envs=4, settings=settings)


def test_a_finished_run_goes_on(tmp_path: Path) -> None:
    folder = _trained(tmp_path / "run", _ppo(640))
    first = (folder.path / "metrics.csv").read_text()
    shutil.copytree(folder.path, tmp_path / "parts")
    folder.extend(total_timesteps=1280)
    trainer = folder.load()
    assert (trainer.steps, trainer.progress) == (640, 0.5)  # so that the step size is half of what it was at first
    assert train(folder, trainer)
    longer = (folder.path / "metrics.csv").read_text()
    assert longer.startswith(first)
    assert trainer.steps == 1280
    assert folder.config().extended == (640,)

    parts = RunFolder(tmp_path / "parts")
    parts.extend(total_timesteps=1280)
    countdown = iter([False] * 5 + [True])
    assert not train(parts, parts.load(), interrupted=lambda: next(countdown))
    assert train(parts, parts.load())
    assert (parts.path / "metrics.csv").read_text() == longer


def test_a_run_that_cannot_go_on_keeps_its_length(tmp_path: Path) -> None:
    folder = _trained(tmp_path / "run", _ppo(320))
    (folder.path / "checkpoint.pt").write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"checkpoint\.pt"):
        folder.extend(total_timesteps=640)
    assert folder.config() == _ppo(320)


def test_it_is_not_mixed_up_with_a_run_of_that_length(tmp_path: Path) -> None:
    folder = _trained(tmp_path / "extended", _ppo(320))
    folder.extend(total_timesteps=640)
    assert train(folder, folder.load())
    _trained(tmp_path / "whole", _ppo(640))
    groups = group_runs(read_records(tmp_path)[0]).groups
    assert [len(group.records) for group in groups] == [1, 1]
    assert {group.variant for group in groups} == {"", "extended=320"}


def test_runs_that_were_never_extended_say_nothing_of_it() -> None:
    config = choose_run("1", total_episodes=60)
    assert "extended" not in json.dumps(config.to_json())
    assert RunConfig.from_json(config.to_json()) == config
    longer = extended(extended(config, total_episodes=80), total_episodes=100)
    assert (longer.total_episodes, longer.extended) == (100, (60, 80))
    assert RunConfig.from_json(json.loads(json.dumps(longer.to_json()))) == longer


def test_lengths_that_are_no_extension_are_refused(tmp_path: Path) -> None:
    config = choose_run("1", total_episodes=60)
    assert extended(config) == config
    with pytest.raises(ConfigError, match=r"60 episodes.*--total-episodes 120"):
        extended(config, total_episodes=60)
    with pytest.raises(ConfigError, match="--total-episodes"):
        extended(config, total_timesteps=6000)
    with pytest.raises(ConfigError, match="--total-timesteps N"):
        extended(_ppo(640), total_episodes=100)
    env = {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}
    unseeded = choose_run("F mail", "tests.envs.own:Unseeded", "rm", total_episodes=20, settings={"env": env})
    folder = RunFolder(tmp_path / "run")
    folder.begin(unseeded)
    with pytest.raises(ConfigError, match=r"environment.*seed"):
        folder.extend(total_episodes=40)
    assert folder.config() == unseeded
