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
from nrm.envs import BatchedEnv, BatchedTasks, GymVectorEnv, MinecraftEnv, TaskEnv
from nrm.errors import EnvError
from tests.envs.envs import config, paper_machine
from tests.envs.minecraft.test_batched import COUNT, random_actions, same, shown, through_a_file, walk

MACHINE = paper_machine(5)


def maker(name: str) -> Any:
    return lambda: TaskEnv(MinecraftEnv(config(name)), MACHINE)


@pytest.mark.parametrize("name", ["paper", "image", "slip", "layout-episode-image", "one-step"])
def test_it_equals_the_batched_env(name: str) -> None:
    env: BatchedEnv = GymVectorEnv.of(maker(name), COUNT)
    tables = BatchedTasks(config(name), MACHINE, COUNT)
    assert (env.shape, env.actions, env.count) == (tables.shape, tables.actions, tables.count)
    assert torch.equal(env.reset(3), shown(tables, tables.reset(3)))
    assert same([[env.truth]], [[tables.truth]])
    for actions in random_actions(80):
        one, other = env.step(actions), tables.step(actions)
        whole = other._replace(
            observation=shown(tables, other.observation), final_observation=shown(tables, other.final_observation)
        )
        assert same([[one, env.truth]], [[whole, tables.truth]])


def test_the_last_observations_are_kept_with_their_letters() -> None:
    env = GymVectorEnv.of(maker("paper"), 3)
    env.reset(0)
    assert env.probe(0) is None
    seen = []
    for step, actions in enumerate(random_actions(520, 3)):
        batch = env.step(actions)
        seen.append((batch.final_observation[step % 3].tolist(), int(env.truth.label[step % 3])))
    shown = env.probe(0)
    assert shown is not None
    assert list(zip(shown.observations.tolist(), shown.letters.tolist(), strict=True)) == seen[-512:]


@pytest.mark.parametrize("name", ["paper", "slip", "layout-episode-image", "one-step"])
def test_a_saved_state_goes_on_exactly(name: str, tmp_path: Path) -> None:
    env = GymVectorEnv.of(maker(name), COUNT)
    env.reset(2)
    walk(env, random_actions(33))
    saved = through_a_file(env.state_dict(), tmp_path)
    before = env.truth
    expected = walk(env, random_actions(60, seed=1))
    again = GymVectorEnv.of(maker(name), COUNT)
    again.load_state_dict(saved)
    assert same([[again.truth]], [[before]])
    assert same(walk(again, random_actions(60, seed=1)), expected)


def test_environments_in_processes_of_their_own() -> None:
    here, there = GymVectorEnv.of(maker("slip"), 2), GymVectorEnv.of(maker("slip"), 2, processes=True)
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

    batched = GymVectorEnv.of(lambda: TaskEnv(gymnasium.make("CartPole-v1"), machine, side), 3)
    first = batched.reset(0)
    assert first.shape == (3, 4)
    assert batched.actions == 2
    paid = torch.zeros(3)
    for _ in range(60):
        batch = batched.step(torch.ones(3, dtype=torch.int64))
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


def told(space: Any, count: int = 3) -> GymVectorEnv:
    return GymVectorEnv.of(lambda: TaskEnv(Told(space), TOLD_MACHINE), count)


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
    env, fresh = told(SPACES[name]), told(SPACES[name])
    env.reset(4)
    for step in actions[:7]:
        env.step(step)
    fresh.reset(0)
    fresh.load_state_dict(through_a_file(env.state_dict(), tmp_path))
    for step in actions[7:]:
        one, other = env.step(step), fresh.step(step)
        assert all(torch.equal(first, second) for first, second in zip(one, other, strict=True))


def test_actions_out_of_bounds_are_named() -> None:
    env = told(SPACES["box"])
    env.reset(0)
    with pytest.raises(EnvError, match=r"\[0\. 5\.\].*environment 1.*Box"):
        env.step(torch.tensor([[0.0, 2.0], [0.0, 5.0], [0.0, 2.0]]))
    with pytest.raises(EnvError, match="finite bounds"):
        told(spaces.Box(-np.inf, np.inf, (2,)))


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match=r"GymVectorEnv\.of"):
        GymVectorEnv(SyncVectorEnv([maker("paper")]))
    with pytest.raises(EnvError, match=r"nrm\.TaskEnv"):
        GymVectorEnv.of(lambda: MinecraftEnv(), 2)
    with pytest.raises(EnvError, match="count is 0"):
        GymVectorEnv.of(maker("paper"), 0)
    makers = [lambda n=n: TaskEnv(MinecraftEnv(), paper_machine(n)) for n in (1, 2)]
    vector = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(EnvError, match="one task"):
        GymVectorEnv(vector)
    with pytest.raises(EnvError, match="Discrete"):
        told(spaces.Text(3))
    with pytest.raises(EnvError, match="Box, Discrete or Dict"):
        GymVectorEnv.of(lambda: TaskEnv(gymnasium.make("Blackjack-v1"), MACHINE), 1)
    env = GymVectorEnv.of(maker("paper"), 2)
    with pytest.raises(EnvError, match=r"reset\(seed\)"):
        env.step(torch.zeros(2, dtype=torch.int64))
    env.reset(0)
    with pytest.raises(EnvError, match=r"action 4.*environment 1.*Discrete\(4\)"):
        env.step(torch.tensor([0, 4]))
    with pytest.raises(EnvError, match=r"batch.*\b0 environments"):
        env.load_state_dict({})


def test_observations_that_are_no_numbers_are_named_with_environment_and_step() -> None:
    class Broken(gymnasium.ObservationWrapper[Any, Any, Any]):
        steps = 0

        def observation(self, observation: Any) -> Any:
            Broken.steps += 1
            return observation * (np.nan if Broken.steps == 7 else 1.0)  # two resets, two steps of each, one more

    env = GymVectorEnv.of(lambda: TaskEnv(Broken(MinecraftEnv()), paper_machine(1)), 2)
    env.reset(0)
    moves = torch.zeros(2, dtype=torch.int64)
    env.step(moves)
    env.step(moves)
    with pytest.raises(EnvError, match=r"environment 0.*NaN.*step 3"):
        env.step(moves)
    Broken.steps = 5
    with pytest.raises(EnvError, match=r"environment 1.*NaN.*reset\(\)"):
        env.reset(0)
