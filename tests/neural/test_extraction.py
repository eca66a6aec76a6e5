"""Extraction, merging of what episodes do not tell apart, renaming, and pure learning."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.errors import LearningError
from nrm.inference import merge_states
from nrm.machines import Alphabet, MooreMachine
from nrm.neural import (
    EpisodeBuffer,
    NeuralRewardMachine,
    ProbabilisticMoore,
    TrueLabels,
    compare,
    discover,
    extract,
    renamed_letters,
    renaming,
)
from tests.neural.examples import letter_buffer, random_traces, task


@pytest.mark.parametrize("number", range(1, 9))
def test_a_known_machine_extracts_to_itself(number: int) -> None:
    machine = task(number)
    moore = ProbabilisticMoore.from_machine(machine)
    assert compare(extract(moore), machine).equivalent
    assert compare(extract(moore), machine, acceptance=True).equivalent
    model = NeuralRewardMachine(TrueLabels(5), moore)
    assert compare(extract(model, letter_buffer(machine, 200, 15)), machine).equivalent


def test_a_difference_comes_with_a_shortest_trace() -> None:
    found = compare(task(1), task(3))
    assert not found.equivalent
    assert found.difference is not None
    assert len(found.difference.trace) == 1
    assert "after (b) the first machine is" in str(found)


def test_extraction_takes_the_most_probable() -> None:
    moore = ProbabilisticMoore.unknown(["a", "b"], 2, [0.0, 1.0])
    with torch.no_grad():
        transitions, rewards = moore.parameters()
        transitions.copy_(torch.tensor([[[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]))
        rewards.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    assert extract(moore) == nrm.compile("F a", ["a", "b"], reward="acceptance")
    with pytest.raises(LearningError, match="give the whole model"):
        extract(moore, letter_buffer(task(1), 1, 1))


def test_merging_undoes_a_split_state_with_an_unseen_move() -> None:
    # F a with its last state twice; from the copy, letter b was never read, and would lead astray.
    alphabet = Alphabet.exclusive(["a", "b"])
    split = MooreMachine.from_table(alphabet, [[1, 0], [2, 1], [1, 0]], [False, True, True], [0.0, 100.0, 100.0])
    traces = [np.array([0, 1, 1]), np.array([1, 0, 0, 0]), np.array([0, 0, 0, 1])]
    merged = nrm.machines.minimise(merge_states(split, traces), by="outputs")
    assert merged == nrm.compile("F a", ["a", "b"])
    assert not compare(split, merged).equivalent


@given(st.integers(1, 8), st.integers(0, 1000), st.integers(1, 30))
def test_merging_keeps_what_the_traces_showed(number: int, seed: int, count: int) -> None:
    machine = task(number)
    # A machine with each state twice, the copies chosen by chance.
    generator = np.random.default_rng(seed)
    table = np.vstack([machine.transitions] * 2)
    table = table + machine.states * generator.integers(2, size=table.shape)
    double = MooreMachine.from_table(
        machine.alphabet, table, np.tile(machine.accepting, 2), np.tile(machine.outputs, 2), machine.initial
    )
    traces = random_traces(machine, count, 6, seed)
    merged = merge_states(double, [np.array(letters) for letters, _ in traces])
    for letters, levels in traces:
        outputs = merged.run(machine.alphabet.decode(letters)).outputs[1:]
        assert list(outputs) == machine.levels[levels].tolist()
    assert nrm.machines.minimise(merged, by="outputs").states <= double.states


@pytest.mark.parametrize("number", range(1, 9))
def test_a_renamed_machine_is_recognised(number: int) -> None:
    machine = task(number)
    order = np.random.default_rng(number).permutation(5)
    shuffled = MooreMachine.from_table(
        Alphabet.exclusive([f"s{n}" for n in range(5)]),
        machine.transitions[:, order],
        machine.accepting,
        machine.outputs,
    )
    found = renaming(shuffled, machine)
    assert found is not None
    assert compare(renamed_letters(shuffled, found, machine), machine).equivalent
    assert renaming(shuffled, task(2 if number != 2 else 1)) is None


def test_a_machine_with_more_to_it_is_no_renaming() -> None:
    # Task 5 can do what task 1 does, if one of its symbols is never read: that does not count.
    assert renaming(task(5), task(1)) is None


def test_everything_is_discovered_from_observations_and_rewards() -> None:
    machine = task(3)
    points = np.random.default_rng(0).normal(size=(10, 2)).astype(np.float32)
    # Ten different observations, two for each of the five symbols.
    buffer = EpisodeBuffer.for_machine(machine)
    generator = np.random.default_rng(1)
    for letters, levels in random_traces(machine, 150, 15, 2):
        buffer.add(points[np.array(letters) + 5 * generator.integers(2, size=15)], levels=levels)
    found = discover(buffer, 6)
    assert found.inferred.held_out == 1.0
    assert found.inferred.certainty.assumed == 0
    guess = found.inferred.guess()
    assert str(guess.formula if guess else "") == "F(a & F b)"
    assert renaming(found.machine, machine) is not None
    assert found.grounded == 1
    batch = buffer.batch()
    total, _ = found.model.batch_log_likelihood(batch, found.model.ground(batch.observations))
    assert -float(total.sum().detach()) / batch.steps < 0.2
    shown = found.model(torch.from_numpy(points)[None, [0, 1]]).rewards[0].argmax(-1)
    assert found.machine.levels[shown.numpy()].tolist() == [50.0, 100.0]


def test_discovery_says_when_it_cannot_work() -> None:
    buffer = EpisodeBuffer([0.0, 1.0], 0.0)
    with pytest.raises(LearningError, match="the buffer is empty"):
        discover(buffer, 2)
    unread = EpisodeBuffer([0.0, 1.0])
    unread.add(np.zeros((1, 1)), levels=[0])
    with pytest.raises(LearningError, match="the initial potential must be known"):
        discover(unread, 2)
    still = EpisodeBuffer([0.0, 1.0], 0.0)
    still.add(np.zeros((3, 1)), levels=[0, 0, 0])
    with pytest.raises(LearningError, match="no reward of the 1 episodes differs from zero"):
        discover(still, 2)
