"""Renaming, and symbols and machine from episodes alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nrm
from nrm.errors import LearningError
from nrm.machines import Alphabet, MooreMachine
from nrm.neural import (
    EpisodeBuffer,
    discover,
    renaming,
)
from tests.neural.examples import random_traces, task


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
    assert nrm.difference(shuffled.relettered(machine.alphabet, found), machine, acceptance=False) is None
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
    with pytest.raises(LearningError, match="initial potential"):
        discover(unread, 2)
    still = EpisodeBuffer([0.0, 1.0], 0.0)
    still.add(np.zeros((3, 1)), levels=[0, 0, 0])
    with pytest.raises(LearningError, match=r"reward.*1 episodes"):
        discover(still, 2)
