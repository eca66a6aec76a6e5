"""Moves in diagrams against plain tables: walking, products, minimisation, orders and searches."""

from __future__ import annotations

from itertools import product as combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.aliases import IntArray
from nrm.automata import Limits, Table, diagram_minimisation, diagram_product, moves
from nrm.automata.letter_diagram import diagram_of_table
from nrm.automata.minimisation import coarsest_congruence
from nrm.automata.move_building import ascending, key_of, moves_of_classes, reordered, union_of_moves
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.move_search import distinguishing_letters, plainest_moves
from nrm.automata.tables import absorbing_states, distances
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
    return moves_of_classes(diagram_of_table(list(range(LETTERS)), PROPOSITIONS), table)


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
    turned = reordered(diagram, tuple(order))
    for found in (diagram, turned, ascending(turned)):
        check_reduced(found)
        assert np.array_equal(table_of(found), table)
    states, letters = (array.ravel() for array in np.indices(table.shape))
    assert np.array_equal(turned.take(states, letters), table.ravel())
    assert key_of(turned) == key_of(diagram)
    for state in range(len(table)):
        assert set(turned.targets(state)) == set(table[state].tolist())
        classes = turned.letters_by_target(state)
        assert classes.table().tolist() == table[state].tolist()
        for target, letter in plainest_moves(turned, state).items():
            leading = [other for other in range(LETTERS) if table[state, other] == target]
            assert letter == min(leading, key=lambda other: (other.bit_count(), other))


@given(full_tables(), st.lists(st.booleans(), min_size=6, max_size=6))
def test_what_tables_tell(table: IntArray, drawn: list[bool]) -> None:
    diagram, goals = diagram_of(table), np.array(drawn[: len(table)])
    assert np.array_equal(diagram.absorbing(), absorbing_states(table))
    assert np.array_equal(diagram.distances(goals), distances(table, goals))
    assert [diagram.entered(state) for state in range(len(table))] == [
        bool((table == state).any()) for state in range(len(table))
    ]
    assert set(diagram.reached(0)) == set(np.flatnonzero(distances_from(table)).tolist())
    classes = moves.by_classes(diagram)
    assert np.array_equal(classes.columns[:, classes.letter_class], table)


def distances_from(table: IntArray) -> np.ndarray:
    seen = np.zeros(len(table), dtype=bool)
    seen[0] = True
    for _ in table:
        seen[table[seen].ravel()] = True
    return seen


@settings(max_examples=60)
@given(full_tables(), full_tables(), st.permutations(range(PROPOSITIONS)), st.booleans())
def test_products(left: IntArray, right: IntArray, order: list[int], by_arrays: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if by_arrays:
            patch.setattr(diagram_product, "DEEPEST", -1)
        two = reordered(diagram_of(right), tuple(order))
        found, a, b = diagram_product.diagram_product(diagram_of(left), two, Limits())
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
@given(full_tables(), st.lists(st.integers(0, 1), min_size=6, max_size=6), st.sampled_from(["exact", "prints", "weak"]))
def test_congruences(table: IntArray, labels: list[int], how: str) -> None:
    own = np.array(labels[: len(table)])
    with pytest.MonkeyPatch.context() as patch:
        if how != "exact":
            patch.setattr(diagram_minimisation, "SMALL", -1)
        if how == "weak":  # fingerprints that tell nothing apart
            patch.setattr(diagram_minimisation, "scattered", lambda values: np.zeros(len(values), dtype=np.uint64))
        found = diagram_minimisation.diagram_congruence(diagram_of(table), own)
    expected = coarsest_congruence(table, own)
    assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == len(set(expected.tolist()))
    assert len(set(found.tolist())) == len(set(expected.tolist()))
    quotient, kept = diagram_minimisation.diagram_quotient(diagram_of(table), found)
    check_reduced(quotient)
    assert np.array_equal(table_of(quotient), found[table[kept]])


@given(full_tables(), st.sets(st.integers(0, 5)))
def test_halted_states(table: IntArray, drawn: set[int]) -> None:
    states = np.array([state for state in sorted(drawn) if state < len(table)], dtype=np.int32)
    expected = table.copy()
    expected[states] = states[:, None]
    found = moves.halted(diagram_of(table), states)
    assert isinstance(found, MoveDiagram)
    check_reduced(found)
    assert np.array_equal(table_of(found), expected)
    by_table = moves.halted(Table(np.arange(LETTERS, dtype=np.int32), table), states)
    assert isinstance(by_table, Table)
    assert np.array_equal(by_table.columns, expected)


@given(full_tables(), full_tables())
def test_side_by_side(left: IntArray, right: IntArray) -> None:
    union = union_of_moves([diagram_of(left), diagram_of(right)])
    check_reduced(union)
    assert np.array_equal(table_of(union), np.concatenate([left, right + len(left)]))


@settings(max_examples=60)
@given(full_tables(4), full_tables(4), st.lists(st.integers(0, 1), min_size=8, max_size=8))
def test_strings_that_tell_apart(left: IntArray, right: IntArray, labels: list[int]) -> None:
    def differ(a: int, b: int) -> bool:
        return labels[a] != labels[4 + b]

    found = distinguishing_letters(diagram_of(left), diagram_of(right), (0, 0), differ)
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
    monkeypatch.setattr("nrm.automata.letter_classes.MAX_CELLS", 4)
    table = np.array([[0, 1, 2, 0, 1, 2, 0, 1], [1] * 8, [0, 2] * 4], dtype=np.int32)
    with pytest.raises(LimitError, match=r"3 states over 3 propositions, and more than 4 moves by class"):
        moves.by_classes(diagram_of(table))
    assert moves.states_of(Table(np.arange(LETTERS, dtype=np.int32), table)) == 3
