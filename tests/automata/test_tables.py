from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nrm.aliases import IntArray
from nrm.automata import Table
from nrm.automata.table import bfs_order
from tests.automata.tables import labelled_tables


@given(labelled_tables(), st.data())
def test_breadth_first_order(case: tuple[IntArray, list[int]], data: st.DataObject) -> None:
    table, _ = case
    initial = data.draw(st.integers(0, len(table) - 1))
    order = [initial]
    for state in order:
        order.extend(target for target in dict.fromkeys(table[state].tolist()) if target not in order)
    assert bfs_order(table, initial).tolist() == order


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
    assert Table(np.arange(table.shape[1], dtype=np.int32), table).distances(goals).tolist() == expected
