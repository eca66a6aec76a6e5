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

from minigrid.wrappers import ImgObsWrapper, RGBImgObsWrapper, RGBImgPartialObsWrapper

import nrm
from nrm.envs.minigrid import READY_TASKS, MiniGridConfig, minigrid_env, minigrid_task
from nrm.envs.minigrid.config import EMPTY, GridLabels, minigrid_images
from nrm.envs.minigrid.images import ChosenActions
from nrm.errors import EnvError, MissingExtraError, NrmError, UnknownSymbolError

LAVA, KEY, DOORS = "MiniGrid-LavaGapS5-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-RedBlueDoors-6x6-v0"
READY = (LAVA, KEY, DOORS)
MEMORY, CORRIDOR = "MiniGrid-MemoryS7-v0", "MiniGrid-KeyCorridorS3R1-v0"


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


def of_minigrid(env: Any, action: int) -> int:
    """MiniGrid's number of one of the actions that an environment has."""
    return int(env.action(action)) if isinstance(env, ChosenActions) else action


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
    ours = minigrid_images(MiniGridConfig(name))
    slow: Any = ImgObsWrapper(RGBImgObsWrapper(gymnasium.make(name, highlight=False), tile_size=8))  # type: ignore[no-untyped-call]
    assert ours.observation_space.shape == shape == slow.observation_space.shape
    (mine, _), (theirs, _) = ours.reset(seed=3), slow.reset(seed=3)
    np.testing.assert_array_equal(mine, theirs)
    generator = np.random.default_rng(0)
    for _ in range(200):
        action = int(generator.integers(ours.action_space.n))  # type: ignore[attr-defined]
        mine, my_reward, my_end, my_cut, _ = ours.step(action)
        theirs, their_reward, their_end, their_cut, _ = slow.step(of_minigrid(ours, action))
        np.testing.assert_array_equal(mine, theirs)
        assert (my_reward, my_end, my_cut) == (their_reward, their_end, their_cut)
        if my_end or my_cut:
            ours.reset(seed=7)
            slow.reset(seed=7)


@pytest.mark.parametrize("name", [KEY, MEMORY, "MiniGrid-KeyCorridorS3R2-v0", "MiniGrid-Playground-v0"])
@pytest.mark.parametrize("size", [5, 7])
def test_views_are_those_of_minigrids_own_wrapper(name: str, size: int) -> None:
    ours = minigrid_images(MiniGridConfig(name, observation="agent", kwargs={"agent_view_size": size}))
    made = gymnasium.make(name, agent_view_size=size)
    slow: Any = ImgObsWrapper(RGBImgPartialObsWrapper(made, tile_size=8))  # type: ignore[no-untyped-call]
    assert ours.observation_space.shape == (8 * size, 8 * size, 3) == slow.observation_space.shape
    np.testing.assert_array_equal(ours.reset(seed=3)[0], slow.reset(seed=3)[0])
    generator = np.random.default_rng(0)
    for _ in range(300):
        action = int(generator.integers(ours.action_space.n))  # type: ignore[attr-defined]
        mine, _, my_end, my_cut, _ = ours.step(action)
        np.testing.assert_array_equal(mine, slow.step(of_minigrid(ours, action))[0])
        if my_end or my_cut:
            ours.reset(seed=7)
            slow.reset(seed=7)


def carries_nothing(observation: Any, info: dict[str, Any], env: Any) -> list[str]:
    return [] if env.unwrapped.carrying else ["free"]


def test_a_label_of_ones_own() -> None:
    config = MiniGridConfig(KEY, label="tests.envs.test_minigrid:carries_nothing", propositions=("free",))
    task = config.task("F !free")
    assert task.alphabet.symbols == ("free",)
    for env in (minigrid_env(config, task), minigrid_env(KEY, task, label=carries_nothing)):
        assert {info["label"] for _, info in random_steps(env, 2000)} == {"free", "-"}
    with pytest.raises(EnvError, match="for a label of your own"):
        MiniGridConfig(KEY, propositions=("free",))
    with pytest.raises(EnvError, match=r"'agnt'.*'agent'"):
        MiniGridConfig(KEY, observation="agnt")
    with pytest.raises(EnvError, match=KEY):
        minigrid_images(MiniGridConfig(KEY, observation="agent", kwargs={"agent_view_size": 4}))


