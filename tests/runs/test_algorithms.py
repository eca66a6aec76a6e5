"""Which algorithm a run learns with, and with how many environments, when nobody says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nrm.agents.a2c import A2CConfig
from nrm.agents.ppo import PPOConfig
from nrm.envs import WORLDS
from nrm.runs import RunConfig, choose_run
from nrm.runs.sections import algorithm_for


def test_the_kind_of_world_says_which_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert algorithm_for("map", "auto") == "a2c"
    assert algorithm_for("map", "ppo") == "ppo"
    kind = WORLDS["minecraft"]
    monkeypatch.setitem(WORLDS._values, "minecraft", replace(kind, algorithm="ppo"))
    config = choose_run("1", "map", "rm")
    assert (config.algorithm, config.environments) == ("ppo", 64)
    assert config.settings["algorithm"] == PPOConfig()


def test_environments_follow_option_preset_and_algorithm() -> None:
    assert choose_run("1", algorithm="ppo").environments == 64
    assert choose_run("1", algorithm="a2c").environments == 16
    assert choose_run("1", algorithm="ppo", environments=8).environments == 8
    paper = choose_run("1", preset_name="paper")
    assert paper.environments == 1
    assert paper.settings["algorithm"] == replace(
        A2CConfig(),
        learning_rate=4e-4,
        discount=0.99,
        gae=1.0,
        actor_weight=0.3,
        entropy_weight=1e-4,
        final_entropy_weight=1e-4,
        reward_scale=1.0,
        gradient_norm=None,
    )


def test_what_was_chosen_is_saved() -> None:
    config = choose_run("1", "map", "rm", settings={"network": {"encoder": "blind"}})
    data = config.to_json()
    assert isinstance(data, dict)
    assert data["algorithm"] == "a2c"
    assert RunConfig.from_json(data) == config
