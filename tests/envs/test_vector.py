from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import nrm
from nrm.envs import BatchedMinecraft, BatchedWorld, MinecraftEnv, TaskEnv, VectorWorld
from nrm.errors import WorldError
from tests.envs.minecraft.test_batched import COUNT, random_actions, same, shown, through_a_file, walk
from tests.envs.worlds import config, paper_machine

MACHINE = paper_machine(5)


def maker(name: str) -> Any:
    return lambda: TaskEnv(MinecraftEnv(config(name)), MACHINE)


@pytest.mark.parametrize("name", ["paper", "image", "slip", "layout-episode-image", "layout-seed", "one-step"])
def test_it_equals_the_batched_world(name: str) -> None:
    world: BatchedWorld = VectorWorld.of(maker(name), COUNT)
    tables = BatchedMinecraft(config(name), MACHINE, COUNT)
    assert (world.shape, world.actions, world.count) == (tables.shape, tables.actions, tables.count)
    assert torch.equal(world.reset(3), shown(tables, tables.reset(3)))
    assert same([[world.truth]], [[tables.truth]])
    for actions in random_actions(80):
        one, other = world.step(actions), tables.step(actions)
        whole = other._replace(
            observation=shown(tables, other.observation), final_observation=shown(tables, other.final_observation)
        )
        assert same([[one, world.truth]], [[whole, tables.truth]])


@pytest.mark.parametrize("name", ["paper", "image", "layout-episode-random"])
def test_environments_that_reset_themselves(name: str) -> None:
    """The same first episodes, and after them what Gymnasium draws: compared with environments stepped one by one."""
    vector = SyncVectorEnv([maker(name)] * COUNT, autoreset_mode=AutoresetMode.SAME_STEP)
    world = VectorWorld(vector)
    tables = BatchedMinecraft(config(name), MACHINE, COUNT)
    assert torch.equal(world.reset(3), shown(tables, tables.reset(3)))
    for actions in random_actions(80):
        one, other = world.step(actions), tables.step(actions)
        assert torch.equal(one.observation, shown(tables, other.observation))
        assert torch.equal(one.final_observation, shown(tables, other.final_observation))
        assert same([[one[1:4], world.truth]], [[other[1:4], tables.truth]])
    with pytest.raises(WorldError, match="cannot be continued exactly"):
        world.state_dict()


@pytest.mark.parametrize("name", ["paper", "slip", "layout-episode-image", "one-step"])
def test_a_saved_state_goes_on_exactly(name: str, tmp_path: Path) -> None:
    world = VectorWorld.of(maker(name), COUNT)
    world.reset(2)
    walk(world, random_actions(33))
    saved = through_a_file(world.state_dict(), tmp_path)
    before = world.truth
    expected = walk(world, random_actions(60, seed=1))
    again = VectorWorld.of(maker(name), COUNT)
    again.load_state_dict(saved)
    assert same([[again.truth]], [[before]])
    assert same(walk(again, random_actions(60, seed=1)), expected)


def test_environments_in_processes_of_their_own() -> None:
    here, there = VectorWorld.of(maker("slip"), 2), VectorWorld.of(maker("slip"), 2, processes=True)
    try:
        assert torch.equal(here.reset(0), there.reset(0))
        actions = random_actions(40, 2)
        assert same(walk(here, actions), walk(there, actions))
    finally:
        there.close()


def test_any_gymnasium_environment_will_do() -> None:
    machine = nrm.compile("F right", ["left", "right"])

    def side(observation: Any, info: Any, env: Any) -> str:
        return "right" if observation[0] > 0.05 else "left"

    world = VectorWorld.of(lambda: TaskEnv(gymnasium.make("CartPole-v1"), machine, side), 3)
    first = world.reset(0)
    assert first.shape == (3, 4)
    assert world.actions == 2
    paid = torch.zeros(3)
    for _ in range(60):
        batch = world.step(torch.ones(3, dtype=torch.int64))
        paid += batch.reward
        assert batch.observation.dtype == torch.float32
    assert (paid >= 100).all()


def test_misuse_is_named() -> None:
    with pytest.raises(WorldError, match=r"spends a step on every reset.*VectorWorld\.of"):
        VectorWorld(SyncVectorEnv([maker("paper")]))
    with pytest.raises(WorldError, match=r"have no task; wrap each in nrm\.TaskEnv"):
        VectorWorld.of(lambda: MinecraftEnv(), 2)
    with pytest.raises(WorldError, match="count is 0"):
        VectorWorld.of(maker("paper"), 0)
    makers = [lambda n=n: TaskEnv(MinecraftEnv(), paper_machine(n)) for n in (1, 2)]
    vector = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(WorldError, match="must share one task"):
        VectorWorld(vector)
    with pytest.raises(WorldError, match="actions must be Discrete"):
        VectorWorld.of(lambda: TaskEnv(gymnasium.make("Pendulum-v1"), MACHINE), 1)
    with pytest.raises(WorldError, match="observations must be a Box or Discrete"):
        VectorWorld.of(lambda: TaskEnv(gymnasium.make("Blackjack-v1"), MACHINE), 1)
    world = VectorWorld.of(maker("paper"), 2)
    with pytest.raises(WorldError, match=r"call reset\(seed\) before"):
        world.step(torch.zeros(2, dtype=torch.int64))
    world.reset(0)
    with pytest.raises(WorldError, match=r"action 4 in environment 1 is outside of Discrete\(4\), numbered from 0"):
        world.step(torch.tensor([0, 4]))
    with pytest.raises(WorldError, match="of another world: it has 0 environments, this one 2"):
        world.load_state_dict({})
