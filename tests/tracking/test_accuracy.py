"""Accuracy near borders and far from them, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.errors import LimitError
from nrm.machines import TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.samplers import sample_tasks
from nrm.tracking import AccuracyMeter

ORDERED = nrm.compile("F(a & F b)", "a b c")
EITHER = nrm.compile("F a & F b", "a b c")


class Says(nn.Module):
    """Says what the observation is: its number is the letter."""

    def forward(self, observations: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(observations[:, 0].long(), 3).float()


def borders(machine: nrm.MooreMachine, said: list[int], true: list[int], distance: list[float]):  # type: ignore[no-untyped-def]
    model = NeuralRewardMachine(Says(), machine)
    observations, letters = torch.tensor(said)[:, None], torch.tensor(true)
    found = AccuracyMeter(machine).measure_borders(model, observations, letters, torch.tensor(distance), 0.1)
    assert found is not None
    assert repr(found.overall) == repr(AccuracyMeter(machine).measure(model, observations, letters))
    return found


def test_near_and_far_by_hand() -> None:
    found = borders(ORDERED, [0, 1, 2, 2, 0], [0, 1, 2, 1, 1], [0.5, 0.3, 0.05, 0.1, 0.02])
    assert (found.overall.plain, found.near, found.far) == (0.6, pytest.approx(1 / 3), 1.0)
    assert found.within == 0.1


def test_the_symmetry_is_the_one_that_fits_everything_best() -> None:
    """a and b are swapped everywhere but at one place near a border, which is right plainly and wrong as a mirror."""
    found = borders(EITHER, [1, 0, 2, 1, 0], [0, 1, 2, 0, 0], [0.5, 0.3, 0.4, 0.01, 0.02])
    assert found.overall.plain == pytest.approx(0.4)
    assert (found.near, found.far) == (0.5, 1.0)


def test_where_nothing_lies_there_is_no_share() -> None:
    found = borders(ORDERED, [0, 1], [0, 0], [0.5, 0.6])
    assert math.isnan(found.near)
    assert found.far == 0.5


def test_letters_that_all_of_many_tasks_treat_alike_are_one_and_mirror_images_count() -> None:
    tasks = TaskSet.of(["F a & F b", "F a | F b"], nrm.Alphabet.exclusive([*"abcd"]))
    true = np.array([0, 1, 2, 3, 0])
    found = AccuracyMeter(tasks).compare(true, np.array([1, 0, 3, 3, 0]))
    assert (found.plain, found.modulo_shortcuts) == (0.4, 0.8)


def test_three_hundred_tasks_over_forty_propositions_have_an_accuracy() -> None:
    names = [f"p{number}" for number in range(40)]
    tasks = sample_tasks("mixture", nrm.Alphabet.propositional(names), 300, 0)
    meter = AccuracyMeter(tasks)
    true = 1 << np.arange(40)
    assert meter.compare(true, true).modulo_shortcuts == 1.0
    assert "symmetries" in meter.note
    # Of the last half, each is taken for the next one: some task tells these apart.
    found = meter.compare(true, np.where(np.arange(40) < 20, true, np.roll(true, -1)))
    assert (found.plain, found.modulo_shortcuts) == (0.5, 0.5)


def test_without_shortcuts_shares_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(machine: object) -> None:
        raise LimitError("too many symmetries")

    monkeypatch.setattr("nrm.tracking.accuracy.shortcuts", too_many)
    found = borders(EITHER, [1, 0, 2, 1], [0, 1, 2, 1], [0.5, 0.3, 0.4, 0.01])
    assert math.isnan(found.overall.modulo_shortcuts)
    assert (found.near, found.far) == (1.0, pytest.approx(1 / 3))
