"""MiniGrid's environments with tasks: what is seen, what holds, what is paid."""

from __future__ import annotations

import copy
import sys
from collections import deque
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

pytest.importorskip("minigrid")

from minigrid.wrappers import ImgObsWrapper, RGBImgObsWrapper

import nrm
from nrm.envs.minigrid import MiniGridConfig, minigrid_env, minigrid_task
from nrm.envs.minigrid.build import minigrid_images, minigrid_world
from nrm.envs.minigrid.labels import GridLabels
from nrm.errors import MissingExtraError, NrmError, UnknownSymbolError, WorldError

LAVA, KEY, DOORS = "MiniGrid-LavaGapS5-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-RedBlueDoors-6x6-v0"
READY = (LAVA, KEY, DOORS)


def random_steps(env: gymnasium.Env[Any, Any], steps: int, seed: int = 0) -> list[tuple[Any, dict[str, Any]]]:
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    shown = []
    for _ in range(steps):
        observation, _, terminated, truncated, info = env.step(int(generator.integers(env.action_space.n)))  # type: ignore[attr-defined]
        shown.append((observation, info))
        if terminated or truncated:
            env.reset()
    return shown


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        (LAVA, (40, 40, 3)),
        (KEY, (40, 40, 3)),
        ("MiniGrid-DoorKey-8x8-v0", (64, 64, 3)),
        (DOORS, (48, 96, 3)),
        ("MiniGrid-Playground-v0", (152, 152, 3)),
        ("MiniGrid-Dynamic-Obstacles-6x6-v0", (48, 48, 3)),
    ],
)
def test_images_are_those_of_minigrids_own_wrapper(name: str, shape: tuple[int, ...]) -> None:
    ours = minigrid_images(MiniGridConfig(name, actions="all"))
    slow: Any = ImgObsWrapper(RGBImgObsWrapper(gymnasium.make(name, highlight=False), tile_size=8))  # type: ignore[no-untyped-call]
    assert ours.observation_space.shape == shape == slow.observation_space.shape
    (mine, _), (theirs, _) = ours.reset(seed=3), slow.reset(seed=3)
    np.testing.assert_array_equal(mine, theirs)
    generator = np.random.default_rng(0)
    for _ in range(200):
        action = int(generator.integers(ours.action_space.n))  # type: ignore[attr-defined]
        mine, my_reward, my_end, my_cut, _ = ours.step(action)
        theirs, their_reward, their_end, their_cut, _ = slow.step(action)
        np.testing.assert_array_equal(mine, theirs)
        assert (my_reward, my_end, my_cut) == (their_reward, their_end, their_cut)
        if my_end or my_cut:
            ours.reset(seed=7)
            slow.reset(seed=7)


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        (LAVA, {"goal", "lava", "empty"}),
        (KEY, {"-", "key", "key&door", "key&door&goal"}),
        (DOORS, {"-", "red_door", "blue_door", "red_door&blue_door"}),
    ],
)
def test_what_holds_can_be_seen(name: str, letters: set[str]) -> None:
    """Equal images never have different labels, or no grounder could learn them."""
    label_of: dict[bytes, str] = {}
    for observation, info in random_steps(minigrid_env(name), 12_000):
        assert label_of.setdefault(observation.tobytes(), info["label"]) == info["label"]
    assert letters <= set(label_of.values())


def shortest_success(env: Any) -> list[tuple[str, float]]:
    """(label, reward) along a shortest way to the end of the task: breadth first over copies of the environment."""
    first, _ = env.reset(seed=1)
    seen = {first.tobytes()}
    waiting: deque[tuple[Any, list[tuple[str, float]]]] = deque([(env, [])])
    while waiting:
        here, path = waiting.popleft()
        for action in range(here.action_space.n):
            there = copy.deepcopy(here)
            observation, reward, terminated, truncated, info = there.step(action)
            steps = [*path, (info["label"], reward)]
            if terminated and info["level"] == 100:
                return steps
            if not (terminated or truncated) and observation.tobytes() not in seen:
                seen.add(observation.tobytes())
                waiting.append((there, steps))
    raise AssertionError("no way to the end")


