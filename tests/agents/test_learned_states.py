"""How often a learned state is the true one, by hand."""

from __future__ import annotations

import numpy as np

import nrm
from nrm.agents.machine_methods import LearnedStates


def steps(states: LearnedStates, pairs: list[tuple[int, int]], done: bool = False) -> None:
    true, believed = np.array(pairs).T
    states.add(true, believed, np.full(len(pairs), done))


def test_a_learned_state_stands_for_the_one_in_which_it_is_believed_most() -> None:
    task = nrm.compile("F(a & F b)", "a b c")
    assert task.states == 3
    states = LearnedStates(task, 4)
    assert states.accuracy() is None
    # Learned 3 is true 0, learned 1 and 2 both are true 1, and learned 1 was believed once elsewhere.
    steps(states, [(0, 3), (0, 3), (1, 1), (1, 1), (1, 2), (0, 1)])
    assert states.accuracy() == 5 / 6


def test_one_state_for_all_is_right_in_the_most_frequent_one_alone() -> None:
    task = nrm.compile("F(a & F b)", "a b c")
    states = LearnedStates(task, 1)
    steps(states, [(0, 0), (0, 0), (1, 0), (2, 0)])
    assert states.accuracy() == 0.5


def test_states_that_rewards_do_not_tell_apart_before_the_end_count_as_one() -> None:
    # Done by a, which what follows may undo, or for good by b: the potential is the same.
    task = nrm.compile("F(a & last) | b", "a b c")
    over = [state for state in range(task.states) if task.accepting[state]]
    assert len(over) == 2
    for goes_on, share in ((False, 1.0), (True, 2 / 3)):
        states = LearnedStates(task, 2)
        steps(states, [(task.initial, 0)])
        steps(states, [(over[0], 1), (over[1], 1)], done=not goes_on)
        assert states.accuracy() == share
