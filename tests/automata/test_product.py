from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from nrm.automata import Limits, Numbers, Table
from nrm.errors import LimitError
from tests.automata.tables import letter_tables

ANY_SIZE = Limits()


def slow_product(left: Table, right: Table, starts: tuple[int, int]) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """The reachable pairs in breadth-first order by letter, and the number of the next pair for each letter."""
    pairs = [starts]
    rows = []
    for a, b in pairs:
        row = []
        for letter in range(len(left.letter_class)):
            one, two = (table.letter_class[letter] for table in (left, right))
            target = int(left.columns[a, one]), int(right.columns[b, two])
            if target not in pairs:
                pairs.append(target)
            row.append(pairs.index(target))
        rows.append(row)
    return pairs, rows


@pytest.mark.parametrize("dense", [1 << 24, 0], ids=["by array", "by sorted index"])
@given(left=letter_tables(), right=letter_tables())
def test_a_product_is_the_reachable_pairs(dense: int, left: tuple[Table, int], right: tuple[Table, int]) -> None:
    starts = left[1], right[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Numbers, "_DENSE", dense)
        patch.setattr(Numbers, "_AT_A_TIME", 4)
        table, a, b = left[0].product(right[0], ANY_SIZE, starts)
    pairs, rows = slow_product(left[0], right[0], starts)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == pairs
    assert table.columns[:, table.letter_class].tolist() == rows


def test_a_product_stops_at_its_limit() -> None:
    ring = Table(np.array([0], dtype=np.int32), np.array([[1], [2], [0]], dtype=np.int32))
    with pytest.raises(LimitError, match="3 states"):
        ring.product(ring, Limits(states=2))
