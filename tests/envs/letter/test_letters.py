"""The batched LetterWorld is the Gymnasium one, N times; grids are as promised; each episode has its own task."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

from nrm.envs import BatchedTasks, TaskEnv
from nrm.envs.counter_rng import environment_seeds, episode_keys, words
from nrm.envs.grids import next_cells
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.envs.letter.grid import all_reached, around, as_rows, begin, grids
from nrm.errors import EnvError, FileError
from nrm.logic.ltlf.formula import atom
from nrm.machines import Alphabet, TaskSet, compile_formula
from nrm.samplers import sample_tasks

SMALL = LetterConfig(size=5, letters=4, steps=12)


def pool(count: int, config: LetterConfig = SMALL) -> TaskSet:
    return sample_tasks("mixture", config.alphabet, count, 0, events=[atom(name) for name in config.names])


def reachable(size: int, contents: np.ndarray, empty: int) -> set[int]:
    """Cells that can be reached from cell 0 over empty cells, those where a way ends included."""
    seen, pending, moves = {0}, [0], next_cells(size, size, toroidal=True).tolist()
    while pending:
        cell = pending.pop()
        if cell and contents[cell] != empty:
            continue
        for after in moves[cell]:
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return seen


@pytest.mark.parametrize(
    "config",
    [LetterConfig(), SMALL, LetterConfig(size=9), LetterConfig(size=12, letters=26)],
    ids=lambda config: f"{config.letters} letters on {config.size}x{config.size}",
)
def test_all_cells_can_be_reached_without_stepping_on_letters(config: LetterConfig) -> None:
    for grid in grids(config)(words(list(range(40)))):
        assert grid[0] == config.letters
        expected = [2] * config.letters + [config.cells - config.letters * 2]
        assert np.bincount(grid, minlength=config.letters + 1).tolist() == expected
        assert len(reachable(config.size, grid, config.letters)) == config.cells


def test_letters_that_leave_hardly_any_good_grid_are_refused() -> None:
    with pytest.raises(EnvError, match="20 letters"):
        grids(LetterConfig(size=8, letters=20))


def test_every_good_grid_is_sampled_equally_often() -> None:
    config = LetterConfig(size=3, letters=2)
    found = begin(config, words(list(range(12_000))))
    places = [set(cells) for cells in combinations(range(1, 9), 4)]
    good = [cells for cells in places if len(reachable(3, np.array([int(c not in cells) for c in range(9)]), 1)) == 9]
    counts = [int((found[:, sorted(cells)] < 2).all(1).sum()) for cells in good]
    assert len(good) < len(places)
    assert sum(counts) == 12_000
    assert min(counts) > 0.8 * 12_000 / len(good)


def test_all_reached_is_its_slow_twin() -> None:
    generator = np.random.default_rng(0)
    for size in (2, 3, 5, 7, 9, 31):
        free = generator.random((60, size * size)) > generator.uniform(0.1, 0.6, (60, 1))
        free[:, 0] = True
        expected = [len(reachable(size, np.where(cells, 1, 0), 1)) == size * size for cells in free]
        assert all_reached(as_rows(free, size)).tolist() == expected


def test_the_agent_is_in_the_middle_of_what_it_sees() -> None:
    grid = np.arange(9)
    assert grid[around(3)[0]].reshape(3, 3).tolist() == [[8, 6, 7], [2, 0, 1], [5, 3, 4]]


@pytest.mark.parametrize(
    "config", [SMALL, replace(SMALL, observation="image"), replace(SMALL, size=9)], ids=["planes", "image", "9x9"]
)
def test_a_batch_is_its_environments(config: LetterConfig) -> None:
    tasks = pool(5)
    batched = BatchedTasks(config, tasks, 3)
    seen = batched.reset(4)
    seeds = environment_seeds(4, 3)
    generator = torch.Generator().manual_seed(0)
    for index, seed in enumerate(seeds):
        batched.reset(4)
        generator.manual_seed(index)
        episode = 0
        task = int(batched.task[index])
        env = TaskEnv(LetterEnv(config), tasks.machines[task])
        first, _ = env.reset(seed=seed)
        np.testing.assert_array_equal(first, seen[index].numpy())
        for _ in range(60):
            actions = torch.randint(4, (3,), generator=generator)
            batch = batched.step(actions)
            observed, reward, terminated, truncated, info = env.step(int(actions[index]))
            np.testing.assert_array_equal(observed, batch.final_observation[index].numpy())
            assert reward == pytest.approx(float(batch.reward[index]))
            assert terminated == bool(batch.terminated[index])
            assert truncated == bool(batch.truncated[index])
            assert info["letter"] == int(batched.truth.label[index])
            if terminated or truncated:
                episode += 1
                env = TaskEnv(LetterEnv(config), tasks.machines[int(batched.task[index])])
                observed, _ = env.reset(seed=int(episode_keys(words([seed]), episode)[0]))
                np.testing.assert_array_equal(observed, batch.observation[index].numpy())
        assert episode


def test_every_task_is_drawn_equally_often() -> None:
    tasks = pool(3)
    env = BatchedTasks(SMALL, tasks, 64)
    env.reset(0)
    drawn = torch.zeros(3, dtype=torch.int64)
    generator = torch.Generator().manual_seed(0)
    begun = torch.zeros(64, dtype=torch.bool)
    for _ in range(300):
        batch = env.step(torch.randint(4, (64,), generator=generator))
        begun |= batch.terminated | batch.truncated
        done = batch.terminated | batch.truncated
        drawn += torch.bincount(env.task[done], minlength=3)
    assert 0.8 < float(drawn.min() / drawn.max()) <= 1
    assert bool(begun.all())


def test_the_env_goes_on_exactly() -> None:
    tasks = pool(5)
    env, other = (BatchedTasks(SMALL, tasks, 4) for _ in range(2))
    env.reset(1)
    actions = torch.randint(4, (200, 4), generator=torch.Generator().manual_seed(2))
    for row in actions[:97]:
        env.step(row)
    other.load_state_dict(env.state_dict())
    for row in actions[97:]:
        for left, right in zip(env.step(row), other.step(row), strict=True):
            assert torch.equal(left, right)
        assert torch.equal(env.task, other.task)
    with pytest.raises(EnvError, match="of another environment"):
        BatchedTasks(SMALL, pool(4), 4).load_state_dict(env.state_dict())


@pytest.mark.filterwarnings("ignore:.*render_mode.*")
def test_gymnasium_is_content() -> None:
    check_env(LetterEnv(SMALL), skip_render_check=True)
    env = LetterEnv(SMALL, render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (320, 320, 3)


def test_bad_envs_are_refused() -> None:
    with pytest.raises(EnvError, match="do not fit"):
        LetterConfig(size=3, letters=8)
    with pytest.raises(EnvError, match=r"size is .*, not 32"):
        LetterConfig(size=32)
    with pytest.raises(EnvError, match="'planes'"):
        LetterConfig(observation="plane")
    with pytest.raises(EnvError, match="tasks here are over"):
        BatchedTasks(SMALL, compile_formula("F a", Alphabet.exclusive("ab")), 2)
    with pytest.raises(EnvError, match="the task G !a"):
        BatchedTasks(SMALL, TaskSet.of(["F a", "G !a"], SMALL.alphabet), 2)
    env = BatchedTasks(SMALL, pool(1), 2)
    with pytest.raises(EnvError, match="call reset"):
        env.step(torch.zeros(2, dtype=torch.int64))
    env.reset(0)
    with pytest.raises(EnvError, match="action 4 in environment 1"):
        env.step(torch.tensor([0, 4]))


MAPS = ["..a", "b..", ".ab"], [".b.", "...", "a.."]


def written(path: Path, maps: object) -> str:
    path.write_text(json.dumps(maps))
    return str(path)


def test_grids_come_from_a_file(tmp_path: Path) -> None:
    config = LetterConfig(size=3, letters=2, maps=written(tmp_path / "maps.json", MAPS))
    env = BatchedTasks(config, compile_formula("F a", config.alphabet), 40)
    seen = env.reset(0)
    known = [[["ab.".index(sign) for sign in "".join(rows)][cell] for cell in around(3)[0]] for rows in MAPS]
    shown = {tuple(np.where(grid.any(-1), grid.argmax(-1), 2).ravel().tolist()) for grid in seen.numpy()}
    assert shown == {tuple(grid) for grid in known}
    first, _ = LetterEnv(config).reset(seed=environment_seeds(0, 40)[7])
    np.testing.assert_array_equal(first, seen[7].numpy())


@pytest.mark.parametrize(
    ("maps", "place"),
    [
        ({}, "no list of maps"),
        ([], "no list of maps"),
        ([*MAPS, [".a."]], "map 3"),
        ([MAPS[0], ["...", "..", "..."]], "map 2, row 2"),
        ([MAPS[0], ["...", 7, "..."]], "map 2, row 2"),
        ([["...", "..c", "..."]], "map 1, row 2, column 3"),
        ([["a..", "...", "..."]], "map 1, row 1, column 1"),
    ],
)
def test_bad_maps_are_told_with_their_place(tmp_path: Path, maps: object, place: str) -> None:
    path = written(tmp_path / "maps.json", maps)
    with pytest.raises(EnvError, match=place):
        LetterEnv(LetterConfig(size=3, letters=2, maps=path))


def test_maps_are_refused_when_the_file_is_missing_or_no_json(tmp_path: Path) -> None:
    (tmp_path / "maps.json").write_text("[[")
    for name in ("maps.json", "none.json"):
        with pytest.raises(FileError, match=name):
            LetterEnv(LetterConfig(size=3, letters=2, maps=str(tmp_path / name)))
