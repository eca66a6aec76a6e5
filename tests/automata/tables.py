"""Random transition tables for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from nrm.aliases import IntArray
from nrm.automata import Table


@st.composite
def labelled_tables(draw: st.DrawFn) -> tuple[IntArray, list[int]]:
    states, columns = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    rows = st.lists(st.integers(0, states - 1), min_size=columns, max_size=columns)
    table = np.array(draw(st.lists(rows, min_size=states, max_size=states)), dtype=np.int32)
    return table, draw(st.lists(st.integers(0, 1), min_size=states, max_size=states))


@st.composite
def letter_tables(draw: st.DrawFn) -> tuple[Table, int]:
    """Tables over three letters, some of which share a class, and an initial state."""
    columns, _ = draw(labelled_tables())
    classes = draw(st.lists(st.integers(0, columns.shape[1] - 1), min_size=3, max_size=3))
    return Table(np.array(classes, dtype=np.int32), columns), draw(st.integers(0, len(columns) - 1))