@pytest.mark.parametrize("name", READY)
def test_ready_tasks_can_be_done_and_pay(name: str) -> None:
    steps = shortest_success(minigrid_env(name))
    assert sum(reward for _, reward in steps) == pytest.approx(100)
    rewarded = [label for label, reward in steps if reward]
    assert (
        rewarded
        == {
            LAVA: ["goal"],
            KEY: ["key", "key&door", "key&door&goal"],
            DOORS: ["red_door", "red_door&blue_door"],
        }[name]
    )


def test_lava_ends_the_episode_and_loses_the_task() -> None:
    env = minigrid_env(LAVA)
    ends = []
    generator = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(500):
        _, reward, terminated, truncated, info = env.step(int(generator.integers(3)))
        if terminated:
            ends.append((info["label"], reward))
        if terminated or truncated:
            env.reset()
    assert {("lava", -100.0), ("goal", 100.0)} == set(ends)
    with pytest.raises(IndexError):
        env.step(3)  # pickup is not among the actions that count here
    assert minigrid_env(MiniGridConfig(LAVA, actions="all")).action_space.n == 7  # type: ignore[attr-defined]


def test_any_other_environment_takes_a_formula_over_things() -> None:
    name = "MiniGrid-Unlock-v0"
    task = minigrid_task(name, "F key & F door & G !red_ball")
    assert set(task.alphabet.symbols) == {"key", "door", "red_ball"}
    assert not task.alphabet.is_exclusive
    labels = {info["label"] for _, info in random_steps(minigrid_env(name, task.machine()), 3000)}
    assert "key" in labels
    with pytest.raises(UnknownSymbolError, match="did you mean 'red_door'"):
        minigrid_task(name, "F red_dor")
    with pytest.raises(UnknownSymbolError, match="did you mean 'purple_box'"):
        GridLabels(["purple_bx"])
    with pytest.raises(WorldError, match="no ready task for MiniGrid-Unlock-v0"):
        minigrid_task(name)


def test_a_task_of_ones_own_on_a_ready_environment() -> None:
    machine = minigrid_task(KEY, "F door & G !goal").machine()
    assert machine.alphabet.symbols == ("key", "door", "goal")
    assert minigrid_env(KEY, machine).machine is machine
    with pytest.raises(NrmError, match="did you mean 'goal'"):
        minigrid_task(LAVA, "F gaol")


def test_a_world_goes_on_exactly_from_its_saved_state() -> None:
    machine = minigrid_task(DOORS).machine()
    actions = torch.from_numpy(np.random.default_rng(0).integers(0, 4, (80, 3)))
    whole, again = minigrid_world(DOORS, machine, 3), minigrid_world(DOORS, machine, 3)
    whole.reset(5)
    for step in range(40):
        whole.step(actions[step])
    again.load_state_dict(whole.state_dict())
    for step in range(40, 80):
        for left, right in zip(whole.step(actions[step]), again.step(actions[step]), strict=True):
            assert torch.equal(left, right)
        assert all(map(torch.equal, whole.truth, again.truth))


@pytest.mark.parametrize("name", READY)
def test_the_checks_of_gymnasium_and_stable_baselines_pass(name: str) -> None:
    with pytest.warns(UserWarning, match="is different from the unwrapped version"):
        check_env(minigrid_env(name), skip_render_check=True)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    sb3.check_env(minigrid_env(name))


def test_pictures_to_look_at() -> None:
    shown = minigrid_env(LAVA, render_mode="rgb_array")
    shown.reset(seed=0)
    picture: Any = shown.render()
    assert picture.shape == (160, 160, 3)
    text: Any = minigrid_env(LAVA, render_mode="ansi")
    text.reset(seed=0)
    assert text.render_mode == "ansi"
    assert text.render().splitlines()[1].startswith("WG>>")


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorldError, match="did you mean 'MiniGrid-LavaGapS5-v0'"):
        minigrid_env("MiniGrid-LavaGap5-v0")
    with pytest.raises(WorldError, match="'used' or 'all'"):
        MiniGridConfig(LAVA, actions="some")  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="4 to 64 pixels"):
        MiniGridConfig(LAVA, tile=2)
    with pytest.raises(UnknownSymbolError, match="nothing in a grid is called 'a'"):
        minigrid_env(LAVA, nrm.compile("F a", ["a", "b"]))
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingExtraError, match=r"neural-reward-machines\[minigrid\]"):
        minigrid_env(LAVA)
