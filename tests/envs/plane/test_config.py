"""What an environment of discs can be made of, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nrm.envs import PlaneConfig, find_env
from nrm.envs.plane import FLAT, ROBOT, Disc
from nrm.errors import EnvError


def test_discs_are_texts() -> None:
    texts = PlaneConfig(discs=["a@0,0.5,0.25", "a@0,-0.5,0.25", "b@0.5,0,0.1"])
    assert texts.names == ("a", "b")
    assert texts.alphabet.symbols == ("a", "b", "empty")
    assert texts.placed[1] == Disc("a", 0.0, -0.5, 0.25)


def test_the_envs_by_name() -> None:
    assert find_env("robot") == ROBOT == PlaneConfig()
    assert find_env("flat") == FLAT
    assert ROBOT.overlap is None
    assert FLAT.overlap is not None
    assert len(FLAT.placed) == 9
    assert FLAT.names == ("red", "magenta", "yellow", "orange", "blue", "green", "aqua")
    assert FLAT.task("F(red & magenta)").alphabet.size == 13
    assert ROBOT.task("F red").alphabet.symbols == ("red", "green", "blue", "empty")
    assert [config.title() for config in (ROBOT, FLAT, replace(FLAT, observation="lidar"))] == [
        "robot",
        "flat",
        "flat-lidar",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discs": "red@0,0,1"}, r"discs is .*, not red@0,0,1"),
        ({"discs": ()}, "at least one"),
        ({"discs": ("red@0,0",)}, "name@x,y,radius.*not 'red@0,0'"),
        ({"discs": ("red@0,0,x",)}, "not 'red@0,0,x'"),
        ({"discs": ("@0,0,1",)}, "not '@0,0,1'"),
        ({"discs": ["red@0,0,-1"]}, "radius of the disc 'red' must be positive, not -1"),
        ({"discs": ["red@0,0,nan"]}, "not 'red@0,0,nan'"),
        ({"discs": [3]}, r"discs is .*, not \[3\]"),
        ({"steps": 0}, r"steps is .*, not 0"),
        ({"actions": "continous"}, "unknown actions 'continous'; did you mean 'continuous'"),
        ({"observation": "image"}, "unknown observation 'image'"),
        ({"empty": "red"}, "'red' names something"),
        ({"discs": ("a@0,0,0.5", "b@0.6,0,0.2")}, r"a@0,0,0.5 and b@0.6,0,0.2 overlap.*empty=None"),
    ],
)
def test_what_makes_no_env_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvError, match=message):
        PlaneConfig(**options)
