"""Moves in diagrams against plain tables: walking, products, minimisation, orders and searches."""

from __future__ import annotations

from itertools import product as combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.aliases import IntArray
from nrm.automata import Limits, ListedLetters, Table, coarsest_congruence, move_diagram
from nrm.automata.move_diagram import MoveDiagram
from nrm.errors import LimitError

PROPOSITIONS = 3
LETTERS = 1 << PROPOSITIONS


@st.composite
def full_tables(draw: st.DrawFn, most: int = 6) -> IntArray:
    """(states, 8) the next state by letter."""
    states = draw(st.integers(1, most))
    cells = st.lists(st.integers(0, states - 1), min_size=LETTERS, max_size=LETTERS)
    return np.array(draw(st.lists(cells, min_size=states, max_size=states)), dtype=np.int32)


def diagram_of(table: IntArray) -> MoveDiagram:
    each = ListedLetters(np.arange(LETTERS, dtype=np.int32))
    return MoveDiagram.of_classes(each.function(PROPOSITIONS), table)


def listed(table: IntArray) -> Table:
    return Table(np.arange(LETTERS, dtype=np.int32), table)


def table_of(diagram: MoveDiagram) -> IntArray:
    rows = [[diagram.next_state(state, letter) for letter in range(LETTERS)] for state in range(diagram.states)]
    return np.array(rows, dtype=np.int32)


def check_reduced(diagram: MoveDiagram) -> None:
    rows = list(zip(diagram.levels.tolist(), diagram.low.tolist(), diagram.high.tolist(), strict=True))
    assert len(set(rows)) == len(rows)
    assert all(low != high for _, low, high in rows)
    used = {node for _, *children in rows for node in children} | set(diagram.roots.tolist())
    assert set(range(diagram.nodes)) <= used
    for level, *children in rows:
        assert all(child < 0 or diagram.levels[child] > level for child in children)


@given(full_tables(), st.permutations(range(PROPOSITIONS)))
def test_moves_in_any_order(table: IntArray, order: list[int]) -> None:
    diagram = diagram_of(table)
    turned = diagram.reordered(tuple(order))
    for found in (diagram, turned, turned.ascending()):
        check_reduced(found)
        assert np.array_equal(table_of(found), table)
    states, letters = (array.ravel() for array in np.indices(table.shape))
    assert np.array_equal(turned.take(states, letters), table.ravel())
    assert turned.key == diagram.key
    for state in range(len(table)):
        assert set(turned.targets(state)) == set(table[state].tolist())
        for target, letter in turned.plainest(state, tuple):
            leading = [other for other in range(LETTERS) if table[state, other] == target]
            assert letter == min(leading, key=lambda other: (other.bit_count(), other))


@given(full_tables(), st.lists(st.booleans(), min_size=6, max_size=6))
def test_what_tables_tell(table: IntArray, drawn: list[bool]) -> None:
    diagram, goals = diagram_of(table), np.array(drawn[: len(table)])
    assert np.array_equal(diagram.absorbing(), listed(table).absorbing())
    assert np.array_equal(diagram.distances(goals), listed(table).distances(goals))
    assert [diagram.entered(state) for state in range(len(table))] == [
        bool((table == state).any()) for state in range(len(table))
    ]
    assert set(diagram.canonical(0)[1].tolist()) == set(np.flatnonzero(distances_from(table)).tolist())
    classes = diagram.classes()
    assert np.array_equal(classes.columns[:, classes.letters.listed()], table)
    assert np.array_equal(diagram.edges(), listed(table).edges())


def distances_from(table: IntArray) -> np.ndarray:
    seen = np.zeros(len(table), dtype=bool)
    seen[0] = True
    for _ in table:
        seen[table[seen].ravel()] = True
    return seen


@settings(max_examples=60)
@given(full_tables(), full_tables(), st.permutations(range(PROPOSITIONS)))
def test_products(left: IntArray, right: IntArray, order: list[int]) -> None:
    two = diagram_of(right).reordered(tuple(order))
    found, a, b = diagram_of(left).product(two, Limits())
    check_reduced(found)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert pairs[0] == (0, 0)
    assert len(set(pairs)) == len(pairs)
    for state, (one, other) in enumerate(pairs):
        targets = table_of(found)[state].tolist()
        assert [pairs[target] for target in targets] == list(
            zip(left[one].tolist(), right[other].tolist(), strict=True)
        )


@settings(max_examples=60)
@given(full_tables(), st.lists(st.integers(0, 1), min_size=6, max_size=6), st.booleans())
def test_congruences(table: IntArray, labels: list[int], weak: bool) -> None:
    own = np.array(labels[: len(table)])
    with pytest.MonkeyPatch.context() as patch:
        if weak:  # fingerprints that tell nothing apart
            patch.setattr(move_diagram, "scattered", lambda values: np.zeros(len(values), dtype=np.uint64))
        found = diagram_of(table).congruence(own)
    expected = coarsest_congruence(table, own)
    assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == len(set(expected.tolist()))
    assert len(set(found.tolist())) == len(set(expected.tolist()))
    quotient, kept = diagram_of(table).quotient(found)
    check_reduced(quotient)
    assert np.array_equal(table_of(quotient), found[table[kept]])


@given(full_tables(), st.sets(st.integers(0, 5)))
def test_halted_states(table: IntArray, drawn: set[int]) -> None:
    states = np.array([state for state in sorted(drawn) if state < len(table)], dtype=np.int32)
    expected = table.copy()
    expected[states] = states[:, None]
    found = diagram_of(table).halted(states)
    check_reduced(found)
    assert np.array_equal(table_of(found), expected)
    assert np.array_equal(listed(table).halted(states).columns, expected)


@given(full_tables(), full_tables())
def test_side_by_side(left: IntArray, right: IntArray) -> None:
    union = diagram_of(left).beside([diagram_of(right)])
    check_reduced(union)
    assert np.array_equal(table_of(union), np.concatenate([left, right + len(left)]))


@settings(max_examples=60)
@given(full_tables(4), full_tables(4), st.lists(st.integers(0, 1), min_size=8, max_size=8))
def test_strings_that_tell_apart(left: IntArray, right: IntArray, labels: list[int]) -> None:
    def differ(a: int, b: int) -> bool:
        return labels[a] != labels[4 + b]

    found = diagram_of(left).difference(diagram_of(right), (0, 0), differ)
    shortest = None
    for length in range(3):
        for string in combinations(range(LETTERS), repeat=length):
            a = b = 0
            for letter in string:
                a, b = int(left[a, letter]), int(right[b, letter])
            if shortest is None and differ(a, b):
                shortest = length
    if shortest is not None:
        assert found is not None
        assert len(found[0]) == shortest
    if found is not None:
        a = b = 0
        for letter in found[0]:
            a, b = int(left[a, letter]), int(right[b, letter])
        assert (a, b) == found[1]
        assert differ(a, b)


def test_classes_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.automata.move_diagram.MAX_CELLS", 4)
    table = np.array([[0, 1, 2, 0, 1, 2, 0, 1], [1] * 8, [0, 2] * 4], dtype=np.int32)
    with pytest.raises(LimitError, match=r"3 states.*3 propositions.*4 moves"):
        diagram_of(table).classes()
