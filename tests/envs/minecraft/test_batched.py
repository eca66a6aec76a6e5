from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

import nrm
from nrm.envs import (
    MINECRAFT_SYMBOLS,
    BatchedEnv,
    BatchedTasks,
    End,
    MinecraftConfig,
    MinecraftEnv,
    StepBatch,
    TaskEnv,
    ending_states,
    environment_seeds,
)
from nrm.envs.minecraft.env import settled
from nrm.errors import EnvError, UnknownSymbolError
from tests.envs.envs import CONFIGS, config, paper_machine
from tests.strategies import machines

COUNT = 5


def shown(env: BatchedEnv, observation: Tensor) -> Tensor:
    return observation if env.frames is None else env.frames[observation]


def random_actions(steps: int, count: int = COUNT, seed: int = 0) -> Tensor:
    return torch.randint(4, (steps, count), generator=torch.Generator().manual_seed(seed))


def walk(env: BatchedEnv, actions: Tensor) -> list[tuple[StepBatch, Any]]:
    return [(env.step(action), env.truth) for action in actions]


def through_a_file(state: dict[str, Any], folder: Path) -> Any:
    torch.save(state, folder / "state.pt")
    return torch.load(folder / "state.pt", weights_only=True)


def same(one: Any, other: Any) -> bool:
    """Whether two walks are equal, tensor for tensor."""
    return all(
        torch.equal(a, b)
        for left, right in zip(one, other, strict=True)
        for x, y in zip(left, right, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def compare(config: MinecraftConfig, machine: nrm.MooreMachine, end: End, seed: int, steps: int = 120) -> int:
    """Walk a batch and as many Gymnasium environments side by side; how many episodes ended."""
    batched = BatchedTasks(config, machine, COUNT, end)
    envs = [TaskEnv(MinecraftEnv(config), machine, end=end) for _ in range(COUNT)]
    first = shown(batched, batched.reset(seed)).numpy()
    for index, (env, own_seed) in enumerate(zip(envs, environment_seeds(seed, COUNT), strict=True)):
        assert (first[index] == env.reset(seed=own_seed)[0]).all()
    assert batched.truth.label.tolist() == [-1] * COUNT
    ended = 0
    for actions in random_actions(steps, seed=seed):
        batch, truth = batched.step(actions), batched.truth
        now, final = shown(batched, batch.observation).numpy(), shown(batched, batch.final_observation).numpy()
        for index, env in enumerate(envs):
            observation, paid, terminated, truncated, info = env.step(int(actions[index]))
            assert (final[index] == observation).all()
            assert batch.reward[index].item() == np.float32(paid)
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (terminated, truncated)
            assert int(truth.label[index]) == info["letter"]
            assert int(truth.final_state[index]) == info["machine_state"]
            if terminated or truncated:
                ended += 1
                observation, info = env.reset()
            assert (now[index] == observation).all()
            assert int(truth.state[index]) == info["machine_state"]
    return ended


@pytest.mark.parametrize("end", ["outcome", "absorbing", "limit"])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_batch_equals_gymnasium_environments_step_for_step(name: str, end: End) -> None:
    for number, reward in ((1, "distance"), (5, "distinct")):
        assert compare(config(name), paper_machine(number, reward), end, number) >= COUNT


@st.composite
def configs(draw: st.DrawFn, empty: str | None) -> MinecraftConfig:
    """Environments with items a and b, of every kind."""
    size = draw(st.tuples(st.integers(2, 5), st.integers(2, 5)))
    copies = draw(st.sampled_from((["a"], ["a", "a"], ["a", "b"], ["b"])))
    return MinecraftConfig(
        size=size,
        items=copies,
        layout="episode",
        start=draw(st.sampled_from(("random", (1, 0)))),
        slip=draw(st.sampled_from((0.0, 0.25, 1.0))),
        steps=draw(st.integers(1, 12)),
        observation=draw(st.sampled_from(("map", "image"))),
        pixels=24,
        empty=empty,
    )


@given(st.data(), machines(), st.sampled_from(("outcome", "absorbing", "limit")), st.integers(0, 2**40))
def test_any_batch_equals_its_environments(data: st.DataObject, machine: nrm.MooreMachine, end: End, seed: int) -> None:
    drawn = data.draw(configs("empty-cell" if machine.alphabet.is_exclusive else None))
    if data.draw(st.booleans()):
        drawn = settled(drawn, seed)
    try:
        ending_states(machine, end)
    except EnvError:
        assume(False)
    compare(drawn, machine, end, seed, steps=15)


def test_the_papers_env_against_a_plain_simulation() -> None:
    """Nothing shared with the code under test but the machine's `run`."""
    machine = paper_machine(5)
    env = BatchedTasks(MinecraftConfig(), machine, COUNT)
    env.reset(0)
    items = {(1, 1): "pickaxe", (0, 3): "gem", (3, 0): "door", (3, 3): "lava"}
    moves = ((0, -1), (1, 0), (0, 1), (-1, 0))
    cells, traces = [(0, 0)] * COUNT, [[] for _ in range(COUNT)]  # type: ignore[var-annotated]
    lengths = []
    assert env.frames is not None
    for actions in random_actions(400):
        batch = env.step(actions)
        for index in range(COUNT):
            x, y = (c + d for c, d in zip(cells[index], moves[int(actions[index])], strict=True))
            cells[index] = (min(max(x, 0), 3), min(max(y, 0), 3))
            traces[index].append(items.get(cells[index], "empty"))
            expected = machine.run(traces[index])
            assert batch.reward[index].item() == pytest.approx(expected.rewards[-1])
            assert tuple(env.frames[batch.final_observation[index]].tolist()) == cells[index]
            over = expected.accepted or bool(machine.dead[expected.states[-1]])
            late = len(traces[index]) == 50 and not over
            assert (bool(batch.terminated[index]), bool(batch.truncated[index])) == (over, late)
            if over or late:
                lengths.append(len(traces[index]))
                cells[index], traces[index] = (0, 0), []
            assert tuple(env.frames[batch.observation[index]].tolist()) == cells[index]
    assert max(lengths) == 50
    assert min(lengths) < 50


@pytest.mark.parametrize("observation", ["map", "image"])
def test_frames_are_all_observations_and_their_true_labels(observation: Any) -> None:
    env = BatchedTasks(MinecraftConfig(observation=observation), paper_machine(), 2)
    frames, labels, *_ = env.probe(0)
    assert env.frames is not None
    assert torch.equal(frames, env.frames)
    assert frames.shape == (16, *env.shape)
    assert frames.dtype == (torch.float32 if observation == "map" else torch.uint8)
    assert len(torch.unique(frames.flatten(1), dim=0)) == 16
    named = {cell: MINECRAFT_SYMBOLS[int(labels[cell])] for cell in range(16) if int(labels[cell]) != 4}
    assert named == {5: "pickaxe", 12: "gem", 3: "door", 15: "lava"}
    env.reset(0)
    for actions in random_actions(60, 2):
        batch = env.step(actions)
        assert torch.equal(labels[batch.final_observation], env.truth.label)


def test_without_a_fixed_layout_observations_are_given_whole() -> None:
    for observation, shape, kind in (("map", (2,), torch.float32), ("image", (64, 64, 3), torch.uint8)):
        drawn = MinecraftConfig(layout="episode", observation=observation)
        env = BatchedTasks(drawn, paper_machine(), 3)
        assert env.frames is None
        first = env.reset(0)
        assert first.shape == (3, *shape)
        assert first.dtype == kind


@pytest.mark.parametrize("name", CONFIGS)
def test_a_saved_state_goes_on_exactly(name: str, tmp_path: Path) -> None:
    machine = paper_machine(4)
    env = BatchedTasks(config(name), machine, COUNT)
    env.reset(8)
    walk(env, random_actions(37))
    saved = through_a_file(env.state_dict(), tmp_path)
    expected = walk(env, random_actions(90, seed=1))
    again = BatchedTasks(config(name), machine, COUNT)
    again.load_state_dict(saved)
    assert same(walk(again, random_actions(90, seed=1)), expected)
    env.load_state_dict(saved)
    assert same(walk(env, random_actions(90, seed=1)), expected)


def test_what_was_handed_out_does_not_change() -> None:
    env = BatchedTasks(config("layout-episode-image"), paper_machine(), COUNT)
    env.reset(0)
    steps = walk(env, random_actions(30))
    copies = [tuple(tuple(tensor.clone() for tensor in part) for part in step) for step in steps]
    walk(env, random_actions(60, seed=1))
    assert same(steps, copies)


@pytest.mark.parametrize("name", ["paper", "layout-episode-map", "layout-episode-image"])
def test_the_env_does_not_mind_what_is_done_to_what_it_handed_out(name: str) -> None:
    envs = [BatchedTasks(config(name), paper_machine(), COUNT) for _ in range(2)]
    for env in envs:
        env.reset(0).zero_()
    for actions in random_actions(60):
        one, other = (env.step(actions) for env in envs)
        assert same([[one, envs[0].truth]], [[other, envs[1].truth]])
        for tensor in (*other, *envs[1].truth):
            tensor.zero_()


def test_equal_seeds_give_equal_walks() -> None:
    def walked(seed: int) -> list[tuple[StepBatch, Any]]:
        env = BatchedTasks(config("random-start-slip-image"), paper_machine(), COUNT)
        env.reset(seed)
        return walk(env, random_actions(50))

    assert same(walked(1), walked(1))
    assert not same(walked(1), walked(2))


def test_a_step_shows_no_symbols() -> None:
    """What learners get: nothing of the truth, which has to be asked for."""
    assert StepBatch._fields == ("observation", "reward", "terminated", "truncated", "final_observation")


def test_propositions_and_other_symbols() -> None:
    machine = nrm.compile("F gem & G !lava", propositions=["door", "gem", "lava", "pickaxe"])
    env = BatchedTasks(MinecraftConfig(empty=None), machine, 1)
    assert env.probe(0).letters[[0, 3, 5, 12, 15]].tolist() == [0, 1, 8, 2, 4]
    few = MinecraftConfig(items=["b@1,1"], empty="e")
    env = BatchedTasks(few, nrm.compile("F a", nrm.logic.PAPER_SYMBOLS), 1)
    assert env.probe(0).letters[[0, 5]].tolist() == [4, 1]


@pytest.mark.parametrize(
    ("options", "symbols", "message"),
    [
        (
            {},
            ("pickaxe", "lava", "dor", "gem", "empty"),
            "'door' of the environment; did you mean 'dor'",
        ),
        ({}, ("pickaxe", "lava", "door", "gem", "none"), "'empty' of the environment"),
        ({"empty": None}, MINECRAFT_SYMBOLS, "one symbol holds at every step"),
    ],
)
def test_items_and_symbols_must_fit(options: dict[str, Any], symbols: tuple[str, ...], message: str) -> None:
    with pytest.raises(UnknownSymbolError, match=message):
        BatchedTasks(MinecraftConfig(**options), nrm.compile("F gem", symbols), 2)
    machine = nrm.compile("F gem", propositions=["pickaxe", "lava", "door", "gem"])
    with pytest.raises(UnknownSymbolError, match="'empty'"):
        BatchedTasks(MinecraftConfig(), machine, 2)


def test_misuse_is_named() -> None:
    machine = paper_machine()
    with pytest.raises(EnvError, match="count is 0"):
        BatchedTasks(MinecraftConfig(), machine, 0)
    env = BatchedTasks(MinecraftConfig(), machine, 2)
    for call in (lambda: env.step(torch.zeros(2, dtype=torch.int64)), env.state_dict, lambda: env.truth):
        with pytest.raises(EnvError, match=r"call reset\(seed\)"):
            call()
    env.reset(0)
    with pytest.raises(EnvError, match="action 4 in environment 1"):
        env.step(torch.tensor([0, 4]))
    with pytest.raises(EnvError, match="int64"):
        env.step(torch.zeros(3, dtype=torch.int64))
    with pytest.raises(EnvError, match=r"not float32"):
        env.step(torch.zeros(2))
    for other in (
        BatchedTasks(MinecraftConfig(slip=0.5), machine, 2),
        BatchedTasks(MinecraftConfig(), machine, 3),
        BatchedTasks(MinecraftConfig(), paper_machine(1, "three_value"), 2),
        BatchedTasks(MinecraftConfig(), machine, 2, end="limit"),
    ):
        with pytest.raises(EnvError, match=r"state.*environment"):
            other.load_state_dict(env.state_dict())
    with pytest.raises(EnvError, match="has version None"):
        env.load_state_dict({})
    with pytest.raises(EnvError, match="seed"):
        env.reset(-1)


def test_observations_of_drawn_layouts_can_be_probed() -> None:
    config = MinecraftConfig(observation="image", layout="episode")
    machine = nrm.compile("F pickaxe", "pickaxe lava door gem empty")
    env = BatchedTasks(config, machine, 2)
    seen, letters = env.probe(200, 3)
    assert seen.shape == (200, *env.shape)
    assert (letters == machine.alphabet.letter("empty")).sum() == 100
    assert len(set(letters.tolist())) == 5
    again = env.probe(200, 3)
    assert torch.equal(again.observations, seen)
    # Agents on the same item look alike where they stand, whatever the layout: the 16x16 pixels of their cell.
    looks: dict[int, set[bytes]] = {}
    tiles = seen.numpy().reshape(200, 4, 16, 4, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(200, 16, -1)
    for picture, letter in zip(tiles, letters.tolist(), strict=True):
        looks.setdefault(letter, set()).update(tile.tobytes() for tile in picture)
    common = {look for look in set[bytes]().union(*looks.values()) if sum(look in own for own in looks.values()) > 1}
    here = {letter: own - common for letter, own in looks.items()}
    assert all(len(own) == 1 for own in here.values())
