"""Pools are their machines side by side, and the view of a task says what helps and what hurts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.errors import MachineError
from nrm.logic.ltlf.formula import atom
from nrm.machines import Alphabet, MooreMachine, TaskSet, compile_formula, task_view
from nrm.samplers import sample_tasks

LETTERS = Alphabet.exclusive("abcd")


def test_equal_machines_are_taken_once() -> None:
    pool = TaskSet.of(["F a", "F F a", "F b"], LETTERS)
    assert pool.names == ("F a", "F b")
    assert repr(pool) == "TaskSet(2 tasks over 4 exclusive letters, 4 states, 2 at most)"


@given(st.integers(0, 10_000), st.lists(st.integers(0, 3), max_size=12))
def test_a_state_of_the_union_is_a_state_of_its_task(seed: int, letters: list[int]) -> None:
    pool = sample_tasks("mixture", LETTERS, 6, seed, events=[atom(name) for name in "abcd"])
    for task, machine in enumerate(pool.machines):
        state, whole = machine.initial, int(pool.initial[task])
        for letter in letters:
            state, whole = machine.next_state(state, letter), pool.union.next_state(whole, letter)
            assert pool.local(whole) == (task, state)
            assert pool.union.outputs[whole] == machine.outputs[state]
            assert pool.union.accepting[whole] == machine.accepting[state]


def test_the_union_of_one_is_itself() -> None:
    machine = compile_formula("F(a & F b)", LETTERS)
    assert TaskSet.of([machine]).union == machine


def test_pools_share_an_alphabet() -> None:
    with pytest.raises(MachineError, match="share one alphabet"):
        TaskSet.of([compile_formula("F a", LETTERS), compile_formula("F a", Alphabet.exclusive("ab"))])
    with pytest.raises(MachineError, match="at least one task"):
        TaskSet.of([])


def test_the_view_by_hand() -> None:
    """`!c U (a & F b)`: from the start a helps and c loses; after a, b helps and nothing loses."""
    machine = compile_formula("!c U (a & F b)", LETTERS)
    view = task_view(machine)
    assert view.shape == (4, 17)
    blocks = view[machine.initial]
    assert blocks[0:4].tolist() == [1, 0, 0, 0]  # gain now, of a, b, c, d
    assert blocks[4:8].tolist() == [0, 0, 1, 0]  # lost now
    assert blocks[8:12].tolist() == [0, 1, 0, 0]  # gain next
    assert blocks[12:16].tolist() == [0, 0, 0, 0]  # lost next
    assert blocks[16] == 0.2
    dead = int(np.flatnonzero(machine.dead)[0])
    assert view[dead].tolist() == [0] * 4 + [1] * 4 + [0] * 8 + [1]


def test_a_set_back_is_a_loss_of_one_step() -> None:
    """`F(a & (!b U c))`: after a, b leads back."""
    machine = compile_formula("F(a & (!b U c))", LETTERS)
    after = machine.step(machine.initial, "a")
    assert task_view(machine)[after][:4].tolist() == [0, -1, 1, 0]


def slow_view(machine: MooreMachine) -> list[list[float]]:
    """The definition, letter by letter."""
    letters = range(machine.alphabet.size)
    distance = machine.distance_to_acceptance.tolist()

    def gain(state: int, letter: int) -> float:
        reached = machine.next_state(state, letter)
        if distance[state] < 0 or distance[reached] < 0:
            return 0.0
        return float(min(1, max(-1, distance[state] - distance[reached])))

    def lost(state: int, letter: int) -> float:
        return float(distance[machine.next_state(state, letter)] < 0)

    rows = []
    for state in range(machine.states):
        ahead = {machine.next_state(state, letter) for letter in letters if gain(state, letter) > 0}
        row = [gain(state, letter) for letter in letters] + [lost(state, letter) for letter in letters]
        for value in (gain, lost):
            row += [sum(value(q, letter) for q in ahead) / len(ahead) if ahead else 0.0 for letter in letters]
        row.append(1.0 if distance[state] < 0 else min(distance[state], 10) / 10)
        rows.append(row)
    return rows


@given(st.integers(0, 10_000))
def test_the_view_is_its_definition(seed: int) -> None:
    pool = sample_tasks("mixture", LETTERS, 4, seed, events=[atom(name) for name in "abcd"])
    np.testing.assert_allclose(task_view(pool.union), slow_view(pool.union))
    # The view of a task does not depend on the tasks beside it.
    np.testing.assert_array_equal(
        task_view(pool.union), np.concatenate([task_view(machine) for machine in pool.machines])
    )


def test_the_view_looks_two_steps_ahead() -> None:
    """`F(a & F(b & F c))`: a now, b next."""
    pool = TaskSet.of([compile_formula("F(a & F(b & F c))", LETTERS)])
    assert pool.view.shape[1] == 17
    gains = pool.view[pool.union.initial][:-1].reshape(2, 2, 4)[:, 0]
    assert gains.tolist() == np.eye(4)[:2].tolist()
