"""Balls in a box: a batch equals a plain loop, nothing leaves the box, starts are apart."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import nrm
from nrm.envs import BatchedTasks, TaskEnv, WaterConfig, WaterEnv, environment_seeds, find_env
from nrm.errors import EnvError

CONFIG = WaterConfig(steps=80)
COLOURS = ("red", "green", "blue", "yellow", "aqua", "magenta")
PUSHES = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))


class PlainBox:
    """The same box, one number at a time."""

    def __init__(self, bodies: list[list[float]]) -> None:
        self.bodies = [list(body) for body in bodies]

    def step(self, action: int) -> None:
        for axis in (0, 1):
            pushed = self.bodies[0][2 + axis] + 30 * PUSHES[action][axis]
            self.bodies[0][2 + axis] = min(90.0, max(-90.0, pushed))
        for body in self.bodies:
            for axis in (0, 1):
                ahead = body[axis] + 0.1 * body[2 + axis]
                if abs(ahead) > 185:
                    body[2 + axis] *= -1
                body[axis] = min(185.0, max(-185.0, ahead))

    def labels(self) -> list[str]:
        own, *balls = self.bodies
        near = [math.dist(own[:2], ball[:2]) <= 30 for ball in balls]
        return [name for place, name in enumerate(COLOURS) if any(near[2 * place : 2 * place + 2])]

    def seen(self) -> list[float]:
        own, *balls = self.bodies
        shares = [400, 400, 120, 120]
        apart = [(ball[i] - own[i]) / shares[i] for ball in balls for i in range(4)]
        return [own[0] / 200, own[1] / 200, own[2] / 90, own[3] / 90, *apart]


def test_a_batch_moves_reads_and_sees_as_a_plain_loop_does() -> None:
    dynamics = CONFIG.dynamics()
    places = dynamics.begin(np.arange(12, dtype=np.uint64))
    read, none = dynamics.reader(CONFIG.alphabet), np.zeros(0, dtype=np.uint64)
    boxes = [PlainBox(one) for one in places["bodies"].tolist()]
    sizes = set()
    for chosen in np.random.default_rng(0).integers(0, 5, (120, 12)):
        places, left = dynamics.move(places, chosen, none, none.astype(np.int64))
        assert left is None
        observed, letters = dynamics.observe(places), read(places).tolist()
        assert np.abs(observed).max() <= 1
        for number, box in enumerate(boxes):
            box.step(int(chosen[number]))
            assert np.allclose(observed[number], box.seen(), atol=1e-5)
            held = CONFIG.alphabet.true_symbols(letters[number])
            assert sorted(held) == sorted(box.labels())
            sizes.add(len(held))
    assert {0, 1, 2} <= sizes


def test_starts_are_apart_and_balls_move_at_their_speed() -> None:
    bodies = CONFIG.dynamics().begin(np.arange(50, dtype=np.uint64))["bodies"]
    away = np.linalg.norm(bodies[:, :, None, :2] - bodies[:, None, :, :2], axis=3)
    assert away[:, ~np.eye(13, dtype=bool)].min() >= 60
    assert np.linalg.norm(bodies[:, 1:, 2:], axis=2) == pytest.approx(np.full((50, 12), 30))
    assert not bodies[:, 0, 2:].any()


def test_a_batch_equals_gymnasium_environments_step_for_step() -> None:
    machine = nrm.compile("F red & G !blue", CONFIG.alphabet)
    batched = BatchedTasks(CONFIG, machine, 3)
    envs = [TaskEnv(WaterEnv(CONFIG), machine) for _ in range(3)]
    first = batched.reset(3).numpy()
    for index, (env, seed) in enumerate(zip(envs, environment_seeds(3, 3), strict=True)):
        assert (first[index] == env.reset(seed=seed)[0]).all()
    ends = [0, 0]
    for chosen in torch.randint(0, 5, (250, 3), generator=torch.Generator().manual_seed(0)):
        batch = batched.step(chosen)
        for index, env in enumerate(envs):
            observation, paid, terminated, truncated, _ = env.step(int(chosen[index]))
            assert (batch.final_observation[index].numpy() == observation).all()
            assert batch.reward[index].item() == np.float32(paid)
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (terminated, truncated)
            ends[terminated] += terminated or truncated
            if terminated or truncated:
                assert (env.reset()[0] == batch.observation[index].numpy()).all()
    assert all(ends)


def test_gymnasium_and_the_command_line_know_it() -> None:
    env = gymnasium.make("nrm/Water-v0", render_mode="ansi")
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert "@" in str(env.render())
    assert find_env("water") == WaterConfig()
    drawn = gymnasium.make("nrm/Water-v0", render_mode="rgb_array")
    drawn.reset(seed=0)
    assert np.asarray(drawn.render()).shape == (512, 512, 3)


def test_a_symbol_for_nothing_is_refused() -> None:
    with pytest.raises(EnvError, match="'air'"):
        WaterConfig(empty="air")
