"""A batch of planes equals its environments step for step, goes on exactly, and can be probed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.envs import BatchedTasks, End, PlaneConfig, PlaneEnv, TaskEnv, environment_seeds
from nrm.envs.minecraft import MinecraftConfig
from nrm.envs.plane import FLAT
from nrm.errors import EnvError
from tests.envs.envs import paper_machine
from tests.envs.plane.planes import plane

COUNT = 5
SMALL: dict[str, Any] = {"discs": ("red@-0.3,0,0.3", "green@0.4,0,0.3", "blue@0,0.8,0.2"), "step": 0.2, "steps": 30}
OVERLAPPING: dict[str, Any] = {"discs": FLAT.discs, "bounds": FLAT.bounds, "step": 0.3, "steps": 30, "empty": None}
CONFIGS: dict[str, dict[str, Any]] = {
    "robot": {},
    "small": SMALL,
    "nine": {**SMALL, "directions": 9},
    "continuous": {**SMALL, "actions": "continuous"},
    "lidar": {**SMALL, "observation": "lidar", "start": "outside"},
    "ends": {**SMALL, "edge": "end", "start": (0.3, 0.3)},
    "flat": {**OVERLAPPING, "edge": "end", "start": "outside"},
    "flat-lidar": {**OVERLAPPING, "edge": "end", "start": (1.2, 1.2), "observation": "lidar"},
}


def config(name: str) -> PlaneConfig:
    return plane(**CONFIGS[name])


def machine_of(config: PlaneConfig) -> nrm.MooreMachine:
    formula = "F(red & F green) & G !blue"
    if config.empty is None:
        return nrm.compile(formula, propositions=config.names)
    return nrm.compile(formula, config.alphabet)


def random_actions(env: BatchedTasks, steps: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if not isinstance(env.actions, int):
        return 2 * torch.rand(steps, env.count, 2, generator=generator) - 1
    return torch.randint(env.actions, (steps, env.count), generator=generator)


@pytest.mark.parametrize("end", ["outcome", "limit"])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_batch_equals_gymnasium_environments_step_for_step(name: str, end: End) -> None:
    made = config(name)
    machine = machine_of(made)
    batched = BatchedTasks(made, machine, COUNT, end)
    envs = [TaskEnv(PlaneEnv(made), machine, end=end) for _ in range(COUNT)]
    first = batched.reset(3).numpy()
    for index, (env, seed) in enumerate(zip(envs, environment_seeds(3, COUNT), strict=True)):
        assert (first[index] == env.reset(seed=seed)[0]).all()
    assert batched.truth.label.tolist() == [-1] * COUNT
    ended, letters = 0, set()
    for actions in random_actions(batched, 150):
        batch, truth = batched.step(actions), batched.truth
        for index, env in enumerate(envs):
            action = int(actions[index]) if actions.dim() == 1 else actions[index].numpy()
            observation, paid, terminated, truncated, info = env.step(action)
            assert observation in env.observation_space
            assert (batch.final_observation[index].numpy() == observation).all()
            assert batch.reward[index].item() == np.float32(paid)
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (terminated, truncated)
            assert int(truth.label[index]) == info["letter"]
            assert int(truth.final_state[index]) == info["machine_state"]
            letters.add(info["letter"])
            if terminated or truncated:
                ended += 1
                observation, info = env.reset()
            assert (batch.observation[index].numpy() == observation).all()
            assert int(truth.state[index]) == info["machine_state"]
    assert ended >= COUNT
    assert len(letters) > 1


@pytest.mark.parametrize("name", ["nine", "lidar", "ends"])
def test_a_saved_state_goes_on_exactly(name: str, tmp_path: Path) -> None:
    machine = machine_of(config(name))
    env = BatchedTasks(config(name), machine, COUNT)
    env.reset(8)
    for actions in random_actions(env, 37):
        env.step(actions)
    torch.save(env.state_dict(), tmp_path / "state.pt")
    saved = torch.load(tmp_path / "state.pt", weights_only=True)
    again = BatchedTasks(config(name), machine, COUNT)
    again.load_state_dict(saved)
    for actions in random_actions(env, 60, seed=1):
        one, other = (*env.step(actions), *env.truth), (*again.step(actions), *again.truth)
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_env_does_not_mind_what_is_done_to_what_it_handed_out() -> None:
    envs = [BatchedTasks(config("nine"), machine_of(config("nine")), COUNT) for _ in range(2)]
    for env in envs:
        env.reset(0).zero_()
    for actions in random_actions(envs[0], 60):
        one, other = ((*env.step(actions), *env.truth) for env in envs)
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        for tensor in other:
            tensor.zero_()


def test_leaving_ends_the_episode() -> None:
    env = BatchedTasks(plane(start=(0.95, 0.0), edge="end"), machine_of(config("robot")), 1)
    env.reset(0)
    batch = env.step(torch.tensor([0]))
    assert (batch.terminated.item(), batch.reward.item()) == (True, 0.0)


@pytest.mark.parametrize("name", ["robot", "flat-lidar"])
def test_probes_are_even_and_right(name: str) -> None:
    made = config(name)
    env = BatchedTasks(made, machine_of(made), 2)
    probe = env.probe(4000, 0)
    assert all(map(torch.equal, probe, env.probe(4000, 0)))
    assert not torch.equal(probe.letters, env.probe(4000, 1).letters)
    assert probe.observations.shape == (4000, *env.shape)
    if name == "robot":
        # The discs cover pi (0.35^2 + 0.35^2 + 0.15^2) of an area of 4.
        share = float((probe.letters != 3).double().mean())
        assert share == pytest.approx(np.pi * 0.2675 / 4, abs=0.02)
        for place in range(50):
            away = [np.hypot(*(probe.observations[place].numpy() - d[1:3])) - d[3] for d in made.placed]
            inside = [d.name for d, apart in zip(made.placed, away, strict=True) if apart <= 0]
            assert made.alphabet.symbols[int(probe.letters[place])] == (inside[0] if inside else "empty")


def test_grids_are_probed_from_drawn_cells_half_of_them_with_an_item() -> None:
    env = BatchedTasks(MinecraftConfig(observation="image", layout="episode"), paper_machine(), 1)
    one, same, other = (env.probe(40, seed) for seed in (0, 0, 1))
    assert one.observations.shape == (40, 64, 64, 3)
    assert int((one.letters != env.machine.alphabet.symbols.index("empty")).sum()) == 20
    assert torch.equal(one.observations, same.observations)
    assert not torch.equal(one.observations, other.observations)


def test_misuse_is_named() -> None:
    machine = machine_of(config("robot"))
    free = BatchedTasks(PlaneConfig(actions="continuous"), machine, 2)
    free.reset(0)
    with pytest.raises(EnvError, match="in environment 1"):
        free.step(torch.tensor([[0.0, 0.0], [0.0, 1.5]]))
    with pytest.raises(EnvError, match=r"int64"):
        free.step(torch.zeros(2, dtype=torch.int64))
    env = BatchedTasks(PlaneConfig(), machine, 2)
    for call in (lambda: env.step(torch.zeros(2, dtype=torch.int64)), env.state_dict, lambda: env.truth):
        with pytest.raises(EnvError, match=r"call reset\(seed\)"):
            call()
    env.reset(0)
    with pytest.raises(EnvError, match="action 8 in environment 1"):
        env.step(torch.tensor([0, 8]))
    with pytest.raises(EnvError, match=r"not float32"):
        env.step(torch.zeros(2))
    with pytest.raises(EnvError, match=r"state.*environment"):
        BatchedTasks(plane(steps=20), machine, 2).load_state_dict(env.state_dict())
