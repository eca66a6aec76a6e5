"""What judged recordings can teach, against counting over all strings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nrm
from nrm.detectors import coverage
from nrm.detectors.coverage import _expected
from nrm.machines import TaskSet

SYMBOLS = ("a", "b", "c", "d")


def rules(*formulas: str, symbols: tuple[str, ...] = SYMBOLS) -> TaskSet:
    return TaskSet(tuple(nrm.compile(one, symbols, reward="acceptance") for one in formulas), formulas)


def accepts(formula: str, letters: tuple[int, ...]) -> bool:
    return nrm.holds(formula, [SYMBOLS[letter] for letter in letters])


@pytest.mark.parametrize("formula", ["F(a & F b) & G !c", "F a & F b", "G !c"])
@pytest.mark.parametrize(("one", "other"), [(3, 1), (0, 1), (2, 3)])
def test_expected_refutations_are_those_of_all_strings(formula: str, one: int, other: int) -> None:
    machine = rules(formula).machines[0]
    mapping = np.arange(4)
    mapping[one] = other
    lengths, passed = np.array([1, 3, 3, 4]), np.array([False, True, False, False])
    total = 0.0
    for length, verdict in zip(lengths.tolist(), passed.tolist(), strict=True):
        alike = [word for word in itertools.product(range(4), repeat=length) if accepts(formula, word) == verdict]
        changed = [word for word in alike if accepts(formula, tuple(mapping[list(word)])) != verdict]
        total += len(changed) / len(alike) if alike else 0.0
    assert _expected(machine, mapping, lengths, passed) == pytest.approx(total)


def test_examples_are_the_shortest_recordings_that_help() -> None:
    found = coverage(rules("F(a & F b) & G !c"), [0, 0], [True, False], [3, 4])
    told = {(one.read, one.as_): one for one in found.pairs if not one.exchanged}
    assert told["d", "b"].example == ("a", "d")
    assert told["d", "b"].verdict is False
    assert told["a", "d"].example == ("a", "b")
    assert found.recordings == (("F(a & F b) & G !c", 1, 1),)


def test_symbols_that_a_rule_treats_alike_are_shortcuts_until_another_rule_tells_them() -> None:
    one = coverage(rules("F a & F b"), [0], [True], [5])
    assert {(told.read, told.as_, told.exchanged) for told in one.shortcuts} == {("a", "b", True), ("c", "d", False)}
    two = coverage(rules("F(a & F b)", "G !c"), [0, 1], [True, False], [5, 5])
    assert not two.shortcuts


def test_the_case_that_balanced_verdicts_hardly_teach_is_predicted() -> None:
    symbols = ("a", "b", "c", "d", "e")
    generator = np.random.default_rng(0)
    lengths = generator.integers(3, 13, size=1500)
    verdicts = [bool(number % 2) for number in range(1500)]
    tasks = rules("F(a & F b) & G !c & G !d", symbols=symbols)
    found = coverage(tasks, [0] * 1500, verdicts, lengths.tolist())
    assert {(told.read, told.as_) for told in found.weak} >= {("e", "a"), ("e", "b")}


def test_after_learning_detected_symbols_are_counted() -> None:
    letters = [np.array([0, 3]), np.array([0, 1]), np.array([3, 3, 3])]
    found = coverage(rules("F(a & F b)"), [0, 0, 0], [False, True, False], [2, 2, 3], letters)
    told = {(one.read, one.as_): one.recordings for one in found.pairs}
    assert told["d", "b"] == 1
    assert told["a", "c"] == 1
    assert told["c", "a"] == 0
