"""Machines by description length, where potentials are sometimes wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nrm.inference import Episode, Evidence, TooManyStatesError, learn_machine
from nrm.inference.merging import Candidate
from nrm.inference.search import RewardNoiseSearch

TABLE = np.array([[1, 0, 0], [1, 2, 1], [2, 2, 2]])
"""F(a & F b) over a, b and one letter that means nothing; potentials 0, 1, 2."""
LEVELS = np.array([0, 1, 2])


def episodes(
    count: int, reward_noise: float, seed: int, table: np.ndarray = TABLE, levels: np.ndarray = LEVELS
) -> Evidence:
    generator = np.random.default_rng(seed)
    result = []
    for length in generator.integers(1, 12, count).tolist():
        read = generator.integers(0, 3, length)
        state, shown = 0, []
        for letter in read.tolist():
            state = int(table[state, letter])
            other = int(levels[state] + generator.integers(1, 3)) % 3
            shown.append(other if generator.random() < reward_noise else int(levels[state]))
        result.append(Episode(read, np.array(shown)))
    return Evidence.of(result, 3, 3, 0, reward_noise=reward_noise)


def wrong_from(candidate: Candidate, trace: Episode, step: int, state: int) -> int:
    """Potentials that an episode shows and a machine does not, if the step led to a state: one step after the other."""
    wrong = int(candidate.levels[state] != trace.levels[step])
    for letter, level in zip(trace.seen[step + 1 :].tolist(), trace.levels[step + 1 :].tolist(), strict=True):
        state = int(candidate.table[state, letter])
        wrong += int(candidate.levels[state] != level)
    return wrong


def test_what_is_to_come_is_what_walking_on_shows() -> None:
    evidence = episodes(12, 0.2, 0)
    search = RewardNoiseSearch(evidence, 12)
    candidate = Candidate(np.array([[1, 0, 2], [1, 2, 0], [0, 2, 1]]), LEVELS)
    to_come = search.to_come(candidate)
    ends = np.cumsum(evidence.lengths)[:-1]
    traces = list(zip(np.split(evidence.letters, ends), np.split(evidence.levels, ends), strict=True))
    # By time, the longest episode first.
    order = np.argsort(-evidence.lengths, kind="stable").tolist()
    row = 0
    for step in range(int(evidence.lengths.max())):
        for number in order:
            if step < evidence.lengths[number]:
                trace = Episode(*traces[number])
                assert to_come[row].tolist() == [wrong_from(candidate, trace, step, state) for state in range(3)]
                row += 1
    assert row == len(to_come)


def test_the_length_of_a_description_by_hand() -> None:
    # Reads a, idle, b and then a, b: one potential of five is wrong.
    traces = [
        Episode(np.array([0, 2, 1]), np.array([1, 1, 2])),
        Episode(np.array([0, 1]), np.array([1, 0])),
    ]
    fit = RewardNoiseSearch(Evidence.of(traces, 3, 3, 0, reward_noise=0.1), 12).fit(Candidate(TABLE, LEVELS))
    wrong = math.log(0.9 * 2 / 0.1)
    # Three potentials; letters a and b count; of their transitions (0, a) and (1, b) were taken.
    assert fit.length == pytest.approx(wrong + 3 * math.log(3) + 2 * math.log(3) + 2 * math.log(3))
    assert fit.moves.tolist() == [[True, False, False], [False, True, False], [False, False, False]]


def test_states_that_are_never_met_are_dropped() -> None:
    larger = Candidate(np.vstack([TABLE, [3, 3, 3]]), np.append(LEVELS, 1))
    fit = RewardNoiseSearch(episodes(50, 0.05, 1), 12).fit(larger)
    assert fit.candidate.table.tolist() == TABLE.tolist()


def test_folding_by_hand() -> None:
    # State 3 does what state 1 does.
    double = Candidate(np.array([[1, 0, 3], [1, 2, 1], [2, 2, 2], [3, 2, 3]]), np.array([0, 1, 2, 1]))
    fit = RewardNoiseSearch(episodes(80, 0.05, 2), 12).fit(double)
    small = fit.folded(1, 3)
    assert small.table.tolist() == [[1, 0, 1], [1, 2, 1], [2, 2, 2]]


@pytest.mark.parametrize("reward_noise", [0.02, 0.1, 0.2])
def test_the_machine_is_found_and_stays_small_with_more_episodes(reward_noise: float) -> None:
    for count in (300, 900):
        found = RewardNoiseSearch.shortest(episodes(count, reward_noise, 3), 12).candidate
        assert found.states == 3
        known = learn_machine(episodes(count, reward_noise, 3), 12)
        assert known.table.tolist() == TABLE.tolist()


def test_too_few_states_are_named_with_the_levels_that_are_wrong() -> None:
    with pytest.raises(TooManyStatesError, match="at most 2 states"):
        learn_machine(episodes(300, 0.05, 4), 2)


def test_equal_episodes_give_equal_machines() -> None:
    one, two = (RewardNoiseSearch.shortest(episodes(200, 0.1, 5), 12) for _ in range(2))
    assert one.candidate.table.tolist() == two.candidate.table.tolist()
    assert one.length == two.length
