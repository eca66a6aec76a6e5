"""State merging, held against hand-made trees and a slow twin that tries every partition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.inference import Episode, Evidence, Hypothesis, TooManyStatesError, learn_machine
from nrm.inference.merging import fewer_states, merge, prefix_tree

Words = list[tuple[list[int], list[int]]]


def evidence(words: Words, letters: int = 2, levels: int = 2, reward_noise: float = 0.0) -> Evidence:
    traces = [Episode(np.array(read), np.array(shown)) for read, shown in words]
    return Evidence.of(traces, letters, levels, 0, reward_noise)


def explains(known: Hypothesis, words: Words) -> bool:
    """The slow, obvious way to follow a machine."""
    for read, shown in words:
        state = 0
        for letter, level in zip(read, shown, strict=True):
            state = int(known.table[state, letter])
            if known.levels[state] != level:
                return False
    return True


def least_states(words: Words, letters: int, most: int) -> int:
    """The slow twin: every table and every labelling, by size."""
    for states in range(1, most + 1):
        for table in product(range(states), repeat=states * letters):
            moves = np.array(table).reshape(states, letters)
            for levels in product((0, 1), repeat=states - 1):
                blank = np.zeros_like(moves)
                known = Hypothesis(moves, np.array([0, *levels]), blank, np.zeros(letters, dtype=np.int64))
                if explains(known, words):
                    return states
    return most + 1


def run(table: list[list[int]], levels: list[int], read: list[int]) -> list[int]:
    state, shown = 0, []
    for letter in read:
        state = table[state][letter]
        shown.append(levels[state])
    return shown


def test_a_tree_shares_histories_and_stays_at_idle_letters() -> None:
    # Letter 1 is idle; both episodes go 0 then 2, the second with idle steps in between and at its beginning.
    tree = prefix_tree(evidence([([0, 2], [1, 1]), ([1, 0, 1, 2, 1], [0, 1, 1, 1, 1])], letters=3), (0, 2))
    assert tree.children == [{0: 1}, {2: 2}, {}]
    assert tree.of_step.tolist() == [1, 2, 0, 1, 1, 2, 2]
    # At the root: two beginnings and one idle step, all at potential 0.
    assert tree.counts.tolist() == [[3, 0], [0, 3], [0, 3]]


def test_letters_at_which_nothing_changes_are_idle() -> None:
    assert evidence([([0, 1, 0], [0, 1, 1]), ([1], [1])]).active == (1,)
    assert evidence([([0, 1], [0, 0])]).active == ()


def test_a_modulo_counter_is_found_although_most_of_its_moves_show_nothing() -> None:
    # Letter 0 counts modulo 3 and the potential is 1 at 2 of 3; letter 1 does nothing.
    table, levels = [[1, 0], [2, 1], [0, 2]], [0, 0, 1]
    generator = np.random.default_rng(0)
    words = []
    for _ in range(20):
        read = generator.integers(2, size=12).tolist()
        words.append((read, run(table, levels, read)))
    known = learn_machine(evidence(words))
    assert known.states == 3
    assert explains(known, words)
    assert known.table.tolist() == [[1, 0], [2, 1], [0, 2]]
    assert known.symbols.tolist() == [1, 0]


def test_a_letter_that_shows_later_is_let_in() -> None:
    # The potential changes at letter 1 alone, and only once letter 0 was read: F(a & F b) that pays at the end.
    # Letter 2 is read often and means nothing.
    table, levels = [[1, 0, 0], [1, 2, 1], [2, 2, 2]], [0, 0, 1]
    generator = np.random.default_rng(1)
    words = []
    for _ in range(60):
        read = generator.choice(3, p=[0.2, 0.2, 0.6], size=10).tolist()
        words.append((read, run(table, levels, read)))
    known = learn_machine(evidence(words, letters=3))
    assert known.states == 3
    assert known.table.tolist() == table
    assert known.symbols.tolist() == [1, 2, 0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_backtracking_finds_the_fewest_states_there_are(seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    states = int(generator.integers(1, 4))
    table = generator.integers(states, size=(states, 2)).tolist()
    levels = [0, *generator.integers(2, size=states - 1).tolist()]
    words = []
    for _ in range(count):
        read = generator.integers(2, size=5).tolist()
        words.append((read, run(table, levels, read)))
    tree = prefix_tree(evidence(words), (0, 1))
    found = merge(tree)
    smaller: object = found
    while smaller is not None and found.states > 1:
        smaller = fewer_states(tree, found.states - 1)
        found = smaller or found
    assert found.states == least_states(words, 2, 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_what_is_learned_explains_every_episode(seed: int) -> None:
    generator = np.random.default_rng(seed)
    states, letters = int(generator.integers(1, 6)), int(generator.integers(1, 5))
    table = generator.integers(states, size=(states, letters)).tolist()
    levels = [0, *generator.integers(3, size=states - 1).tolist()]
    words = []
    for _ in range(30):
        read = generator.integers(letters, size=int(generator.integers(1, 12))).tolist()
        words.append((read, run(table, levels, read)))
    known = learn_machine(evidence(words, letters, 3), max_states=64)
    assert explains(known, words)
    # Counts are those of the steps, one by one.
    seen = np.zeros_like(known.seen)
    for read, _ in words:
        state = 0
        for letter in read:
            seen[state, letter] += 1
            state = int(known.table[state, letter])
    assert np.array_equal(seen, known.seen)


def test_one_step_is_enough_for_a_machine_and_one_episode_of_nothing_too() -> None:
    known = learn_machine(evidence([([0], [1])]))
    assert known.table.tolist() == [[1, 0], [1, 1]]
    assert known.certainty() == (1, 1, 1)  # letter 1 was never read in the first state, the end tells nothing
    assert learn_machine(evidence([([0], [0])])).states == 1


def test_more_states_than_allowed_are_an_error_with_a_way_out() -> None:
    table, levels = [[1, 0], [2, 1], [3, 2], [0, 3]], [0, 0, 0, 1]
    words = [([0] * 9, run(table, levels, [0] * 9))]
    assert learn_machine(evidence(words), 4).states == 4
    with pytest.raises(TooManyStatesError, match="at most 3 states"):
        learn_machine(evidence(words), 3)
