"""Observations kept once: the same ones come out, and no more are kept than are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nrm.tracking.observations import DistinctObservations


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=6), st.data())
def test_what_goes_in_comes_out(episodes: list[list[int]], data: st.DataObject) -> None:
    images = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8)
    store = DistinctObservations()
    numbers = [store.add(images[episode]) for episode in episodes]
    assert len(store) == len({number for episode in episodes for number in episode})
    for episode, kept in zip(episodes, numbers, strict=True):
        np.testing.assert_array_equal(store[kept], images[episode])
    chosen = data.draw(st.lists(st.sampled_from(range(len(episodes))), max_size=4))
    fewer = store.forget([numbers[index] for index in chosen])
    assert len(store) == len({number for index in chosen for number in episodes[index]})
    for index, kept in zip(chosen, fewer, strict=True):
        np.testing.assert_array_equal(store[kept], images[episodes[index]])
    np.testing.assert_array_equal(store[store.add(images)], images)  # what was forgotten can come again


@pytest.mark.parametrize("rows", [np.arange(6.0)[:, None], np.arange(24).reshape(3, 2, 4)[:, :, ::2]])
def test_any_array_will_do(rows: NDArray[Any]) -> None:
    store = DistinctObservations(rows)
    np.testing.assert_array_equal(store[store.add(rows)], rows)
    assert len(store) == len(rows)
