"""What a run is: chosen by words, changed by section, written and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from nrm.errors import ConfigError, NrmWarning
from nrm.runs import RunConfig, choose_run
from nrm.runs.choosing import default_sections, env_as_set, read_recipe, recipe_names
from nrm.runs.sections import changed
from nrm.runs.words import Words


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
@pytest.mark.parametrize("env", [{}, {"layout": "episode", "items": ["gem", "lava"]}, {"start": "random"}])
def test_configurations_read_back_equal(method: str, env: dict[str, Any]) -> None:
    chosen = choose_run("F gem", "map", method, 1, settings={"env": env}, recipe="paper")
    assert RunConfig.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen


def test_settings_are_changed_by_section() -> None:
    sections = default_sections(env_as_set("map"), "nrm", "a2c")
    new = changed(sections, {"algorithm": {"learning_rate": 1, "max_grad_norm": "none"}, "env": {"size": [6, 5]}})
    assert (new["algorithm"].learning_rate, new["algorithm"].max_grad_norm) == (1.0, None)
    assert new["env"].shape == (6, 5)
    assert new["grounding"] == sections["grounding"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"algorithm": {"num_stpes": 3}},
            r"unknown setting 'algorithm.num_stpes'; did you mean 'num_steps'\? .*learning_rate",
        ),
        ({"algorithm": {"num_steps": "x"}}, "algorithm.num_steps: expected `int`, got `str`"),
        ({"algorithm": {"num_steps": 2.5}}, "algorithm.num_steps: expected `int`, got `float`"),
        ({"grounding": {"belief": "closed"}}, "grounding.belief: invalid enum value 'closed'"),
        ({"network": {"encoder": 3}}, "network.encoder: expected `str`"),
        ({"grouding": {}}, "unknown section 'grouding'; did you mean 'grounding'"),
        ({"recurrent": {"size": 3}}, "no section 'recurrent', which is for rnn"),
        ({"algorithm": 3}, "'algorithm' is a section of settings, not 3"),
        ({"env": {"size": 0}}, "a grid of 0x0 cells"),
    ],
)
def test_bad_settings(changes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        changed(default_sections(env_as_set("map"), "nrm", "a2c"), changes)


def test_the_paper_recipe_is_the_papers() -> None:
    sections = default_sections(env_as_set("map"), "nrm", "a2c", "paper") | default_sections(
        env_as_set("map"), "rnn", "a2c", "paper"
    )
    algorithm, grounding = sections["algorithm"], sections["grounding"]
    assert (algorithm.learning_rate, algorithm.num_steps) == (4e-4, 5)
    assert (algorithm.vf_coef, algorithm.ent_coef) == (1.6667, 3.3333e-4)
    assert (grounding.every, grounding.epochs, grounding.objective) == (120, 100, "marginal")
    assert sections["recurrent"].size == 50
    assert choose_run("1", recipe="paper").num_envs == 1


def test_unknown_recipes_and_envs() -> None:
    with pytest.raises(ConfigError, match="'paper'"):
        read_recipe("papr")
    with pytest.raises(ConfigError, match=r"'imge'.*'image'.*map, image, image-ep"):
        choose_run("1", "imge")
    with pytest.raises(ConfigError, match=r"episodes.*1,000,000,000,000.*\b0$"):
        choose_run("1", total_episodes=0)


def test_settings_that_are_gone_are_read_and_named_where_they_did_something() -> None:
    config = choose_run(None, "letter", "nrm", tasks="resettable", total_timesteps=10)
    data = json.loads(json.dumps(config.to_json()))
    data["settings"]["tasks"]["teach"] = 0.0
    data["settings"]["family"]["undoing"] = 2
    assert RunConfig.from_json(data) == config
    data["settings"]["algorithm"]["penalised"] = [0.1, 0.5]
    with pytest.warns(NrmWarning, match=r"algorithm\.penalised"):
        assert RunConfig.from_json(data) == config
    gone = {"tasks": {"teach": 0.5}}
    with pytest.warns(NrmWarning, match=r"tasks\.teach"):
        again = choose_run(None, "letter", "nrm", tasks="resettable", total_timesteps=10, settings=gone)
    assert again == config


def test_environments_name_their_recipe_and_others_follow_the_general_one() -> None:
    assert recipe_names() == ["continuous", "flat", "letter-image", "paper", "tasks", "tasks-image", "zones"]
    named = {"map": "tasks", "image": "tasks-image", "letter": "tasks", "letter-image": "letter-image", "flat": "flat"}
    for env, recipe in named.items():
        config = choose_run(None, env, "rm", tasks="reach")
        assert config == choose_run(None, env, "rm", tasks="reach", recipe=recipe)
        assert (config == choose_run(None, env, "rm", tasks="reach", recipe="none")) == (env == "image")
    assert choose_run("1", recipe="none") == choose_run("1")


@pytest.mark.parametrize(
    ("text", "offending"),
    [("num_envs = 0", "0"), ("[algoritm]", "algoritm"), ("algorithm = 3", "3"), ("[algorithm]\ngama = 1", "gama")],
)
def test_recipes_of_users(tmp_path: Path, text: str, offending: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("num_envs = 3\n[algorithm]\ngamma = 0.5\n")
    config = choose_run("1", recipe=str(path), algorithm="ppo")
    assert (config.num_envs, config.settings["algorithm"].gamma) == (3, 0.5)
    path.write_text(text)
    with pytest.raises(ConfigError, match=offending):
        choose_run("1", recipe=str(path))


@pytest.mark.parametrize(
    ("words", "hint", "meant"),
    [
        (["3"], int | tuple[int, int], 3),
        (["3", "4"], int | tuple[int, int], (3, 4)),
        (["random"], tuple[int, int] | Literal["random"], "random"),
        (["a"], tuple[str, ...] | None, ("a",)),
        (["none"], float | None, None),
        (["none"], Literal["none", "success"], "none"),
        ([], bool, True),
        (["false"], bool, False),
        (["x"], int, "x"),
        (["size", "8", "wide", "true"], dict[str, bool | int | str], {"size": 8, "wide": True}),
    ],
)
def test_words_mean_what_the_type_says(words: list[str], hint: Any, meant: Any) -> None:
    found = Words(words).meant(hint)
    assert (tuple(found) if isinstance(found, list) else found) == meant
