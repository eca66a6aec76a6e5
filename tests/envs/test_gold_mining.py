"""The miner: a batch equals a plain loop, gold lies where it should, and what a dig finds is what holds."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import nrm
from nrm.envs import BatchedTasks, GoldMiningConfig, GoldMiningEnv, TaskEnv, environment_seeds, find_env
from nrm.errors import EnvError, UnknownSymbolError

UP, RIGHT, DOWN, LEFT, DIG = range(5)
MAP = ["...G", ".F.G", ".F.G", "D..G"]
"""The published map."""


class PlainMiner:
    """The same miner, one number at a time."""

    def __init__(self) -> None:
        self.x = self.y = 0

    def step(self, action: int) -> str:
        if action != DIG:
            right, down = ((0, -1), (1, 0), (0, 1), (-1, 0))[action]
            self.x, self.y = min(max(self.x + right, 0), 3), min(max(self.y + down, 0), 3)
        here = MAP[self.y][self.x]
        if here == "D":
            return "depot"
        return {"G": "gold", "F": "fool"}.get(here, "empty") if action == DIG else "empty"


def test_it_digs_and_walks_as_a_plain_loop_does() -> None:
    env, plain, drawn = GoldMiningEnv(steps=400), PlainMiner(), np.random.default_rng(0)
    env.reset(seed=0)
    found = set()
    for action in drawn.integers(0, 5, 400).tolist():
        observation, *_, info = env.step(action)
        assert info["labels"] == (plain.step(action),)
        assert observation.tolist() == [plain.x, plain.y, action == DIG]
        found |= set(info["labels"])
    assert found == {"gold", "fool", "depot", "empty"}


@pytest.mark.parametrize("gold", [None, 2])
def test_a_batch_equals_gymnasium_environments_step_for_step(gold: int | None) -> None:
    config = GoldMiningConfig(gold=gold, steps=12)
    machine = config.task(None).machine()
    batch, seeds = BatchedTasks(config, machine, 3), environment_seeds(7, 3)
    single = [TaskEnv(GoldMiningEnv(config), machine) for _ in seeds]
    batch.reset(7)
    for env, seed in zip(single, seeds, strict=True):
        env.reset(seed=seed)
    actions = torch.randint(0, 5, (40, 3), generator=torch.Generator().manual_seed(0))
    for taken in actions:
        shown = batch.step(taken)
        for index, env in enumerate(single):
            observation, reward, terminated, truncated, info = env.step(int(taken[index]))
            assert batch.spec.shown(shown.final_observation)[index].tolist() == observation.tolist()
            assert int(batch.truth.label[index]) == info["letter"]
            assert float(shown.reward[index]) == pytest.approx(reward)
            if terminated or truncated:
                env.reset()


def test_gold_is_drawn_anew_in_every_episode_and_every_cell_gets_some() -> None:
    places = GoldMiningConfig(gold=2).dynamics().begin(np.arange(600, dtype=np.uint64))
    assert (places["gold"].sum(1) == 2).all()
    shares = places["gold"].mean(0)
    ore = np.array([[char in "GF" for char in row] for row in MAP]).ravel()
    assert (shares[~ore] == 0).all()
    assert np.abs(shares[ore] - 1 / 3).max() < 0.08


def test_a_depot_without_gold_is_a_failure() -> None:
    env = TaskEnv(GoldMiningEnv(), GoldMiningConfig().task(None).machine())
    for way, paid in (([DOWN] * 3, -100.0), ([RIGHT, RIGHT, RIGHT, DIG, *[DOWN] * 3, *[LEFT] * 3], 100.0)):
        env.reset(seed=0)
        steps = [env.step(action) for action in way]
        assert sum(float(step[1]) for step in steps) == paid
        assert [step[2] for step in steps] == [False] * (len(way) - 1) + [True]


def test_gymnasium_and_the_command_line_know_it() -> None:
    made = gymnasium.make("nrm/GoldMining-v0", gold=3, render_mode="rgb_array")
    check_env(made.unwrapped, skip_render_check=True)
    made.reset(seed=1)
    assert np.shape(made.render()) == (512, 512, 3)  # type: ignore[arg-type]
    text = GoldMiningEnv(render_mode="ansi")
    text.reset(seed=1)
    assert {"@ robot", "D depot"} <= set(str(text.render()).splitlines()[-1].split("  "))
    assert find_env("gold-mining") == GoldMiningConfig()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(EnvError, match="7"):
        GoldMiningConfig(gold=7)
    with pytest.raises(EnvError, match="empty"):
        GoldMiningConfig(empty=None)
    with pytest.raises(UnknownSymbolError, match="fool"):
        GoldMiningConfig().build(nrm.compile("F gold", ["gold", "depot", "empty"]), 2)
