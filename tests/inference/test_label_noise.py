"""Letters that are sometimes wrong."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.inference import (
    Episode,
    Evidence,
    Hypothesis,
    LabelNoiseTally,
    TooManyStatesError,
    following,
    learn_machine,
)
from nrm.inference.hypothesis import explained
from nrm.inference.label_noise import ForwardBackward, LabelNoiseSearch, LetterModel, by_entry, observed_pairs
from nrm.inference.merging import Candidate
from nrm.inference.search import by_level

TABLE = np.array([[1, 0, 0], [1, 2, 1], [2, 2, 2]])
"""F(a & F b) over a, b and one letter that means nothing; potentials 0, 1, 2."""
LEVELS = np.array([0, 1, 2])
STICKY = np.array([[0.1, 0.0, 0.9], [0.1, 0.1, 0.8], [0.15, 0.15, 0.7]])
"""How probable each letter is after each: b never follows a at once."""


def episodes(count: int, label_noise: float, seed: int, reward_noise: float = 0.0, length: int = 20) -> Evidence:
    """Episodes of a walk over letters, in which each depends on the one before."""
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        state, letter, told, shown = 0, 2, [], []
        for _ in range(length):
            letter = int(generator.choice(3, p=STICKY[letter]))
            state = int(TABLE[state, letter])
            wrong = generator.random() < label_noise
            told.append((letter + int(generator.integers(1, 3))) % 3 if wrong else letter)
            flipped = generator.random() < reward_noise
            shown.append((state + int(generator.integers(1, 3))) % 3 if flipped else state)
        result.append(Episode(np.array(told), np.array(shown)))
    return Evidence.of(result, 3, 3, 0, reward_noise, label_noise)


def known(table: np.ndarray = TABLE) -> Hypothesis:
    return Hypothesis(table, LEVELS, np.ones_like(table), np.arange(3))


def by_enumeration(table: np.ndarray, levels: np.ndarray, reader: ForwardBackward, episode: int) -> float:
    """How probable an episode's potentials are: the sum over all sequences of true letters, each walked through."""
    total = 0.0
    length = int(reader.present[:, episode].sum())
    for letters in itertools.product(range(table.shape[1]), repeat=length):
        state, chance = 0, 1.0
        for time, letter in enumerate(letters):
            state = int(table[state, letter])
            chance *= reader.likely[time, episode, letter] * reader.shown[reader.levels[time, episode], levels[state]]
        total += chance
    return total


