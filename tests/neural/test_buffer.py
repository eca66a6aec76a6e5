"""Episodes: levels from rewards, distinct observations, capacity, rare rewards, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nrm.errors import EpisodeError
from nrm.neural import EpisodeBuffer, MlpGrounder, NeuralRewardMachine, levels_from_rewards, observed_levels
from nrm.neural.objectives import marginal, sequence
from tests.neural.examples import letter_buffer, task

LEVELS = [0.0, 50.0, 100.0]


def test_levels_are_sums_of_rewards() -> None:
    assert levels_from_rewards([0, 50, 0, 50], LEVELS, 0.0).tolist() == [0, 1, 1, 2]
    assert levels_from_rewards(
        np.array([33.3333, 33.3333], dtype=np.float32), [0, 100 / 3, 200 / 3, 100], 0.0
    ).tolist() == [1, 2]
    assert levels_from_rewards([-50.0], LEVELS, 100.0).tolist() == [1]


@pytest.mark.parametrize("number", range(1, 9))
def test_rewards_of_runs_give_their_levels_back(number: int) -> None:
    machine = task(number)
    letters = np.random.default_rng(number).integers(5, size=30).tolist()
    run = machine.run(machine.alphabet.decode(letters))
    found = levels_from_rewards(run.rewards, machine.levels, machine.outputs[machine.initial])
    assert machine.levels[found].tolist() == list(run.outputs[1:])


def test_rewards_that_make_no_level_are_refused() -> None:
    with pytest.raises(EpisodeError, match=r"episode 7, step 1 .* sum to 25.*never outputs; its levels are 0, 50, 100"):
        levels_from_rewards([0, 25], LEVELS, 0.0, "episode 7")
    with pytest.raises(EpisodeError, match="sum to nan"):
        levels_from_rewards([np.nan], LEVELS, 0.0)


def test_levels_that_rewards_show() -> None:
    assert observed_levels([[0, 50, 50], [-100]]).tolist() == [-100.0, 0.0, 50.0, 100.0]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6))
def test_a_batch_holds_what_was_added(episodes: list[list[int]]) -> None:
    buffer = EpisodeBuffer(LEVELS)
    for letters in episodes:
        buffer.add(np.array(letters, dtype=np.float32)[:, None], levels=[letter % 3 for letter in letters])
    for distinct in (True, False):
        batch = buffer.batch(distinct=distinct)
        assert len(batch.observations) == (buffer.distinct if distinct else buffer.steps)
        for row, letters in enumerate(episodes):
            real = batch.seen[row, : len(letters)]
            assert batch.observations[real, 0].tolist() == letters
            assert batch.levels[row, : len(letters)].tolist() == [letter % 3 for letter in letters]
            assert int(batch.lengths[row]) == len(letters)
            assert int(batch.mask[row].sum()) == len(letters)


def test_grounding_distinct_observations_once_is_exact() -> None:
    machine = task(4)
    grid = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    buffer = EpisodeBuffer.for_machine(machine)
    source = letter_buffer(machine, 20, 15)
    for episode in source:
        buffer.add(grid[episode.symbols], levels=episode.levels)
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(2, 5), machine)
    for objective in (sequence, marginal):
        found = []
        for distinct in (True, False):
            batch = buffer.batch(distinct=distinct)
            loss = objective(model, batch, model.ground(batch.observations))
            found.append((loss, *torch.autograd.grad(loss, list(model.grounder.parameters()))))
        assert len(buffer.batch().observations) == 5
        torch.testing.assert_close(found[0], found[1])


def test_a_full_buffer_drops_the_oldest() -> None:
    buffer = EpisodeBuffer(LEVELS, capacity=3)
    for number in range(200):
        buffer.add(np.full((2, 1), number), levels=[0, 0])
    assert [int(buffer.observation(int(episode.index[0]))[0]) for episode in buffer] == [197, 198, 199]
    assert buffer.distinct == 3
    assert len(buffer._frames) < 100


def test_a_full_buffer_can_keep_what_is_rare() -> None:
    buffer = EpisodeBuffer(LEVELS, capacity=4, keep="rare")
    buffer.add([[0], [0]], levels=[0, 2])
    for number in range(20):
        buffer.add([[number], [0]], levels=[0, 0])
    assert buffer[0].levels.tolist() == [0, 2]
    assert len(buffer) == 4


def test_rare_rewards_are_drawn_more_often() -> None:
    buffer = EpisodeBuffer(LEVELS)
    for _ in range(49):
        buffer.add([[0], [1]], levels=[0, 0])
    buffer.add([[0], [1]], levels=[0, 2])
    assert int(buffer.rarity().argmax()) == 49
    generator = torch.Generator().manual_seed(0)
    rare = sum(49 in buffer.sample(5, generator, rare=True) for _ in range(200))
    even = sum(49 in buffer.sample(5, generator) for _ in range(200))
    assert rare > 150 > 60 > even
    assert len(set(buffer.sample(50, generator, rare=True))) == 50
    draw = [buffer.sample(5, torch.Generator().manual_seed(4)) for _ in range(2)]
    assert draw[0] == draw[1]


def test_a_split_holds_out_a_share() -> None:
    buffer = letter_buffer(task(1), 20, 3)
    kept, held = buffer.split(0.25, torch.Generator().manual_seed(0))
    assert len(held) == 5
    assert sorted(kept + held) == list(range(20))
    one = letter_buffer(task(1), 1, 3)
    assert one.split(0.9, torch.Generator()) == ([0], [])


def test_bad_episodes_are_refused() -> None:
    buffer = EpisodeBuffer(LEVELS, 0.0)
    with pytest.raises(EpisodeError, match="the buffer is empty"):
        buffer.batch()
    with pytest.raises(EpisodeError, match="the buffer is empty"):
        buffer.sample(1, torch.Generator())
    with pytest.raises(EpisodeError, match="either the rewards or the level indices"):
        buffer.add([[0]])
    with pytest.raises(EpisodeError, match="2 observations but 1 labels"):
        buffer.add([[0], [0]], levels=[0])
    with pytest.raises(EpisodeError, match="episode 0 has no steps"):
        buffer.add([], levels=[])
    with pytest.raises(EpisodeError, match=r"level index 3; the machine's levels are 0 to 2: 0, 50, 100"):
        buffer.add([[0]], levels=[3])
    with pytest.raises(EpisodeError, match=r"step 1 .* NaN or infinity"):
        buffer.add([[0.0], [np.nan]], levels=[0, 0])
    buffer.add([[0.0]], levels=[0])
    with pytest.raises(EpisodeError, match="observations are float64 of shape"):
        buffer.add([[0.0, 1.0]], levels=[0])
    with pytest.raises(EpisodeError, match="2 true symbols for 1 steps"):
        buffer.add([[0.0]], levels=[0], symbols=[1, 2])
    with pytest.raises(EpisodeError, match="must know the initial level"):
        EpisodeBuffer(LEVELS).add([[0.0]], rewards=[0.0])
    with pytest.raises(EpisodeError, match="its capacity is 0"):
        EpisodeBuffer(LEVELS, capacity=0)
