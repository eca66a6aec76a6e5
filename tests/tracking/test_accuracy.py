"""Accuracy near borders and far from them, by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.errors import LimitError
from nrm.neural import NeuralRewardMachine
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


def test_without_shortcuts_shares_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(machine: object) -> None:
        raise LimitError("too many symmetries")

    monkeypatch.setattr("nrm.tracking.accuracy.shortcuts", too_many)
    found = borders(EITHER, [1, 0, 2, 1], [0, 1, 2, 1], [0.5, 0.3, 0.4, 0.01])
    assert math.isnan(found.overall.modulo_shortcuts)
    assert (found.near, found.far) == (1.0, pytest.approx(1 / 3))
