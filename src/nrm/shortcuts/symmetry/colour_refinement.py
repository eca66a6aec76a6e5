"""Colours of states and letter classes that every symmetry keeps, so that few choices remain to be tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray

Words = NDArray[np.uint64]


def refined_colours(
    columns: IntArray, states: Sequence[int], classes: Sequence[int], spend: Callable[[int], object] = bool
) -> tuple[list[int], list[int]]:
    """The colours of states and classes, refined by their surroundings until nothing changes.

    Surroundings are compared by a 64-bit fingerprint. Two that differ may by bad luck look alike, which costs time and
    never correctness: a symmetry keeps fingerprints in any case. `spend` is told how many transitions each round looks
    at, and may raise.
    """
    state_colours, class_colours = np.asarray(states, dtype=np.uint64), np.asarray(classes, dtype=np.uint64)
    kinds = (len(set(states)), len(set(classes)))
    while True:
        spend(columns.size)
        targets = _mixed(state_colours)[columns]
        by_class = _mixed(class_colours + np.uint64(1))
        of_states = _mixed(targets * by_class).sum(axis=1, dtype=np.uint64)
        of_classes = _mixed(targets + _mixed(state_colours * np.uint64(3))[:, None]).sum(axis=0, dtype=np.uint64)
        state_colours = _ranks(state_colours, of_states)
        class_colours = _ranks(class_colours, of_classes)
        now = (int(state_colours.max()) + 1, int(class_colours.max()) + 1)
        if now == kinds:
            return state_colours.astype(int).tolist(), class_colours.astype(int).tolist()
        kinds = now


def _ranks(colours: Words, prints: Words) -> Words:
    """Colours split by fingerprints, numbered from 0."""
    _, narrow = np.unique(prints, return_inverse=True)
    _, ranks = np.unique(colours * np.uint64(len(prints)) + narrow.astype(np.uint64), return_inverse=True)
    words: Words = ranks.astype(np.uint64)
    return words


def _mixed(values: Words) -> Words:
    """Integers spread over 64 bits (multiply and shift, wrapping)."""
    mixed = (values + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(29)
    return mixed
