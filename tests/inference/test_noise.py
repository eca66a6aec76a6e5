"""Potentials that are sometimes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from nrm.errors import ContradictionError, LearningError
from nrm.inference import Episode, Evidence, Tally, learn_machine
from nrm.inference.hypothesis import improbable

TABLE = [[1, 0, 0], [1, 2, 1], [2, 2, 2]]
"""F(a & F b) over a, b and one letter that means nothing; potentials 0, 1, 2."""


def episodes(count: int, reward_noise: float, seed: int) -> list[Episode]:
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        read = generator.choice(3, p=[0.15, 0.15, 0.7], size=20)
        state, shown = 0, []
        for letter in read.tolist():
            state = TABLE[state][letter]
            wrong = generator.random() < reward_noise
            shown.append((state + int(generator.integers(1, 3))) % 3 if wrong else state)
        result.append(Episode(read, np.array(shown)))
    return result


def test_with_the_noise_model_the_machine_is_found_and_does_not_grow() -> None:
    for count in (150, 600):
        known = learn_machine(Evidence.of(episodes(count, 0.05, 0), 3, 3, 0, reward_noise=0.05), 12)
        assert known.table.tolist() == TABLE
        assert known.levels.tolist() == [0, 1, 2]


def test_without_it_contradictory_episodes_are_named() -> None:
    # Both read 0 and then 1, and are paid differently at the second step.
    traces = [Episode(np.array([0, 1]), np.array([1, 1])), Episode(np.array([0, 1]), np.array([1, 0]))]
    with pytest.raises(ContradictionError, match=r"episodes 1 and 2 .* step 2") as caught:
        learn_machine(Evidence.of(traces, 2, 2, 0))
    assert (caught.value.episode, caught.value.step) == (2, 2)


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(LearningError, match="no episodes"):
        Evidence.of([], 1, 1, 0)


def test_a_machine_is_refuted_at_once_or_by_counts() -> None:
    true = learn_machine(Evidence.of(episodes(100, 0.0, 1), 3, 3, 0))
    fresh = Evidence.of(episodes(50, 0.0, 2), 3, 3, 0)
    assert Tally(true).add(fresh) is None
    other = [Episode(np.array([2, 2, 1]), np.array([0, 0, 2]))]
    found = Tally(true).add(Evidence.of(other, 3, 3, 0))
    assert found == (0, 2, 0, 2)
    # Where potentials may be wrong one such episode is chance, and ten are not.
    noisy = Tally(true)
    answers = [noisy.add(Evidence.of(other, 3, 3, 0, reward_noise=0.05)) for _ in range(10)]
    assert answers[0] is None
    assert answers[-1] == (0, 2, 0, 2)
    assert Tally(true).add(Evidence.of(episodes(300, 0.05, 3), 3, 3, 0, reward_noise=0.05)) is None


def test_chance_by_hand() -> None:
    # Three of three at chance 0.05: 0.05 ** 3 = 1.25e-4 is not yet below 1e-4; four of four is.
    found, tries = np.array([3, 4, 0, 5]), np.array([3, 4, 10, 100])
    assert improbable(found, tries, 0.05).tolist() == [False, True, False, False]
    assert improbable(found, tries, 0.0).tolist() == [True, True, False, True]
