"""Accuracy up to equivalence, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nrm
from nrm.errors import LimitError
from nrm.machines import TaskSet
from nrm.samplers import sample_tasks
from nrm.tracking import AccuracyMeter

ORDERED = nrm.compile("F(a & F b)", "a b c")
EITHER = nrm.compile("F a & F b", "a b c")


def test_a_mirror_image_counts_up_to_equivalence() -> None:
    found = AccuracyMeter(EITHER).compare(np.array([0, 1, 2, 0, 0]), np.array([1, 0, 2, 1, 0]))
    assert [found.plain, found.modulo_shortcuts] == pytest.approx([0.4, 0.8])
    assert AccuracyMeter(ORDERED).compare(np.array([0, 1]), np.array([1, 0])).modulo_shortcuts == 0.0


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
    found = AccuracyMeter(EITHER).compare(np.array([0, 1, 2, 1]), np.array([1, 0, 2, 1]))
    assert math.isnan(found.modulo_shortcuts)
    assert found.plain == 0.5