@st.composite
def cases(draw: st.DrawFn) -> tuple[Evidence, np.ndarray, np.ndarray]:
    """Some short episodes and any machine."""
    letters, levels, states = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    traces = [Episode(generator.integers(0, letters, one), generator.integers(0, levels, one)) for one in lengths]
    label_noise, reward_noise = draw(st.sampled_from([0.02, 0.3])), draw(st.sampled_from([0.0, 0.1]))
    evidence = Evidence.of(traces, letters, levels, 0, reward_noise, label_noise)
    return evidence, generator.integers(0, states, (states, letters)), generator.integers(0, levels, states)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_how_probable_levels_are_is_the_sum_over_all_true_letters(
    case: tuple[Evidence, np.ndarray, np.ndarray],
) -> None:
    evidence, table, levels = case
    reader = ForwardBackward(evidence)
    forward = reader.forward(table, levels)
    for episode, chance in enumerate(forward.chances.prod(0)):
        assert chance == pytest.approx(by_enumeration(table, levels, reader, episode), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_forwards_and_backwards_agree(case: tuple[Evidence, np.ndarray, np.ndarray]) -> None:
    evidence, table, levels = case
    reader = ForwardBackward(evidence)
    forward = reader.forward(table, levels)
    to_come = reader.backward(table, levels, forward.chances)
    # At every step all paths together are the whole episode.
    moves = np.stack([np.eye(len(table))[column] for column in table.T])
    whole = np.einsum("tes,tex,xsn,ten->te", forward.before, reader.likely, moves, to_come)
    assert whole[reader.present] == pytest.approx(1.0)
    assert reader.counts(table, levels, forward).sum() == pytest.approx(len(evidence.letters))


def test_probable_letters_are_those_of_all_chains() -> None:
    evidence = episodes(4, 0.1, 0, length=4)
    model = LetterModel.of(observed_pairs(evidence), 0.1)
    told, present = evidence.letters.reshape(4, 4).T, np.ones((4, 4), dtype=np.bool_)
    found = model.letters(told, present)
    for episode in range(4):
        sums = np.zeros((4, 3))
        for letters in itertools.product(range(3), repeat=4):
            chance = model.first[letters[0]] * math.prod(
                itertools.starmap(model.follows.item, itertools.pairwise(letters))
            )
            chance *= math.prod(model.noise[letter, told[time, episode]] for time, letter in enumerate(letters))
            sums[np.arange(4), letters] += chance
        assert found[:, episode] == pytest.approx(sums / sums.sum(1, keepdims=True))


def test_the_chain_of_letters_is_seen_through_the_noise() -> None:
    model = LetterModel.of(observed_pairs(episodes(2000, 0.1, 1)), 0.1)
    assert model.follows == pytest.approx(STICKY, abs=0.03)
    assert model.noise[0].tolist() == pytest.approx([0.9, 0.05, 0.05])


def test_gains_rank_the_change_first_that_helps_most() -> None:
    broken = Candidate(np.array([[1, 0, 0], [1, 1, 1], [2, 2, 2]]), LEVELS)
    search = LabelNoiseSearch(episodes(100, 0.05, 2), 8)
    larger = search.retargeted(search.fit(broken))
    assert larger is not None
    assert larger.candidate.table[1].tolist() == [1, 2, 1]


def test_copies_by_entry_behave_as_the_machine_does() -> None:
    search = LabelNoiseSearch(episodes(60, 0.05, 3), 8)
    run = search.fit(Candidate(TABLE, LEVELS))
    tagged = by_entry(run)
    same = search.fit(Candidate(tagged.table, LEVELS[tagged.of]))
    assert np.log(same.path.chances).sum() == pytest.approx(np.log(run.path.chances).sum())


def test_what_cannot_be_reached_is_dropped() -> None:
    larger = Candidate(np.vstack([[3, 0, 0], [1, 1, 1], [2, 2, 2], [3, 2, 3]]), np.array([0, 1, 2, 1]))
    assert larger.reachable().table.tolist() == TABLE.tolist()


@pytest.mark.parametrize(("label_noise", "reward_noise"), [(0.02, 0.0), (0.1, 0.0), (0.05, 0.02)])
def test_the_machine_is_found_and_does_not_grow_with_more_episodes(label_noise: float, reward_noise: float) -> None:
    for count in (200, 800):
        found = learn_machine(episodes(count, label_noise, 4, reward_noise), 12)
        assert found.table.tolist() == TABLE.tolist()
        assert found.levels.tolist() == LEVELS.tolist()


def test_levels_that_no_state_has_are_named() -> None:
    """Wrong letters show no wrong potential, so one that is shown needs a state."""
    shown = Evidence.of([Episode(np.array([0, 1]), np.array([0, level])) for level in (1, 0)], 2, 2, 0, 0.0, 0.02)
    with pytest.raises(TooManyStatesError, match="at most 4 states"):
        learn_machine(shown, 4)


def test_too_few_states_are_named_with_the_steps_that_are_wrong() -> None:
    """Two visits in a row that show one potential: the steps, and not a potential, are wrong with a state too few."""
    twice = Hypothesis(
        np.array([[1, 0, 0], [2, 1, 1], [2, 2, 2]]), np.array([0, 0, 1]), np.ones((3, 3), dtype=np.int64), np.arange(3)
    )
    clean = episodes(200, 0.0, 5)
    paid = replace(clean, levels=twice.levels[twice.follow(clean)], level_count=2, label_noise=0.02)
    assert learn_machine(paid, 3).states == 3
    with pytest.raises(TooManyStatesError, match=r"0\.02 .*label_noise"):
        learn_machine(paid, 2)


@pytest.mark.parametrize(("reward_noise", "label_noise"), [(0.02, 0.0), (0.0, 0.02)])
def test_more_noise_than_there_is_loses_no_letter_that_is_read_seldom(reward_noise: float, label_noise: float) -> None:
    """A third letter loses the task, and is read in one of three hundred steps: less often than slips might tell it."""
    table = np.array([[1, 0, 3], [1, 2, 3], [2, 2, 2], [3, 3, 3]])
    generator = np.random.default_rng(0)
    read = [generator.choice(3, size=20, p=[0.1, 0.897, 0.003]) for _ in range(200)]
    hypothesis = Hypothesis(table, np.array([0, 1, 2, 3]), np.ones((4, 3), dtype=np.int64), np.arange(3))
    plain = Evidence.of([Episode(letters, np.zeros(20, np.int64)) for letters in read], 3, 4, 0)
    shown = replace(
        plain, levels=hypothesis.levels[hypothesis.follow(plain)], reward_noise=reward_noise, label_noise=label_noise
    )
    assert learn_machine(shown, 8).same_as(learn_machine(replace(shown, reward_noise=0.0, label_noise=0.0), 8))


def test_a_state_for_each_level_leads_where_letters_mostly_led() -> None:
    traces = [Episode(np.array([0, 1]), np.array([1, 0])), Episode(np.array([0]), np.array([1]))]
    traces.append(Episode(np.array([0]), np.array([2])))
    candidate = by_level(Evidence.of(traces, 2, 3, initial=0))
    assert candidate.levels.tolist() == [0, 1, 2]
    assert candidate.table.tolist() == [[1, 0], [1, 0], [2, 2]]
    other = by_level(Evidence.of([Episode(np.array([0]), np.array([0]))], 1, 2, initial=1))
    assert (other.levels.tolist(), other.table.tolist()) == ([1, 0], [[1], [1]])


def test_states_follow_levels_where_a_letter_was_wrong() -> None:
    # The second step is told as nothing, but its potential shows that b was read.
    told = Episode(np.array([0, 2, 2]), np.array([1, 2, 2]))
    evidence = Evidence.of([*_split(episodes(50, 0.05, 6)), told], 3, 3, 0, 0.0, 0.05)
    found = following(known(), evidence)
    assert found.states[-3:].tolist() == [1, 2, 2]
    assert found.said[-3:].tolist() == [1, 1, 2]
    assert found.slips[-2] > 0.99
    assert found.slips[[-3, -1]].max() < 0.1


def test_the_right_machine_is_not_refuted_and_a_wrong_one_is() -> None:
    learned_from = episodes(200, 0.05, 7)
    right, wrong = known(), known(np.array([[1, 0, 0], [1, 1, 1], [2, 2, 2]]))
    tallies = [LabelNoiseTally(machine, learned_from) for machine in (right, wrong)]
    found = [[tally.add(episodes(8, 0.05, seed)) for seed in range(100, 140)] for tally in tallies]
    assert not any(found[0])
    refutation = next(one for one in found[1] if one is not None)
    assert (refutation.expected, refutation.shown) == (1, 2)
    expected, happened = tallies[0].expected.sum(), tallies[0].wrong.sum()
    assert happened == pytest.approx(expected, rel=0.2)


def test_counts_of_a_tally_are_saved_and_loaded() -> None:
    one, two = (LabelNoiseTally(known(), episodes(50, 0.05, 8)) for _ in range(2))
    one.add(episodes(8, 0.05, 9))
    two.load(one.counts())
    assert all(np.array_equal(two.counts()[name], counts) for name, counts in one.counts().items())
    assert one.add(episodes(8, 0.05, 10)) == two.add(episodes(8, 0.05, 10))


def test_the_share_of_episodes_that_are_explained() -> None:
    wrong = known(np.array([[1, 0, 0], [1, 1, 1], [2, 2, 2]]))
    for noise in ({"label_noise": 0.05}, {"reward_noise": 0.05, "label_noise": 0.0}, {"label_noise": 0.0}):
        evidence = episodes(100, seed=11, **noise)  # type: ignore[arg-type]
        assert explained(known(), evidence) > 0.95
        assert explained(wrong, evidence) < 0.8


def _split(evidence: Evidence) -> list[Episode]:
    ends = np.cumsum(evidence.lengths)[:-1]
    pairs = zip(np.split(evidence.letters, ends), np.split(evidence.levels, ends), strict=True)
    return [Episode(*pair) for pair in pairs]
