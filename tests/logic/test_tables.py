from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.aliases import IntArray
from nrm.logic import tables


@st.composite
def labelled_tables(draw: st.DrawFn) -> tuple[IntArray, list[int]]:
    states, columns = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    rows = st.lists(st.integers(0, states - 1), min_size=columns, max_size=columns)
    table = np.array(draw(st.lists(rows, min_size=states, max_size=states)), dtype=np.int32)
    return table, draw(st.lists(st.integers(0, 1), min_size=states, max_size=states))


def slow_blocks(table: IntArray, labels: list[int]) -> set[frozenset[int]]:
    """Start with all pairs told apart by their labels; add pairs until nothing changes."""
    states = range(len(table))
    apart = {(p, q) for p in states for q in states if labels[p] != labels[q]}
    while True:
        more = {
            (p, q)
            for p in states
            for q in states
            if any((int(a), int(b)) in apart for a, b in zip(table[p], table[q], strict=True))
        } - apart
        if not more:
            return {frozenset(q for q in states if (p, q) not in apart) for p in states}
        apart |= more


@given(labelled_tables())
def test_refinement_equals_the_table_filling_method(case: tuple[IntArray, list[int]]) -> None:
    table, labels = case
    blocks = tables.coarsest_congruence(table, np.array(labels))
    grouped = {frozenset(np.flatnonzero(blocks == block).tolist()) for block in blocks}
    assert grouped == slow_blocks(table, labels)


@given(labelled_tables())
def test_refinement_survives_colliding_fingerprints(case: tuple[IntArray, list[int]]) -> None:
    table, labels = case
    expected = slow_blocks(table, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_scatter", lambda values: np.zeros(len(values), dtype=np.uint64))
        blocks = tables.coarsest_congruence(table, np.array(labels))
        merged, classes = tables.merge_columns(table, np.arange(table.shape[1], dtype=np.int32))
    assert {frozenset(np.flatnonzero(blocks == block).tolist()) for block in blocks} == expected
    assert np.array_equal(merged[:, classes], table)
    assert len({column.tobytes() for column in merged.T}) == merged.shape[1]


@given(labelled_tables(), st.data())
def test_breadth_first_order(case: tuple[IntArray, list[int]], data: st.DataObject) -> None:
    table, _ = case
    initial = data.draw(st.integers(0, len(table) - 1))
    order = [initial]
    for state in order:
        order.extend(target for target in dict.fromkeys(table[state].tolist()) if target not in order)
    assert tables.bfs_order(table, initial).tolist() == order


@given(labelled_tables())
def test_distances_are_shortest_paths(case: tuple[IntArray, list[int]]) -> None:
    table, labels = case
    goals = np.array(labels, dtype=bool)
    expected = []
    for state in range(len(table)):
        reached, steps = {state}, 0
        while not any(goals[q] for q in reached) and steps <= len(table):
            reached |= {int(target) for q in reached for target in table[q]}
            steps += 1
        expected.append(steps if steps <= len(table) else -1)
    assert tables.distances(table, goals).tolist() == expected