def test_every_ready_task_compiles_and_steps() -> None:
    for ready in READY_TASKS:
        name = next(one for one in gymnasium.registry if one.startswith(ready.family))
        env = minigrid_env(name)
        env.reset(seed=0)
        assert env.step(0)[4]["label"] in (EMPTY, "-")
        assert env.action_space.n == len(ready.actions)  # type: ignore[attr-defined]


def test_arguments_of_minigrids_own() -> None:
    env = minigrid_env(MiniGridConfig(KEY, kwargs={"max_steps": 3}))
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        (LAVA, {"goal", "lava", "empty"}),
        (KEY, {"-", "key", "key&door", "key&door&goal"}),
        (DOORS, {"-", "red_door", "blue_door", "red_door&blue_door"}),
        (MEMORY, {"empty", "match", "mismatch"}),
        (CORRIDOR, {"empty", "key"}),
        ("MiniGrid-Unlock-v0", {"-", "key"}),
        ("MiniGrid-ObstructedMaze-1Dl-v0", {"empty", "key"}),
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


@pytest.mark.parametrize("name", [*READY, MEMORY, CORRIDOR])
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
            MEMORY: ["match"],
            CORRIDOR: ["key", "ball"],
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
    assert minigrid_images("MiniGrid-Playground-v0").action_space.n == 7  # type: ignore[attr-defined]


def test_any_other_environment_takes_a_formula_over_things() -> None:
    name = "MiniGrid-Unlock-v0"
    task = minigrid_task(name, "F key & F door & G !red_ball")
    assert set(task.alphabet.symbols) == {"key", "door", "red_ball"}
    assert not task.alphabet.is_exclusive
    labels = {info["label"] for _, info in random_steps(minigrid_env(name, task.machine()), 3000)}
    assert "key" in labels
    with pytest.raises(UnknownSymbolError, match="'red_door'"):
        minigrid_task(name, "F red_dor")
    with pytest.raises(UnknownSymbolError, match="'purple_box'"):
        GridLabels(["purple_bx"])
    with pytest.raises(EnvError, match="MiniGrid-Playground-v0"):
        minigrid_task("MiniGrid-Playground-v0")


def test_a_task_of_ones_own_on_a_ready_environment() -> None:
    machine = minigrid_task(KEY, "F door & G !goal").machine()
    assert machine.alphabet.symbols == ("key", "door", "goal")
    assert minigrid_env(KEY, machine).machine is machine
    with pytest.raises(NrmError, match="'goal'"):
        minigrid_task(LAVA, "F gaol")


def test_a_env_goes_on_exactly_from_its_saved_state() -> None:
    machine = minigrid_task(DOORS).machine()
    actions = torch.from_numpy(np.random.default_rng(0).integers(0, 4, (80, 3)))
    whole, again = MiniGridConfig.of(DOORS).build(machine, 3), MiniGridConfig.of(DOORS).build(machine, 3)
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
    with pytest.raises(EnvError, match="'MiniGrid-LavaGapS5-v0'"):
        minigrid_env("MiniGrid-LavaGap5-v0")
    with pytest.raises(EnvError, match="unknown observation 'some'"):
        MiniGridConfig(LAVA, observation="some")
    with pytest.raises(UnknownSymbolError, match="'a'"):
        minigrid_env(LAVA, nrm.compile("F a", ["a", "b"]))
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingExtraError, match=r"neural-reward-machines\[minigrid\]"):
        minigrid_env(LAVA)
