from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nrm.envs import ACTIONS, MinecraftConfig, MinecraftEnv
from nrm.errors import EnvError
from tests.envs.envs import CONFIGS


def labels(env: MinecraftEnv, moves: str) -> list[Any]:
    """What is read on a walk, a letter for each move."""
    env.reset(seed=0)
    names = {name[0]: number for number, name in enumerate(ACTIONS)}
    return [env.step(names[move])[-1]["labels"] for move in moves]


@pytest.mark.parametrize("name", sorted(set(CONFIGS) - {"one-step"}))
def test_gymnasium_approves(name: str) -> None:
    env = gymnasium.make("nrm/Minecraft-v0", render_mode="rgb_array", **CONFIGS[name])
    check_env(env.unwrapped, skip_render_check=find_spec("pygame") is None)


def test_the_papers_env_and_its_edges() -> None:
    env = MinecraftEnv()
    assert labels(env, "drruldd") == [
        ("empty",),
        ("pickaxe",),
        ("empty",),
        ("empty",),
        ("empty",),
        ("pickaxe",),
        ("empty",),
    ]
    assert labels(env, "rrr") == [("empty",), ("empty",), ("door",)]
    assert labels(env, "dddrrr") == [("empty",), ("empty",), ("gem",), ("empty",), ("empty",), ("lava",)]
    env.reset(seed=0)
    for action in (0, 3):
        assert env.step(action)[0].tolist() == [0, 0]
    assert env.step(1)[0].tolist() == [1, 0]
    assert env.step(2)[0].tolist() == [1, 1]


def test_it_pays_nothing_and_is_truncated_at_its_limit() -> None:
    env = MinecraftEnv(steps=3)
    env.reset(seed=0)
    steps = [env.step(1) for _ in range(3)]
    assert [step[1:4] for step in steps] == [(0.0, False, False), (0.0, False, False), (0.0, False, True)]


def test_equal_seeds_give_equal_envs_and_episodes_differ() -> None:
    def pictures(seed: int) -> list[bytes]:
        env = MinecraftEnv(layout="episode", start="random", observation="image")
        return [env.reset(seed=seed if episode == 0 else None)[0].tobytes() for episode in range(6)]

    assert pictures(1) == pictures(1)
    assert len(set(pictures(1) + pictures(2))) == 12


def test_layouts_change_when_they_should() -> None:
    def layouts(**options: Any) -> tuple[list[bytes], list[bytes]]:
        env = MinecraftEnv(observation="image", **options)
        by_seed = [env.reset(seed=seed)[0].tobytes() for seed in range(4)]
        by_episode = [env.reset()[0].tobytes() for _ in range(4)]
        return by_seed, by_episode

    def distinct(**options: Any) -> tuple[int, int]:
        by_seed, by_episode = layouts(**options)
        return len(set(by_seed)), len(set(by_episode))

    assert distinct() == (1, 1)
    assert distinct(layout="episode") == (4, 4)


def test_without_a_seed_envs_differ() -> None:
    first = {MinecraftEnv(layout="episode", observation="image").reset()[0].tobytes() for _ in range(3)}
    assert len(first) == 3


def test_render_as_text_and_as_a_picture() -> None:
    env = MinecraftEnv(render_mode="ansi")
    env.reset(seed=0)
    env.step(2)
    env.step(1)
    assert env.render() == (
        "+---------+\n| . . . D |\n| .@P . . |\n| . . . . |\n| G . . L |\n+---------+\n"
        "@ agent  P pickaxe  L lava  D door  G gem"
    )
    drawn = MinecraftEnv(render_mode="rgb_array")
    drawn.reset(seed=0)
    picture = drawn.render()
    assert picture.shape == (512, 512, 3)
    assert picture.dtype == np.uint8


def test_gymnasium_shows_it_in_a_window() -> None:
    pytest.importorskip("pygame")
    with pytest.warns(UserWarning, match="HumanRendering"):
        env = gymnasium.make("nrm/Minecraft-v0", render_mode="human")
    assert env.render_mode == "human"


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match=r"'sizes'.*'size'"):
        gymnasium.make("nrm/Minecraft-v0", sizes=3)
    with pytest.raises(EnvError, match=r"render_mode.*'rgb'"):
        MinecraftEnv(render_mode="rgb")
    env = MinecraftEnv()
    with pytest.raises(EnvError, match=r"reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(EnvError, match="unknown action 4"):
        env.step(4)
    with pytest.raises(EnvError, match="render_mode"):
        env.render()


def test_a_configuration_can_be_given_and_changed() -> None:
    env = MinecraftEnv(MinecraftConfig(steps=9), slip=0.5)
    assert (env.config.steps, env.config.slip) == (9, 0.5)


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, nrm; gymnasium.make('nrm/Minecraft-v0')",
        "import nrm.envs, gymnasium; gymnasium.make('nrm/Minecraft-v0')",
        "import gymnasium; gymnasium.make('nrm.envs:nrm/Minecraft-v0')",
        "import gymnasium; gymnasium.make('nrm:nrm/Minecraft-v0')",
    ],
)
def test_the_env_is_registered(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
