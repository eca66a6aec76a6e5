"""Which algorithm a run learns with, and with how many environments, when nobody says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from gymnasium import spaces

from nrm.agents import A2CConfig, PPOConfig
from nrm.envs import ENVS, Spaces
from nrm.runs import RunConfig, choose_run
from nrm.runs.choosing import env_as_set
from nrm.runs.tasks import OneTask
from nrm.sweeps.grid import Grid


def test_the_kind_of_env_says_which_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert OneTask("").suits(env_as_set("map"), "auto")[0] == "a2c"
    assert OneTask("").suits(env_as_set("map"), "ppo")[0] == "ppo"
    monkeypatch.setattr(ENVS["minecraft"], "algorithm", lambda self: "ppo")
    config = choose_run("1", "map", "rm")
    assert (config.algorithm, config.num_envs) == ("ppo", 64)
    assert config.settings["algorithm"] == PPOConfig()


@pytest.mark.parametrize(
    ("name", "set_as", "tasks"),
    [
        ("image-episode", ("image", {"layout": "episode"}), None),
        ("image-episode", ("map", {"layout": "episode", "observation": "image"}), None),
        ("image", ("image-episode", {"layout": "fixed"}), None),
        ("image", ("map", {"observation": "image"}), "paper"),
        ("letter-image", ("letter", {"observation": "image"}), "reach"),
    ],
)
def test_one_env_by_two_names_is_one_run(name: str, set_as: tuple[str, dict[str, Any]], tasks: str | None) -> None:
    other, settings = set_as
    task = "1" if tasks is None else None
    short = choose_run(task, name, "rm", tasks=tasks)
    long = choose_run(task, other, "rm", tasks=tasks, settings={"env": settings})
    assert replace(long, env=name) == short
    if tasks is None:
        changes = {"env": settings}
        assert [cell.config for cell in Grid(("1",), (other,), ("rm",), settings=changes).cells] == [long]


def test_environments_follow_option_recipe_and_algorithm() -> None:
    assert choose_run("1", algorithm="ppo").num_envs == 64
    assert choose_run("1", algorithm="a2c").num_envs == 16
    assert choose_run("1", algorithm="ppo", num_envs=8).num_envs == 8
    paper = choose_run("1", recipe="paper")
    assert paper.num_envs == 1
    assert paper.settings["algorithm"] == replace(
        A2CConfig(),
        learning_rate=4e-4,
        gamma=0.99,
        gae_lambda=1.0,
        vf_coef=1.6667,
        ent_coef=3.3333e-4,
        final_ent_coef=3.3333e-4,
        reward_scale=1.0,
        max_grad_norm=None,
    )


def test_what_was_chosen_is_saved() -> None:
    config = choose_run("1", "map", "rm", settings={"network": {"encoder": "blind"}})
    data = config.to_json()
    assert isinstance(data, dict)
    assert data["algorithm"] == "a2c"
    assert RunConfig.from_json(data) == config


def _space(observation: spaces.Space[Any], action: spaces.Space[Any] | None = None) -> str:
    env = SimpleNamespace(spaces=lambda: Spaces(observation, action or spaces.Discrete(3)))
    return OneTask("").suits(cast(Any, env), "auto")[0]


def test_spaces_say_which_algorithm_suits() -> None:
    assert _space(spaces.Discrete(100)) == "a2c"
    assert _space(spaces.Box(0, 9, (2,), np.int64)) == "a2c"  # the cells of a grid
    assert (
        _space(spaces.Dict(at=spaces.Discrete(9), has=spaces.MultiBinary(3), on=spaces.MultiDiscrete([2, 3]))) == "a2c"
    )
    assert _space(spaces.Discrete(100), spaces.Box(-1, 1, (1,))) == "ppo"
    assert _space(spaces.Box(-1, 1, (2,))) == "ppo"
    assert _space(spaces.Box(0, 255, (8, 8, 3), np.uint8)) == "ppo"
    assert _space(spaces.Box(0, 99, (2,), np.int64)) == "ppo"
    assert _space(spaces.Dict(bits=spaces.MultiBinary(5000))) == "ppo"
    assert _space(spaces.Dict(at=spaces.Discrete(9), seen=spaces.Box(-1, 1, (2,)))) == "ppo"


def test_an_own_environment_is_asked_for_its_spaces_as_it_is_made() -> None:
    task = "F(mail & X F desk)"
    listed = choose_run(task, "tests.envs.own:Listed", "rm", settings={"env": {"label": "tests.envs.own:holds"}})
    assert (listed.algorithm, listed.num_envs) == ("a2c", 16)
    free = choose_run(task, "tests.envs.own:Listed", "rm", settings={"env": {"kwargs": {"continuous": True}}})
    assert (free.algorithm, free.num_envs) == ("ppo", 64)
    assert free.settings["algorithm"] == PPOConfig(norm_adv=False, ent_coef=0.05)
    assert RunConfig.from_json(free.to_json()) == free
    named = choose_run(
        task, "tests.envs.own:Listed", "rm", algorithm="ppo", settings={"env": {"kwargs": {"continuous": True}}}
    )
    assert named.settings["algorithm"] == PPOConfig()  # who names it gets it as it is


def test_saved_runs_make_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = choose_run("F(mail & X F desk)", "tests.envs.own:Listed", "rm").to_json()

    def refuse(*_: Any) -> Any:
        raise AssertionError("an environment was made")

    monkeypatch.setattr("nrm.envs.gym.config.make_env", refuse)
    assert RunConfig.from_json(saved).algorithm == "a2c"


def test_a_grid_makes_one_environment_to_choose_for_all_of_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, asked = ENVS["gym"], []

    def ask(config: Any) -> Spaces | None:
        asked.append(config)
        return found(config)

    found = kind.spaces
    monkeypatch.setattr(kind, "spaces", ask)
    settings = {"env": {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}}
    variants = {"listed": {}, "free": {"env": {"kwargs": {"continuous": True}}}}
    grid = Grid(
        ("F mail",), ("tests.envs.own:Listed",), ("rm", "memoryless"), (0, 1), settings=settings, variants=variants
    )
    assert Counter((cell.variant, cell.config.algorithm) for cell in grid.cells) == {
        ("listed", "a2c"): 4,
        ("free", "ppo"): 4,
    }
    assert len(asked) == 2
