"""Random numbers by address: a draw depends on a key and a counter alone, and on nothing drawn before.

So one environment and a batch of them see the same draws whatever the order, and to save the state of the randomness is
to save two numbers. Numbers come from the finaliser of SplitMix64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.errors import EnvError

Words = NDArray[np.uint64]

_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def draws(keys: Words, counters: ArrayLike) -> Words:
    """Independent 64-bit words, one for each pair of a key and a counter (broadcast together)."""
    # Arrays wrap around as intended; a single number would warn that it does.
    numbers = np.atleast_1d(np.asarray(counters, dtype=np.uint64))
    return _mix(keys + (numbers + np.uint64(1)) * _STRIDE)


def chances(keys: Words, counters: ArrayLike) -> NDArray[np.float64]:
    """The same as numbers from 0 to 1."""
    return (draws(keys, counters) >> np.uint64(11)).astype(np.float64) / (1 << 53)


def environment_seeds(seed: int, count: int) -> list[int]:
    """The seeds of `count` environments of a batch: unrelated ones, also for neighbouring values of `seed`."""
    check_seed(seed)
    words = np.random.SeedSequence(seed).generate_state(count, np.uint64)
    return [int(word) for word in words >> np.uint64(1)]


def words(seeds: Sequence[int]) -> Words:
    """Seeds of any size as 64-bit words."""
    return np.array([seed % (1 << 64) for seed in seeds], dtype=np.uint64)


def episode_keys(first: Words, episodes: ArrayLike) -> Words:
    """The key of the n-th episode of each environment: its seed (`first`) for n = 0.

    So `reset(seed=int(key))` repeats any later episode as a first one.
    """
    numbers = np.asarray(episodes, dtype=np.uint64)
    later = draws(_mix(first ^ _FIRST), numbers) >> np.uint64(1)
    return np.where(numbers == 0, first, later)


def check_seed(seed: object) -> None:
    """Raise `EnvError` unless `seed` is a whole number from 0."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise EnvError(f"a seed is a whole number from 0, not {seed!r}")


def _mix(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))
