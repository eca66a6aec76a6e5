from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.automata import Table, distinguishing_string
from tests.automata.tables import letter_tables


def state_after(case: tuple[Table, int], string: tuple[int, ...]) -> int:
    table, state = case
    for letter in string:
        state = int(table.columns[state, table.letter_class[letter]])
    return state


@pytest.mark.parametrize("horizon", [None, 0, 2])
@given(left=letter_tables(), right=letter_tables(), data=st.data())
def test_the_string_is_the_first_of_the_shortest(
    horizon: int | None, left: tuple[Table, int], right: tuple[Table, int], data: st.DataObject
) -> None:
    told = data.draw(st.sets(st.integers(0, 8))), data.draw(st.sets(st.integers(0, 8)))

    def differ(a: int, b: int) -> bool:
        return (a in told[0]) != (b in told[1])

    letters: dict[tuple[int, int], int] = {}
    for letter in range(3):
        letters.setdefault((int(left[0].letter_class[letter]), int(right[0].letter_class[letter])), letter)
    rows = left[0].columns.tolist(), right[0].columns.tolist()
    found = distinguishing_string(rows, (left[1], right[1]), letters, differ, horizon)
    longest = 4 if horizon is None else horizon
    strings = (string for length in range(longest + 1) for string in product(range(3), repeat=length))
    expected = next((s for s in strings if differ(state_after(left, s), state_after(right, s))), None)
    if expected is not None:
        assert found == (list(expected), (state_after(left, expected), state_after(right, expected)))
    elif found is not None:
        assert horizon is None
        assert len(found[0]) > longest
        assert differ(*found[1])
