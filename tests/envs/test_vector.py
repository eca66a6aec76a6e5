from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor

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


class Told(gymnasium.Env[Any, Any]):
    """Keeps what it was told to do. It ends after five steps."""

    observation_space = spaces.Box(-10, 10, (2,), np.float32)

    def __init__(self, actions: Any) -> None:
        self.action_space = actions

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._sum = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        self._time = 0
        return self._sum, {"labels": ["left"]}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), action
        self._sum = (self._sum + np.asarray(action, dtype=np.float32).sum()).astype(np.float32)
        self._time += 1
        return self._sum, 0.0, False, self._time == 5, {"labels": ["left"]}


TOLD_MACHINE = nrm.compile("F right", ["left", "right"])
SPACES = {
    "box": spaces.Box(np.array([-0.5, 1.0]), np.array([0.5, 3.0]), dtype=np.float64),
    "table": spaces.Box(-1.0, 1.0, (2, 3)),
    "several": spaces.MultiDiscrete([2, 4], start=[0, 3]),
    "bits": spaces.MultiBinary(3),
    "numbered": spaces.Discrete(3, start=2),
}


def told(space: Any, count: int = 3) -> VectorWorld:
    return VectorWorld.of(lambda: TaskEnv(Told(space), TOLD_MACHINE), count)


def some_actions(space: Any, steps: int, count: int = 3) -> Tensor:
    """(steps, count, …) drawn, as a policy gives them: flat, and numbered from 0."""
    space.seed(0)
    first = getattr(space, "start", 0)
    drawn = np.stack([[np.asarray(space.sample() - first).flatten() for _ in range(count)] for _ in range(steps)])
    kind = np.float32 if isinstance(space, spaces.Box) else np.int64
    tensor = torch.from_numpy(drawn.astype(kind))
    return tensor[..., 0] if isinstance(space, spaces.Discrete) else tensor


@pytest.mark.parametrize("name", SPACES)
def test_every_kind_of_actions_reaches_the_environment_and_goes_on_exactly(name: str, tmp_path: Path) -> None:
    actions = some_actions(SPACES[name], 9)
    world, fresh = told(SPACES[name]), told(SPACES[name])
    world.reset(4)
    for step in actions[:7]:
        world.step(step)
    fresh.reset(0)
    fresh.load_state_dict(through_a_file(world.state_dict(), tmp_path))
    for step in actions[7:]:
        one, other = world.step(step), fresh.step(step)
        assert all(torch.equal(first, second) for first, second in zip(one, other, strict=True))


def test_actions_out_of_bounds_are_named() -> None:
    world = told(SPACES["box"])
    world.reset(0)
    with pytest.raises(WorldError, match=r"action \[0\. 5\.\] in environment 1 is outside of Box"):
        world.step(torch.tensor([[0.0, 2.0], [0.0, 5.0], [0.0, 2.0]]))
    with pytest.raises(WorldError, match="no finite bounds"):
        told(spaces.Box(-np.inf, np.inf, (2,)))


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
        told(spaces.Text(3))
    with pytest.raises(WorldError, match="observations must be a Box, Discrete or Dict"):
        VectorWorld.of(lambda: TaskEnv(gymnasium.make("Blackjack-v1"), MACHINE), 1)
    world = VectorWorld.of(maker("paper"), 2)
    with pytest.raises(WorldError, match=r"call reset\(seed\) before"):
        world.step(torch.zeros(2, dtype=torch.int64))
    world.reset(0)
    with pytest.raises(WorldError, match=r"action 4 in environment 1 is outside of Discrete\(4\), numbered from 0"):
        world.step(torch.tensor([0, 4]))
    with pytest.raises(WorldError, match="of another world: it has 0 environments, this one 2"):
        world.load_state_dict({})


def test_observations_that_are_no_numbers_are_named_with_environment_and_step() -> None:
    class Broken(gymnasium.ObservationWrapper[Any, Any, Any]):
        steps = 0

        def observation(self, observation: Any) -> Any:
            Broken.steps += 1
            return observation * (np.nan if Broken.steps == 7 else 1.0)  # two resets, two steps of each, one more

    world = VectorWorld.of(lambda: TaskEnv(Broken(MinecraftEnv()), paper_machine(1)), 2)
    world.reset(0)
    moves = torch.zeros(2, dtype=torch.int64)
    world.step(moves)
    world.step(moves)
    with pytest.raises(WorldError, match="environment 0 shows NaN or infinity in its observation at step 3"):
        world.step(moves)
    Broken.steps = 5
    with pytest.raises(WorldError, match=r"environment 1 shows NaN or infinity in its observation after reset\(\)"):
        world.reset(0)
