"""Observations kept once: the same ones come out, in order, and no more are kept than are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nrm.errors import EpisodeError
from nrm.neural import ObservationTable, record_episodes


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=6), st.data())
def test_what_goes_in_comes_out(episodes: list[list[int]], data: st.DataObject) -> None:
    images = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8)
    table = ObservationTable()
    numbers = [table.add(images[episode]) for episode in episodes]
    first = list(dict.fromkeys(number for episode in episodes for number in episode))
    np.testing.assert_array_equal(table[:], images[first])
    for episode, kept in zip(episodes, numbers, strict=True):
        np.testing.assert_array_equal(table[kept], images[episode])
    chosen = data.draw(st.lists(st.sampled_from(range(len(episodes))), max_size=4))
    moved = table.compact(np.concatenate([np.zeros(0, dtype=np.int64), *(numbers[index] for index in chosen)]))
    used = {number for index in chosen for number in episodes[index]}
    np.testing.assert_array_equal(table[:], images[[number for number in first if number in used]])
    for index in chosen:
        np.testing.assert_array_equal(table[moved[numbers[index]]], images[episodes[index]])
    assert int((moved < 0).sum()) == len(first) - len(used)
    np.testing.assert_array_equal(table[table.add(images)], images)  # what was forgotten can come again


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(6.0)[:, None],
        np.arange(6),
        np.arange(24).reshape(3, 2, 4)[:, :, ::2],
        np.array([True, False]),
        np.eye(4, dtype=np.float16).T,
    ],
)
def test_any_array_will_do(rows: NDArray[Any]) -> None:
    table = ObservationTable(rows)
    np.testing.assert_array_equal(table[table.add(rows)], rows)
    assert len(table) == len(rows)


def test_the_table_keeps_copies() -> None:
    rows = np.zeros((2, 3))
    table = ObservationTable(rows)
    rows[:] = 7
    assert table[:].tolist() == [[0.0, 0.0, 0.0]]
    assert table.add(rows).tolist() == [1, 1]
    assert table.add(rows[:0]).tolist() == []


def test_bad_observations_are_refused_and_leave_nothing() -> None:
    table = ObservationTable(np.zeros((1, 2)))
    rows = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, np.nan]])
    with pytest.raises(EpisodeError, match=r"episode 4, row 2.*NaN"):
        table.add(rows, "episode 4")
    with pytest.raises(EpisodeError, match=r"\(3,\).*\(2,\)"):
        table.add(np.zeros((1, 3)))
    with pytest.raises(EpisodeError, match="are float32"):
        table.add(np.zeros((1, 2), dtype=np.float32))
    with pytest.raises(EpisodeError, match="<U1"):
        ObservationTable(np.array(["a"]))
    with pytest.raises(EpisodeError, match=r"row 1 .* NaN"):
        record_episodes([np.array([0.0]), np.array([np.inf])], [np.zeros(1), np.zeros(1)])
    assert len(table) == 1
