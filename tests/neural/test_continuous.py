"""Symbols and machine where no observation comes twice."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import nrm
from nrm.errors import LearningError, LimitError
from nrm.inference import Episode, Evidence
from nrm.machines import LevelTable, until_over
from nrm.neural import EpisodeBuffer, discover, renaming
from nrm.neural.continuous import (
    Grounded,
    UnexplainedError,
    centres,
    clear_machine,
    continuous_grounders,
    ground_and_infer,
    learn_signatures,
    nearest,
    signatures,
)
from nrm.neural.em.steps import last_layer
from tests.neural.noisy import SHAPE, SYMBOLS, episodes, shown

TASK = "F a & F b"


def found(seed: int = 0, count: int = 120, states: int = 8, formula: str = TASK) -> Grounded:
    """What is learned of random episodes."""
    torch.set_num_threads(1)
    table, traces, first = LevelTable(), list[Episode](), 0
    recorded = episodes(formula, count, seed)
    for _, rewards, _ in recorded:
        traces.append(Episode(np.arange(first, first + len(rewards)), table.encode(rewards)))
        first += len(rewards)
    seen = torch.from_numpy(np.concatenate([observations for observations, _, _ in recorded]))
    return ground_and_infer(seen, traces, table.values, states, continuous_grounders(SHAPE), seed)


def test_symbols_that_the_level_alone_does_not_tell_apart_are_found() -> None:
    # From the first potential a and b do the same: only together with what was read before do they differ.
    known = found()
    assert known.explained == 1.0
    assert known.hypothesis.states == 4
    letters = np.repeat(np.arange(3), 50)
    read = known.read(torch.from_numpy(shown(letters, np.random.default_rng(99)))).reshape(3, 50)
    assert [len(set(row)) for row in read.tolist()] == [1, 1, 1]
    assert len(set(read[:, 0].tolist())) == 3
    assert read[2, 0] == 0  # what does nothing is symbol 0


def test_equal_seeds_give_equal_grounders() -> None:
    one, two = found(3, 40), found(3, 40)
    pairs = zip(one.grounder.parameters(), two.grounder.parameters(), strict=True)
    assert all(torch.equal(left, right) for left, right in pairs)
    assert one.hypothesis.same_as(two.hypothesis)


def test_nothing_is_found_where_there_is_nothing_or_too_little_room() -> None:
    with pytest.raises(UnexplainedError, match=r"1 states.*12 episodes"):
        found(count=12, formula="F a & F b & G !nothing", states=1)
    quiet = [Episode(np.arange(5), np.zeros(5, dtype=np.int64))]
    frames = torch.from_numpy(shown(np.full(5, 2), np.random.default_rng(0)))
    with pytest.raises(UnexplainedError):
        ground_and_infer(frames, quiet, np.zeros(1), 4, continuous_grounders(SHAPE), 0)


def test_discovery_goes_over_to_turns_where_observations_are_too_many() -> None:
    machine = nrm.compile(TASK, SYMBOLS)
    buffer = EpisodeBuffer.for_machine(machine)
    for observations, rewards, letters in episodes(TASK, 130, 1):
        buffer.add(observations, rewards=rewards, symbols=letters)
    assert buffer.distinct > 1024
    made = discover(buffer, 8)
    assert renaming(made.machine, until_over(machine)) is not None
    assert made.inferred.explained == 1.0
    assert len(made.symbols) == buffer.distinct
    guess = made.inferred.guess()
    assert guess is not None
    assert str(guess.formula) == "F a & F b"
    with pytest.raises(
        LimitError,
        match=r"reward noise.*0\.1",
    ):
        discover(buffer, 8, reward_noise=0.1)


def test_discovery_does_so_too_where_few_observations_come_again() -> None:
    machine = nrm.compile(TASK, SYMBOLS)
    buffer = EpisodeBuffer.for_machine(machine)
    for observations, rewards, _ in episodes(TASK, 60, 1):
        buffer.add(observations, rewards=rewards)
    assert 64 < buffer.distinct < 1024
    made = discover(buffer, 8)
    assert renaming(made.machine, until_over(machine)) is not None
    # Far fewer symbols than observations: they are no letters of their own.
    assert made.machine.alphabet.size < 6


def test_signatures_say_to_which_level_an_observation_leads() -> None:
    torch.manual_seed(0)
    # Positive numbers lead from potential 0 to 1, and nothing leaves potential 1.
    values = torch.linspace(-1, 1, 101)[:, None]
    leads = (values[:, 0] > 0.2).long().numpy()
    steps = [Episode(np.array([number]), leads[[number]]) for number in range(101)]
    steps += [Episode(np.array([100, number]), np.array([1, 1])) for number in range(101)]
    evidence = Evidence.of(steps, 101, 2, 0)
    grounder = nrm.neural.MlpGrounder(1, 4)
    learn_signatures(grounder, values, evidence, torch.Generator().manual_seed(0))
    features, changes = signatures(grounder, values, evidence)
    assert features.shape == (101, 64)
    assert bool((changes[values[:, 0] > 0.3] > 0.5).all())
    assert bool((changes[values[:, 0] < 0.1] < 0.5).all())


def test_centres_lie_far_apart_and_in_the_middle_of_what_is_near() -> None:
    rows = torch.tensor([[0.0], [1.0], [10.0], [12.0], [30.0]])
    assert sorted(centres(rows, 3)[:, 0].tolist()) == [0.5, 11.0, 30.0]
    assert nearest(rows, torch.tensor([[11.0], [0.5], [30.0]])).tolist() == [1, 1, 0, 0, 2]
    assert len(centres(torch.zeros(4, 2), 3)) == 1  # no more than there are


def test_misread_episodes_are_set_aside() -> None:
    # Letter 1 leads from potential 0 to potential 1. In one of ten episodes it was read as 0.
    right = [Episode(np.array([0, 1, 0]), np.array([0, 1, 1])) for _ in range(9)]
    wrong = Episode(np.array([0, 0, 0]), np.array([0, 1, 1]))
    read = clear_machine(Evidence.of([*right, wrong], 2, 2, 0), 4)
    assert read is not None
    assert read.hypothesis.table.tolist() == [[0, 1], [1, 1]]
    assert read.explained == 0.9
    # With more than a fifth of them misread, letters tell nothing.
    assert clear_machine(Evidence.of([*right[:3], wrong], 2, 2, 0), 4) is None


def test_a_grounder_without_a_linear_layer_is_refused() -> None:
    with pytest.raises(LearningError, match="Softmax"):
        last_layer(nn.Softmax(1), torch.zeros(1, 2))
