"""The environment for Gymnasium: its rules, labels and pictures."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nrm.envs.plane import FLAT, PlaneEnv
from nrm.envs.plane.env import COLOURS, FLOOR, ROBOT
from nrm.errors import EnvError
from tests.envs.plane.planes import plane
from tests.envs.plane.test_batched import CONFIGS


@pytest.mark.parametrize("actions", ["discrete", "continuous"])
@pytest.mark.parametrize("name", CONFIGS)
def test_gymnasium_approves(name: str, actions: str) -> None:
    made = plane(**{**CONFIGS[name], "actions": actions})
    env = gymnasium.make("nrm/Plane-v0", config=made, render_mode="rgb_array")
    check_env(env.unwrapped)


def test_it_moves_labels_and_is_truncated() -> None:
    env = PlaneEnv(plane(start=(-0.5, -0.2), steps=3))
    observation, info = env.reset(seed=0)
    assert observation.tolist() == pytest.approx([-0.5, -0.2])
    assert info == {"labels": ("empty",)}
    steps = [env.step(action) for action in (2, 2, 6)]
    assert [step[1:4] for step in steps] == [(0.0, False, False), (0.0, False, False), (0.0, False, True)]
    assert [step[4]["labels"] for step in steps] == [("red",), ("red",), ("red",)]
    assert steps[1][0].tolist() == pytest.approx([-0.5, 0.0], abs=1e-6)


def test_continuous_moves_are_measured_in_steps() -> None:
    env = PlaneEnv(plane(actions="continuous", start=(0.0, 0.0)))
    env.reset(seed=0)
    assert env.step(np.array([0.5, -1.0], dtype=np.float32))[0].tolist() == pytest.approx([0.05, -0.1], abs=1e-6)
    for wrong in (np.array([1.5, 0.0]), np.array([np.nan, 0.0]), np.zeros(3), 2):
        with pytest.raises(EnvError, match=r"step 2.*-1 to 1"):
            env.step(wrong)


def test_several_discs_hold_at_once() -> None:
    env = PlaneEnv(plane(FLAT, start=(0.7, 0.3)))
    env.reset(seed=0)
    assert env.step(8)[4]["labels"] == ("blue", "green", "aqua")


def test_equal_seeds_give_equal_episodes_and_episodes_differ() -> None:
    def starts(seed: int) -> list[Any]:
        env = PlaneEnv()
        return [env.reset(seed=seed if episode == 0 else None)[0].tolist() for episode in range(4)]

    assert starts(1) == starts(1)
    assert len({tuple(start) for start in starts(1) + starts(2)}) == 8


def test_pictures_show_discs_and_the_robot_where_they_are() -> None:
    env = PlaneEnv(plane(start=(0.0, -0.5)), render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (512, 512, 3)
    assert tuple(picture[384, 256]) == ROBOT  # y grows upwards, rows downwards
    assert tuple(picture[5, 5]) == FLOOR
    expected = 0.25 * np.array(FLOOR) + 0.75 * np.array(COLOURS["red"])
    assert picture[205, 128] == pytest.approx(expected, abs=1)
    wide = PlaneEnv(plane(bounds=(-2, -1, 2, 1), discs=["thing@0,0,0.5"], start=(0, 0)), render_mode="rgb_array")
    wide.reset(seed=0)
    assert wide.render().shape == (256, 512, 3)


def test_render_as_text() -> None:
    env = PlaneEnv(plane(start=(-0.5, 0.2)), render_mode="ansi")
    env.reset(seed=0)
    lines = env.render().splitlines()
    assert lines[-1] == "@ robot  R red  G green  B blue"
    row = next(line for line in lines if "@" in line)
    assert row[12] == "@" or row[13] == "@"
    assert row.count("R") >= 10


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match=r"'disks'.*'discs'"):
        gymnasium.make("nrm/Plane-v0", disks=())
    with pytest.raises(EnvError, match=r"render_mode.*'rgb'"):
        PlaneEnv(render_mode="rgb")
    env = PlaneEnv()
    with pytest.raises(EnvError, match=r"reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(EnvError, match="without a render_mode"):
        env.render()
    with pytest.raises(EnvError, match=r"action 8.*step 1"):
        env.step(8)
