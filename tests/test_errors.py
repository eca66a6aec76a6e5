"""Words that messages share."""

from __future__ import annotations

import pytest

from nrm.errors import listing, suggestion


@pytest.mark.parametrize(
    ("count", "shown"), [(3, "0, 1, 2"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, … (6 in all)"), (0, "")]
)
def test_a_list_hides_three_names_or_none(count: int, shown: str) -> None:
    assert listing(map(str, range(count)), 3) == shown


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("--taks", ("--tasks", "--task"), "--task"),
        ("nrn", ("nrm", "rnn"), "nrm"),
        ("pickax", ("axe", "pickaxe"), "pickaxe"),
    ],
)
def test_the_name_that_is_probably_meant(typed: str, known: tuple[str, ...], meant: str) -> None:
    assert f"'{meant}'" in suggestion(typed, known)
    assert f"'{meant}'" in suggestion(typed, known[::-1])
