from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from nrm.aliases import IntArray
from nrm.automata import Table
from nrm.automata import table as minimisation
from tests.automata.tables import labelled_tables, letter_tables


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
    blocks = minimisation.coarsest_congruence(table, np.array(labels))
    grouped = {frozenset(np.flatnonzero(blocks == block).tolist()) for block in blocks}
    assert grouped == slow_blocks(table, labels)


@given(labelled_tables())
def test_refinement_survives_colliding_fingerprints(case: tuple[IntArray, list[int]]) -> None:
    table, labels = case
    expected = slow_blocks(table, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimisation, "scattered", lambda values: np.zeros(len(values), dtype=np.uint64))
        blocks = minimisation.coarsest_congruence(table, np.array(labels))
        merged = Table(np.arange(table.shape[1], dtype=np.int32), table).merged()
    assert {frozenset(np.flatnonzero(blocks == block).tolist()) for block in blocks} == expected
    assert np.array_equal(merged.columns[:, merged.letter_class], table)
    assert len({column.tobytes() for column in merged.columns.T}) == merged.columns.shape[1]


@given(letter_tables())
def test_the_canonical_form_moves_as_the_table_does(case: tuple[Table, int]) -> None:
    table, initial = case
    form, kept = table.canonical(initial)
    assert kept[0] == initial
    for state in range(len(form.columns)):
        for letter in range(3):
            target = form.columns[state, form.letter_class[letter]]
            assert kept[target] == table.columns[kept[state], table.letter_class[letter]]
    again, same = form.canonical(0)
    assert np.array_equal(again.columns, form.columns)
    assert same.tolist() == list(range(len(form.columns)))
