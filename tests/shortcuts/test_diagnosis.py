"""Diagnosis of grounders that are known to be right, mirrored, or wrong."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.errors import LimitError, NrmError
from nrm.machines import MooreMachine
from nrm.shortcuts import best_symmetry, diagnose, shortcuts
from nrm.shortcuts.diagnosis import assignment
from nrm.shortcuts.symmetry_group import SymmetryGroup
from tests.shortcuts.planted import planted

FOUND = shortcuts(nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS))


def table(mapping: str, weight: float = 10.0, noise: float = 1.0) -> np.ndarray:
    """The confusion matrix of a grounder that mostly takes a, b, c, d, e for the letters of `mapping`."""
    matrix = np.full((5, 5), noise)
    for row, image in enumerate(mapping):
        matrix[row, "abcde".index(image)] += weight
    return matrix


def test_a_perfect_grounder() -> None:
    result = diagnose(FOUND, table("abcde", noise=0))
    assert (result.kind, result.accuracy, result.accuracy_modulo_shortcuts) == ("identity", 1.0, 1.0)
    assert "the grounding is complete" in result.meaning


def test_a_mirrored_grounder() -> None:
    result = diagnose(FOUND, table("bacde", noise=0))
    assert result.kind == "symmetry"
    assert result.kind is not None
    assert result.accuracy == pytest.approx(0.6)
    assert result.accuracy_modulo_shortcuts == 1.0
    assert result.nearest["a"] == "b"
    assert result.witness is None
    assert "more training cannot help" in result.meaning


def test_letters_of_one_class() -> None:
    result = diagnose(FOUND, table("abeec"))
    assert result.kind == "class"
    assert result.accuracy_modulo_shortcuts > result.accuracy
    assert "harmless" in result.meaning


def test_a_failed_training() -> None:
    result = diagnose(FOUND, table("eeeee", noise=0))
    assert result.kind is None
    assert result.kind is None
    assert result.witness is not None
    run = FOUND.machine.run(result.witness)
    renamed = FOUND.machine.run([result.nearest[step] for step in result.witness if isinstance(step, str)])
    assert run.outputs != renamed.outputs
    assert result.accuracy == pytest.approx(0.2)
    assert result.accuracy_modulo_shortcuts == pytest.approx(0.6)
    assert "training has not found it" in result.meaning


def test_always_the_commonest_scores_low_when_balanced() -> None:
    matrix = np.zeros((5, 5))
    matrix[:, 4] = [1, 1, 1, 1, 96]
    result = diagnose(FOUND, matrix)
    assert result.accuracy == pytest.approx(0.96)
    assert result.balanced_accuracy == pytest.approx(0.2)


def test_symbols_never_observed_may_be_anything() -> None:
    matrix = np.zeros((5, 5))
    matrix[0, 1] = 3
    result = diagnose(FOUND, matrix)
    assert result.nearest == {"a": "b"}
    assert result.kind == "symmetry"
    assert "Never observed, so not judged: b, c, d, e." in result.meaning


def test_what_was_never_observed_may_still_need_repair() -> None:
    matrix = np.eye(5)
    matrix[3, 3] = 0
    result = diagnose(FOUND, matrix)
    assert (result.kind, result.accuracy) == ("identity", 1.0)
    assert "complete" not in result.meaning
    assert "Never observed, so not judged: d." in result.meaning
    assert "Never observed" not in diagnose(FOUND, np.eye(5)).meaning


@pytest.mark.parametrize(
    ("mapping", "noise", "said", "not_said"),
    [
        ("abcde", 0.1, "noise of training", "not finished"),
        ("abcde", 1000.0, "not reliably (20.2% exact", "noise"),
        ("bacde", 0.1, "more training cannot help", "not finished"),
        ("bacde", 100.0, "training is not finished", "its rewards are the true ones"),
        ("abeec", 0.1, "cannot teach the difference", "not finished"),
        ("abeec", 100.0, "training is not finished", "cannot teach the difference"),
    ],
)
def test_the_words_go_by_the_accuracy(mapping: str, noise: float, said: str, not_said: str) -> None:
    meaning = diagnose(FOUND, table(mapping, noise=noise)).meaning
    assert said in meaning
    assert not_said not in meaning


def test_symbols_confused_within_their_class_half_of_the_time() -> None:
    matrix = np.eye(5) * 10
    matrix[2:, 2:] += 9
    result = diagnose(FOUND, matrix)
    assert (result.kind, result.accuracy_modulo_shortcuts) == ("identity", 1.0)
    assert "the errors confuse symbols that the rewards of the task cannot separate" in result.meaning


@settings(max_examples=100, deadline=None)
@given(planted(), st.data())
def test_accuracy_modulo_shortcuts_is_the_best_over_all_symmetries(machine: MooreMachine, data: st.DataObject) -> None:
    found = shortcuts(machine)
    size = machine.alphabet.size
    row = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    matrix = np.array(data.draw(st.lists(row, min_size=size, max_size=size)), dtype=float)
    matrix[0, 0] += 1
    numbers = found.machine.letter_class
    best = max(
        sum(matrix[p, q] for p in range(size) for q in range(size) if images[numbers[p]] == numbers[q])
        for images in found.group.elements()
    )
    assert diagnose(found, matrix).accuracy_modulo_shortcuts == pytest.approx(best / matrix.sum())


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.data())
def test_assignment(size: int, data: st.DataObject) -> None:
    row = st.lists(st.integers(0, 20), min_size=size, max_size=size)
    scores = np.array(data.draw(st.lists(row, min_size=size, max_size=size)), dtype=float)
    columns = assignment(scores)
    assert sorted(columns) == list(range(size))
    best = max(sum(scores[r, c] for r, c in enumerate(order)) for order in permutations(range(size)))
    assert sum(scores[r, c] for r, c in enumerate(columns)) == best


def test_ten_visited_places_are_matched_at_once() -> None:
    names = [f"s{number}" for number in range(10)]
    found = shortcuts(nrm.compile(" & ".join(f"F {name}" for name in names), names))
    order = np.random.default_rng(3).permutation(10)
    result = diagnose(found, np.eye(10)[order] + 0.01)
    assert result.kind == "symmetry"
    assert result.nearest == {names[row]: names[image] for row, image in enumerate(order)}
    assert result.accuracy_modulo_shortcuts == pytest.approx(1.01 * 10 / 11)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((4, 5)), r"is \(4, 5\); give 5 x 5"),
        (np.ones(25), r"is \(25,\)"),
        (3, r"is \(\)"),
        (np.zeros((5, 5)), "all zero"),
        (-np.eye(5), "holds -1.0"),
        (np.full((5, 5), np.nan), "holds nan"),
        ([[1, 2], [3]], "table of numbers"),
        ("text", "table of numbers"),
    ],
)
def test_a_matrix_that_is_none_is_told(matrix: object, message: str) -> None:
    with pytest.raises(NrmError, match=message):
        diagnose(FOUND, matrix)  # type: ignore[arg-type]


def test_too_many_symmetries_to_compare() -> None:
    orbit = dict.fromkeys(range(600))
    group = SymmetryGroup(600, ((*range(1, 600), 0),), (orbit, orbit))
    with pytest.raises(LimitError, match="360,000"):
        best_symmetry(group, np.eye(600))
