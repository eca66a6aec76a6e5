"""Words that messages share."""

from __future__ import annotations

import pytest

from nrm.errors import listing


@pytest.mark.parametrize(
    ("count", "shown"), [(3, "0, 1, 2"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, … (6 in all)"), (0, "")]
)
def test_a_list_hides_three_names_or_none(count: int, shown: str) -> None:
    assert listing(map(str, range(count)), 3) == shown
