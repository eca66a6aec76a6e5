"""Diagrams of letter classes against arrays of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.automata import ListedLetters, cubes_of
from nrm.automata.letters import LetterFunction
from nrm.errors import LimitError


def diagram_of_table(table: list[int], propositions: int) -> LetterFunction:
    return ListedLetters(np.array(table, dtype=np.int32)).function(propositions)


@st.composite
def tables(draw: st.DrawFn, propositions: int = 4) -> list[int]:
    """The class of each of 2^n letters; classes are numbered without gaps."""
    drawn = draw(st.lists(st.integers(0, 3), min_size=1 << propositions, max_size=1 << propositions))
    numbers = {value: place for place, value in enumerate(dict.fromkeys(drawn))}
    return [numbers[value] for value in drawn]


@given(tables())
def test_classes_sizes_and_letters(table: list[int]) -> None:
    diagram = diagram_of_table(table, 4)
    assert [diagram.at(letter) for letter in range(16)] == table
    assert diagram.take(np.arange(16)).tolist() == table
    assert diagram.listed().tolist() == table
    assert diagram.sizes(max(table) + 1) == tuple(np.bincount(table))
    for number, letter in diagram.first_letters().items():
        assert letter == table.index(number)
    for number, letter in diagram.examples(tuple).items():
        assert table[letter] == number
        assert letter.bit_count() == min(other.bit_count() for other in range(16) if table[other] == number)


@given(tables(), st.permutations(range(4)))
def test_orders(table: list[int], order: list[int]) -> None:
    assert diagram_of_table(table, 4).reordered(tuple(order)).listed().tolist() == table


@given(tables(3), st.permutations(range(5)))
def test_places_in_a_larger_alphabet(table: list[int], places: list[int]) -> None:
    diagram = diagram_of_table(table, 3).placed(places[:3], 5)
    expected = [table[sum((letter >> places[bit] & 1) << bit for bit in range(3))] for letter in range(32)]
    assert diagram.listed().tolist() == expected
    assert diagram.sizes(max(expected) + 1) == tuple(np.bincount(expected))


@given(tables(), st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_classes_can_be_merged(table: list[int], numbers: list[int]) -> None:
    merged = diagram_of_table(table, 4).relabelled(np.array(numbers))
    assert merged.listed().tolist() == [numbers[value] for value in table]


@settings(max_examples=200)
@given(tables(), st.sets(st.integers(0, 3)), st.permutations(range(4)))
def test_cubes_cover_exactly(table: list[int], classes: set[int], order: list[int]) -> None:
    cubes = cubes_of(diagram_of_table(table, 4).reordered(tuple(order)), 0, classes)
    covered = [[all((letter >> bit & 1) == true for bit, true in cube) for cube in cubes] for letter in range(16)]
    assert [any(row) for row in covered] == [value in classes for value in table]
    for place in range(len(cubes)):  # none is superfluous
        assert any(row[place] and sum(row) == 1 for row in covered)


def test_forty_propositions() -> None:
    """Any of 38 hazards or none: counts by hand."""
    levels = np.arange(37, -1, -1, dtype=np.int32)
    low = np.array([-1, *range(37)], dtype=np.int32)
    hazards = [bit for bit in range(40) if bit not in (3, 39)]
    hazard = LetterFunction(
        40, tuple(hazards), levels, low, np.full(38, -2, dtype=np.int32), np.array([37], dtype=np.int32)
    )
    assert hazard.sizes(2) == (4, 2**40 - 4)
    assert hazard.at(1 << 39 | 1 << 3) == 0
    with pytest.raises(LimitError, match=r"40 propositions have 2\^40 letters"):
        hazard.listed()
