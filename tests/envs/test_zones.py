"""The robot among zones: a batch equals a plain loop, layouts are legal, leaving ends, pictures show it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import nrm
from nrm.envs import BatchedTasks, TaskEnv, ZonesConfig, ZonesEnv, environment_seeds, find_env
from nrm.envs.plane.env import COLOURS, ROBOT
from nrm.errors import EnvError

CONFIG = ZonesConfig(steps=120)
NAMES = ("blue", "green", "magenta", "yellow")
COUNT = 6


def machine() -> nrm.MooreMachine:
    return nrm.compile("F(green | yellow) & F(blue | magenta)", CONFIG.alphabet)


def actions(steps: int, count: int = COUNT, seed: int = 0) -> torch.Tensor:
    """Mostly full speed ahead, so that something happens."""
    drawn = torch.rand(steps, count, 2, generator=torch.Generator().manual_seed(seed))
    return torch.stack([drawn[..., 0], 0.6 * drawn[..., 1] - 0.3], -1)


class PlainRobot:
    """The same robot, one number at a time."""

    def __init__(self, zones: NDArray[np.float64], robot: NDArray[np.float64]) -> None:
        self.zones = [(NAMES[number // 2], x, y) for number, (x, y) in enumerate(zones.tolist())]
        numbers: list[float] = robot.tolist()
        self.x, self.y, self.speed_x, self.speed_y, self.angle, self.turning = numbers

    def step(self, force: float, turn: float) -> bool:
        ahead, aside = math.cos(self.angle), math.sin(self.angle)
        self.speed_x = 0.92 * (self.speed_x + 0.05 * 2 * force * ahead)
        self.speed_y = 0.92 * (self.speed_y + 0.05 * 2 * force * aside)
        speed = math.hypot(self.speed_x, self.speed_y)
        if speed > 3:
            self.speed_x, self.speed_y = 3 * self.speed_x / speed, 3 * self.speed_y / speed
        self.x += 0.05 * self.speed_x
        self.y += 0.05 * self.speed_y
        self.turning = 3 * turn
        self.angle += 0.05 * self.turning
        return max(abs(self.x), abs(self.y)) > 3.3

    def label(self) -> str:
        inside = [name for name, x, y in self.zones if math.hypot(x - self.x, y - self.y) <= 0.4]
        return inside[0] if inside else "empty"

    def seen(self) -> list[float]:
        ahead, aside = math.cos(self.angle), math.sin(self.angle)
        turned = [(ahead * x + aside * y, ahead * y - aside * x) for x, y in self._vectors()]
        lidar = {name: [0.0] * 16 for name in NAMES}
        for (name, _, _), (front, left) in zip(self.zones, turned[2:], strict=True):
            near = math.exp(-math.hypot(front, left) / 2)
            turns = math.atan2(left, front) % (2 * math.pi) / (math.pi / 8)
            place = math.floor(turns)
            shown = {place: near, place + 1: near * (turns - place), place - 1: near * (1 - turns + place)}
            for number, value in shown.items():
                lidar[name][number % 16] = max(lidar[name][number % 16], value)
        return [*turned[0], self.turning, *turned[1], *(value for name in NAMES for value in lidar[name])]

    def _vectors(self) -> list[tuple[float, float]]:
        zones = [(x - self.x, y - self.y) for _, x, y in self.zones]
        return [(self.speed_x, self.speed_y), (-self.x, -self.y), *zones]


def test_a_batch_moves_reads_and_sees_as_a_plain_loop_does() -> None:
    dynamics = CONFIG.dynamics()
    places = dynamics.begin(np.arange(40, dtype=np.uint64))
    read = dynamics.reader(CONFIG.alphabet)
    robots = [PlainRobot(*one) for one in zip(places["zones"], places["robot"], strict=True)]
    letters, gone = set(), 0
    for chosen in actions(90, 40).numpy():
        places, left = dynamics.move(places, chosen, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))
        assert left is not None
        observed = dynamics.observe(places)
        for number, robot in enumerate(robots):
            assert robot.step(*map(float, chosen[number])) == left[number]
            assert observed[number] == pytest.approx(robot.seen(), abs=1e-5)
            assert CONFIG.alphabet.letter_name(int(read(places)[number])) == robot.label()
        letters |= set(read(places).tolist())
        gone += int(left.sum())
    assert letters == {0, 1, 2, 3, 4}
    assert gone


def test_a_batch_equals_gymnasium_environments_step_for_step() -> None:
    batched = BatchedTasks(CONFIG, machine(), COUNT)
    envs = [TaskEnv(ZonesEnv(CONFIG), machine()) for _ in range(COUNT)]
    first = batched.reset(3).numpy()
    for index, (env, seed) in enumerate(zip(envs, environment_seeds(3, COUNT), strict=True)):
        assert (first[index] == env.reset(seed=seed)[0]).all()
    ended = 0
    for chosen in actions(300):
        batch = batched.step(chosen)
        for index, env in enumerate(envs):
            observation, paid, terminated, truncated, _ = env.step(chosen[index].numpy())
            assert (batch.final_observation[index].numpy() == observation).all()
            assert batch.reward[index].item() == np.float32(paid)
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (terminated, truncated)
            if terminated or truncated:
                ended += 1
                observation, _ = env.reset()
            assert (batch.observation[index].numpy() == observation).all()
    assert ended > COUNT


def test_a_saved_state_goes_on_exactly(tmp_path: Path) -> None:
    env = BatchedTasks(CONFIG, machine(), COUNT)
    env.reset(8)
    for chosen in actions(150):
        env.step(chosen)
    torch.save(env.state_dict(), tmp_path / "state.pt")
    again = BatchedTasks(CONFIG, machine(), COUNT)
    again.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    for chosen in actions(150, seed=1):
        one, other = (*env.step(chosen), *env.truth), (*again.step(chosen), *again.truth)
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_layouts_differ_keep_their_distances_and_follow_from_seeds() -> None:
    keys = np.arange(300, dtype=np.uint64)
    places = CONFIG.dynamics().begin(keys)
    points = np.concatenate([places["zones"], places["robot"][:, None, :2]], axis=1)
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=3)
    assert apart[:, ~np.eye(9, dtype=bool)].min() >= 1.1
    assert np.abs(points).max() <= 1.95
    assert len(np.unique(points[:, 0, 0])) == 300
    alone = CONFIG.dynamics().begin(keys[7:8])
    assert all((alone[name][0] == places[name][7]).all() for name in places)


def test_gymnasium_approves() -> None:
    env = gymnasium.make("nrm/Zones-v0", steps=50, render_mode="rgb_array")
    check_env(env.unwrapped)


def test_who_drives_straight_on_leaves_the_plane() -> None:
    env = ZonesEnv()
    env.reset(seed=0)
    terminated, steps = False, 0
    while not terminated:
        _, _, terminated, _, info = env.step(np.array([1.0, 0.0], dtype=np.float32))
        steps += 1
    assert steps < 200
    assert info["labels"] == ("empty",)


def test_probes_tell_letters() -> None:
    probe = BatchedTasks(CONFIG, machine(), 1).probe(2000)
    # The maximum of a lidar's row is exp(-d / 2), with d the distance of the nearest centre.
    away = -2 * probe.observations[:, 5:].view(-1, 4, 16).amax(2).log()
    assert torch.equal(probe.letters, torch.where(away.amin(1) <= 0.4, away.argmin(1), 4))
    # Eight discs of radius 0.4 in a square of side 4.7.
    assert float((probe.letters != 4).double().mean()) == pytest.approx(8 * np.pi * 0.16 / 4.7**2, abs=0.03)


def test_pictures_show_zones_and_the_robot() -> None:
    env = ZonesEnv(render_mode="rgb_array")
    env.reset(seed=0)
    places: Any = env._way[-1]

    def pixel(x: float, y: float) -> tuple[int, ...]:
        picture = env.render()
        return tuple(picture[int((3.3 - y) / 6.6 * 512), int((x + 3.3) / 6.6 * 512)].tolist())

    assert pixel(*places["robot"][0, :2]) == ROBOT
    blue, _ = places["zones"][0, :2]
    floor = 0.25 * np.array((244, 241, 234)) + 0.75 * np.array(COLOURS["blue"])
    assert pixel(*blue) == pytest.approx(floor, abs=1)
    assert ZonesEnv(render_mode="ansi").config == find_env("zones")


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match="empty"):
        ZonesConfig(empty=None)
    with pytest.raises(EnvError, match="position"):
        ZonesConfig(observation="position")
    env = ZonesEnv()
    env.reset(seed=0)
    with pytest.raises(EnvError, match=r"1\.5"):
        env.step(np.array([1.5, 0.0], dtype=np.float32))
