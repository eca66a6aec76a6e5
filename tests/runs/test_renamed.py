"""Names of the last release are read, with one warning that names the new ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.errors import ConfigError, NrmWarning
from nrm.runs import RunConfig, RunFolder, choose_run, train
from nrm.sweeps.grid_file import grid_from_toml


def old_names(data: dict[str, Any]) -> dict[str, Any]:
    """A config.json as the last release wrote it."""
    old = {"env": "world", "num_envs": "environments", "total_episodes": "episodes", "total_timesteps": "steps"}
    new = {old.get(key, key): value for key, value in data.items()}
    settings = {old.get(key, key): dict(value) for key, value in data["settings"].items()}
    settings["algorithm"]["discount"] = settings["algorithm"].pop("gamma")
    return {**new, "settings": settings}


def test_an_old_configuration_is_the_same_run() -> None:
    config = choose_run("1", total_episodes=30)
    with pytest.warns(NrmWarning) as told:
        assert RunConfig.from_json(old_names(config.to_json())) == config
    assert len(told) == 1
    said = str(told[0].message)
    assert all(name in said for name in ("world is env", "algorithm.discount is algorithm.gamma", "total_episodes"))


def test_an_old_run_goes_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(choose_run("1", method="rm", total_episodes=40, num_envs=4))
    trainer = folder.load()
    train(folder, trainer, interrupted=lambda: trainer.progress > 0.4)
    path = folder.path / "config.json"
    path.write_text(json.dumps(old_names(json.loads(path.read_text()))))
    checkpoint = folder.path / "checkpoint.pt"
    state = torch.load(checkpoint, weights_only=True)
    actor = state["trainer"]["learner"]["actor"]
    actor["world"] = actor.pop("env")
    torch.save(state, checkpoint)
    with pytest.warns(NrmWarning, match="gamma"):
        again = folder.load()
    assert again.steps == trainer.steps
    train(folder, again)
    assert again.done


def test_an_old_grid_file_is_the_same_grid() -> None:
    new = """tasks = [1]
envs = ["map"]
methods = ["rm"]
total_episodes = 20
[settings.env]
slip = 0.1
[settings.algorithm]
gamma = 0.5
[variants.a]
env.start = "random"
"""
    old = new.replace("envs", "worlds").replace("env", "world").replace("total_", "").replace("gamma", "discount")
    with pytest.warns(NrmWarning) as told:
        found = grid_from_toml(old)
    assert "worlds is envs now" in str(told[0].message)
    assert [cell.config for cell in found.cells] == [cell.config for cell in grid_from_toml(new).cells]


def test_both_names_are_too_many() -> None:
    with pytest.raises(ConfigError, match="discount"):
        choose_run("1", settings={"algorithm": {"discount": 0.5, "gamma": 0.5}})
