"""Episodes: potentials from rewards, distinct observations, rare rewards, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nrm.errors import EpisodeError
from nrm.neural import EpisodeBuffer, MlpGrounder, NeuralRewardMachine, ObservationTable
from nrm.neural.descent import marginal, sequence
from tests.neural.examples import letter_buffer, task

LEVELS = [0.0, 50.0, 100.0]


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


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=12), st.permutations(range(6))
)
def test_a_shared_table_gives_the_batches_of_ones_own(episodes: list[list[int]], order: list[int]) -> None:
    table = ObservationTable(np.array(order, dtype=np.float32)[:, None])  # numbered otherwise than the episodes go
    own, sharing = EpisodeBuffer(LEVELS), EpisodeBuffer(LEVELS, table=table)
    for letters in episodes:
        rows, levels = np.array(letters, dtype=np.float32)[:, None], [0] * len(letters)
        own.add(rows, levels=levels)
        sharing.add(rows, levels=levels)
    assert len(table) == 6
    for distinct in (True, False):
        batches = own.batch(distinct=distinct)[:4], sharing.batch(distinct=distinct)[:4]
        for mine, theirs in zip(*batches, strict=True):
            assert torch.equal(mine, theirs)


def test_batches_hold_observations_in_the_order_of_their_first_occurrence() -> None:
    buffer = EpisodeBuffer(LEVELS)
    buffer.add([[9], [3], [9]], levels=[0, 0, 0])
    buffer.add([[5], [3], [1]], levels=[0, 0, 0])
    assert buffer.batch().observations.flatten().tolist() == [9, 3, 5, 1]


def test_rewards_that_few_episodes_show_are_rare() -> None:
    buffer = EpisodeBuffer(LEVELS)
    for _ in range(49):
        buffer.add([[0], [1]], levels=[0, 0])
    buffer.add([[0], [1]], levels=[0, 2])
    assert int(buffer.rarity().argmax()) == 49


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
    with pytest.raises(EpisodeError, match="rewards, levels"):
        buffer.add([[0]])
    with pytest.raises(EpisodeError, match="2 observations but 1 labels"):
        buffer.add([[0], [0]], levels=[0])
    with pytest.raises(EpisodeError, match="episode 0"):
        buffer.add([], levels=[])
    with pytest.raises(EpisodeError, match=r"index 3\b.*0, 50, 100"):
        buffer.add([[0]], levels=[3])
    with pytest.raises(EpisodeError, match=r"episode 0, row 1.*NaN"):
        buffer.add([[0.0], [np.nan]], levels=[0, 0])
    buffer.add([[0.0]], levels=[0])
    with pytest.raises(EpisodeError, match="observations are float64 of shape"):
        buffer.add([[0.0, 1.0]], levels=[0])
    assert buffer.distinct == len(buffer.table) == 1  # what was refused has left nothing behind
    with pytest.raises(EpisodeError, match=r"\b2 .*\b1 steps"):
        buffer.add([[0.0]], levels=[0], symbols=[1, 2])
    with pytest.raises(EpisodeError, match=r"episode 0.*initial potential"):
        EpisodeBuffer(LEVELS).add([[0.0]], rewards=[0.0])
