from __future__ import annotations

import numpy as np
import pytest

from nrm.envs.counter_rng import draws, environment_seeds, episode_keys, words
from nrm.envs.minecraft.env import MinecraftConfig, begin, slipped
from nrm.errors import EnvError

WORD = (1 << 64) - 1


def mixed(word: int) -> int:
    """SplitMix64's finaliser on Python's whole numbers."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def test_draws_equal_the_same_arithmetic_on_whole_numbers() -> None:
    keys = [0, 1, 2**63, WORD, 12345678901234567890]
    counters = [0, 1, 7, 2**32]
    expected = [[mixed((key + (counter + 1) * 0x9E3779B97F4A7C15) & WORD) for counter in counters] for key in keys]
    found = draws(np.array(keys, dtype=np.uint64)[:, None], counters)
    assert found.tolist() == expected


def test_environments_and_episodes_have_unrelated_keys() -> None:
    keys = {
        int(key)
        for seed in range(5)
        for episode in range(20)
        for key in episode_keys(words(environment_seeds(seed, 16)), np.full(16, episode))
    }
    assert len(keys) == 5 * 20 * 16


def test_an_episode_can_be_repeated_as_a_first_one() -> None:
    later = episode_keys(words([7]), [3])
    assert episode_keys(words([int(later[0])]), [0]).tolist() == later.tolist()
    assert environment_seeds(3, 4) == environment_seeds(3, 9)[:4]


def test_places_are_drawn_evenly_and_never_twice() -> None:
    config = MinecraftConfig(size=3, layout="episode", items=["gem", "lava"], start="random")
    drawn = begin(config, np.arange(9000, dtype=np.uint64))
    assert ((drawn.contents > 0).sum(axis=1) == 2).all()
    assert (drawn.contents[np.arange(9000), drawn.start] == 0).all()
    for counts in (np.bincount(drawn.start), *((drawn.contents == item).sum(axis=0) for item in (1, 2))):
        assert len(counts) == 9
        assert abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_slips_happen_as_often_as_asked() -> None:
    config = MinecraftConfig(slip=0.4)
    keys, steps = np.arange(20000, dtype=np.uint64), np.zeros(20000, dtype=np.int64)
    moves = slipped(config, keys, steps, np.full(20000, 2))
    shares = np.bincount(moves, minlength=4) / 20000
    assert shares == pytest.approx([0.1, 0.1, 0.7, 0.1], abs=0.015)
    assert (slipped(MinecraftConfig(slip=1.0), keys, steps, np.full(20000, 2)) != 2).mean() == pytest.approx(
        0.75, abs=0.02
    )


@pytest.mark.parametrize("seed", [-1, 1.5, "3", True])
def test_bad_seeds_are_named(seed: object) -> None:
    with pytest.raises(EnvError, match="seed"):
        environment_seeds(seed, 2)  # type: ignore[arg-type]
