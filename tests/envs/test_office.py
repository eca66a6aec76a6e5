"""The office: rooms and doors as published, and a batch equals a plain loop."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import nrm
from nrm.envs import BatchedTasks, OfficeConfig, OfficeEnv, TaskEnv, environment_seeds, find_env

CONFIG = OfficeConfig(steps=60)
TASK = "F(coffee & F office) & G !decoration"
# As published, y from below: what lies where, and between which cells there are doors.
THINGS = dict.fromkeys([(4, 1), (7, 1), (4, 7), (7, 7), (1, 4), (10, 4)], "decoration") | {
    (3, 6): "coffee",
    (8, 2): "coffee",
    (7, 4): "mail",
    (4, 4): "office",
    (1, 1): "a",
    (10, 1): "b",
    (10, 7): "c",
    (1, 7): "d",
}
SIDEWAYS = [(x, y) for y in (1, 7) for x in (2, 5, 8)]
UPWARDS = [(x, 5) for x in (1, 4, 7, 10)] + [(1, 2), (10, 2)]


def plain_step(x: int, y: int, action: int) -> tuple[int, int]:
    """One move by published coordinates."""
    right, up = [(0, 1), (1, 0), (0, -1), (-1, 0)][action]
    to = (x + right, y + up)
    if to[0] // 3 == x // 3 and to[1] // 3 == y // 3 and min(to) >= 0:
        return to
    doors = SIDEWAYS if right else UPWARDS
    return to if min((x, y), to) in doors and abs(to[0] - x) + abs(to[1] - y) == 1 else (x, y)


def test_rooms_and_doors_are_those_published() -> None:
    dynamics = CONFIG.dynamics()
    y, x = np.divmod(np.arange(108), 12)
    for action in range(4):
        places, _ = dynamics.move({"cell": np.arange(108)}, np.full(108, action), np.zeros(0), np.zeros(0))  # type: ignore[arg-type]
        seen = [(int(to_x), 8 - int(to_y)) for to_x, to_y in dynamics.observe(places)]
        assert seen == [plain_step(*cell, action) for cell in zip(x.tolist(), (8 - y).tolist(), strict=True)]
    names = CONFIG.alphabet.letter_names
    read = [names[letter] for letter in dynamics.reader(CONFIG.alphabet)({"cell": np.arange(108)})]
    assert read == [THINGS.get(cell, "empty") for cell in zip(x.tolist(), (8 - y).tolist(), strict=True)]
    assert dynamics.observe(dynamics.begin(np.zeros(1, dtype=np.uint64))).tolist() == [[2, 7]]


def test_a_batch_equals_gymnasium_environments_step_for_step() -> None:
    machine = nrm.compile(TASK, CONFIG.alphabet)
    batched = BatchedTasks(CONFIG, machine, 4)
    envs = [TaskEnv(OfficeEnv(CONFIG), machine) for _ in range(4)]
    frames = batched.frames
    assert frames is not None
    first = frames[batched.reset(3)].numpy()
    for index, (env, seed) in enumerate(zip(envs, environment_seeds(3, 4), strict=True)):
        assert (first[index] == env.reset(seed=seed)[0]).all()
    ends = [0, 0]
    for chosen in torch.randint(0, 4, (150, 4), generator=torch.Generator().manual_seed(0)):
        batch = batched.step(chosen)
        for index, env in enumerate(envs):
            observation, paid, terminated, truncated, _ = env.step(int(chosen[index]))
            assert (frames[batch.final_observation[index]].numpy() == observation).all()
            assert batch.reward[index].item() == np.float32(paid)
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (terminated, truncated)
            ends[terminated] += terminated or truncated
            if terminated or truncated:
                env.reset()
    assert all(ends)


def test_gymnasium_and_the_command_line_know_it() -> None:
    env = gymnasium.make("nrm/Office-v0", render_mode="ansi")
    check_env(env.unwrapped, skip_render_check=True)
    assert env.reset(seed=0)[1] == {"labels": ("empty",)}
    assert env.step(3)[4] == {"labels": ("a",)}
    said = str(env.render())
    assert "|.@...*" in said
    assert said.count("@") == 2  # the agent, and the legend
    assert find_env("office") == OfficeConfig()
    drawn = gymnasium.make("nrm/Office-v0", render_mode="rgb_array")
    drawn.reset(seed=0)
    before = np.asarray(drawn.render())
    drawn.step(1)
    changed = (before != np.asarray(drawn.render())).any(2)
    assert before.shape == (13 * 32, 17 * 32, 3)
    assert 0 < changed.sum() <= 2 * 32 * 32


@pytest.mark.parametrize("empty", [None, "nothing"])
def test_what_holds_elsewhere_can_have_another_name(empty: str | None) -> None:
    config = OfficeConfig(empty=empty)
    read = config.dynamics().reader(config.alphabet)({"cell": np.arange(2)})
    assert config.alphabet.letter_name(int(read[0])) == (empty or "-")
