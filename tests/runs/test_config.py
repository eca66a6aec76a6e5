"""What a run is: chosen by words, changed by section, written and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nrm.errors import ConfigError
from nrm.runs import RunConfig, choose_run
from nrm.runs.sections import changed, default_sections, preset


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
@pytest.mark.parametrize("env", [{}, {"layout": "episode", "items": ["gem", "lava"]}, {"start": "random"}])
def test_configurations_read_back_equal(method: str, env: dict[str, Any]) -> None:
    chosen = choose_run("F gem", "map", method, 1, settings={"env": env}, preset_name="paper")
    assert RunConfig.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen


def test_settings_are_changed_by_section() -> None:
    sections = default_sections("map", "nrm", "a2c")
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
        ({"network": {"normalise": "maybe"}}, "network.normalise: expected `bool`"),
        ({"grouding": {}}, "unknown section 'grouding'; did you mean 'grounding'"),
        ({"recurrent": {"size": 3}}, "the section 'recurrent' is for the method rnn, which is not the one of this run"),
        ({"algorithm": 3}, "'algorithm' is a section of settings, not 3"),
        ({"env": {"size": 0}}, "a grid of 0x0 cells"),
    ],
)
def test_bad_settings(changes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        changed(default_sections("map", "nrm", "a2c"), changes)


def test_the_paper_preset_is_the_papers() -> None:
    sections = default_sections("map", "nrm", "a2c", "paper") | default_sections("map", "rnn", "a2c", "paper")
    algorithm, grounding = sections["algorithm"], sections["grounding"]
    assert (algorithm.learning_rate, algorithm.num_steps) == (4e-4, 5)
    assert (algorithm.actor_coef, algorithm.vf_coef, algorithm.ent_coef) == (0.3, 0.5, 1e-4)
    assert (grounding.every, grounding.epochs, grounding.objective) == (120, 100, "marginal")
    assert (sections["network"].hidden, sections["recurrent"].size, sections["recurrent"].layers) == (120, 50, 2)
    assert choose_run("1", preset_name="paper").num_envs == 1


def test_unknown_presets_and_envs() -> None:
    with pytest.raises(ConfigError, match="did you mean 'paper'"):
        preset("papr")
    with pytest.raises(ConfigError, match=r"'imge'; did you mean 'image'\? \(environments: map, image, image-ep"):
        choose_run("1", "imge")
    with pytest.raises(ConfigError, match="episodes must be at least 1, not 0"):
        choose_run("1", total_episodes=0)


def test_settings_that_are_gone_are_read_where_they_did_nothing() -> None:
    config = choose_run(None, "letter", "nrm", tasks="resettable", total_timesteps=10)
    data = json.loads(json.dumps(config.to_json()))
    data["settings"]["tasks"]["teach"] = 0.0
    data["settings"]["family"]["undoing"] = 2
    data["settings"]["algorithm"]["penalised"] = [0.1, 0.5]
    assert RunConfig.from_json(data) == config
    data["settings"]["tasks"]["teach"] = 0.5
    with pytest.raises(ConfigError, match=r"tasks\.teach"):
        RunConfig.from_json(data)
