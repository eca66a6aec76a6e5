from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from nrm.envs import MinecraftConfig
from nrm.errors import EnvError


def test_defaults_are_the_papers_env() -> None:
    config = MinecraftConfig()
    assert config.shape == (4, 4)
    assert config.steps == 50
    assert config.start_cell == (0, 0)
    assert dict(config.placements) == {"pickaxe": (1, 1), "gem": (0, 3), "door": (3, 0), "lava": (3, 3)}


def test_items_are_texts() -> None:
    pairs = (("gem", (0, 1)), ("lava", (1, 1)), ("lava", (2, 1)))
    assert MinecraftConfig(items=["gem@0,1", "lava@1,1", "lava@2,1"]).placements == pairs
    drawn = MinecraftConfig(items=["gem", "lava", "lava"], layout="episode")
    assert drawn.placements == (("gem", None), ("lava", None), ("lava", None))
    assert drawn.names == ("gem", "lava")


@pytest.mark.parametrize("config", [MinecraftConfig(), MinecraftConfig(items=["gem@1,2"], size=(5, 3))])
def test_a_configuration_survives_json(config: MinecraftConfig) -> None:
    again = MinecraftConfig(**json.loads(json.dumps(asdict(config))))
    assert again == config
    assert hash(again) == hash(config)


def test_the_default_env_can_change_its_layout() -> None:
    assert replace(MinecraftConfig(), layout="episode").placements[0] == ("pickaxe", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": ["gem@4,0"]}, r"item 'gem' is at \(4, 0\), outside the 4x4 grid"),
        ({"items": ["gem@0,0"]}, r"item 'gem' is on the start \(0, 0\)"),
        ({"items": ["gem@1,1", "door@1,1"]}, r"'gem' and 'door' are both at \(1, 1\)"),
        ({"items": ["gem"]}, "item 'gem' has no cell"),
        ({"items": "gem"}, r"items is .*, not gem"),
        ({"items": ["gem@here"]}, "not 'gem@here'"),
        ({"items": ["@1,1"]}, "not '@1,1'"),
        ({"items": {"gem": (1, 1)}}, r"items is .*, not {'gem'"),
        ({"items": ["gem@0;1"]}, "not 'gem@0;1'"),
        ({"items": [3]}, r"items is .*, not \[3\]"),
        ({"items": ["empty@1,1"]}, "'empty' names something"),
        ({"items": ["gem"] * 16, "layout": "episode"}, "16 items and the start do not fit into 16 cells"),
        ({"items": ["gem@1,1"], "layout": "episode"}, "layout 'episode' has nothing to draw"),
        ({"size": 3}, r"item 'lava' is at \(3, 3\), outside the 3x3 grid"),
        ({"size": 0}, "a grid of 0x0 cells"),
        ({"size": "4"}, r"size is .*, not 4"),
        ({"start": (4, 4)}, r"the start is at \(4, 4\), outside"),
        ({"start": "randon"}, r"start is .*, not randon"),
        ({"layout": "epsiode"}, "unknown layout 'epsiode'; did you mean 'episode'?"),
        ({"observation": "images"}, "unknown observation 'images'; did you mean 'image'?"),
        ({"slip": 1.5}, r"slip is .*, not 1.5"),
        ({"slip": float("nan")}, r"slip is .*, not nan"),
        ({"slip": "much"}, r"slip is .*, not much"),
        ({"steps": 0}, r"steps is .*, not 0"),
        ({"pixels": 7}, "images of 7 pixels"),
        ({"pixels": 100_000}, r"pixels is .*, not 100000"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvError, match=message):
        MinecraftConfig(**options)
