"""What many tasks teach together: the same as their product says, at any number of tasks."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.logic.ltlf.formula import atom
from nrm.machines import Alphabet, TaskSet
from nrm.samplers import sample_tasks
from nrm.shortcuts import shortcuts, task_set_shortcuts

LETTERS = Alphabet.exclusive("abcd")
EVENTS = [atom(name) for name in "abc"]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_side_by_side_is_the_product(seed: int, count: int) -> None:
    pool = sample_tasks("mixture", LETTERS, count, seed, events=EVENTS)
    found, slow = task_set_shortcuts(pool), shortcuts(pool.machines)
    assert found.count == slow.count
    assert found.groundable == slow.groundable
    confused = {name for names in found.confusable for name in names}
    assert confused == {verdict.symbol for verdict in slow.verdicts if not verdict.groundable}


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_the_count_is_that_of_all_maps_one_by_one(seed: int) -> None:
    pool = sample_tasks("mixture", Alphabet.exclusive("abc"), 2, seed, events=EVENTS)
    traces = [trace for length in range(5) for trace in product(range(3), repeat=length)]

    def rewards(letters: tuple[int, ...]) -> list[float]:
        outputs = []
        for machine in pool.machines:
            state = machine.initial
            for letter in letters:
                state = machine.next_state(state, letter)
                outputs.append(float(machine.outputs[state]))
        return outputs

    keeping = sum(
        all(rewards(trace) == rewards(tuple(images[letter] for letter in trace)) for trace in traces)
        for images in product(range(3), repeat=3)
    )
    # Traces of length four tell apart what longer ones would, on machines this small, or nearly always.
    assert task_set_shortcuts(pool).count <= keeping


def test_by_hand() -> None:
    visits = TaskSet.of(["F a & F b", "F c"], LETTERS)
    assert task_set_shortcuts(visits).confusable == (("a", "b"),)
    assert not task_set_shortcuts(visits).groundable
    told = TaskSet.of(["F a & F b", "F c", "F a"], LETTERS)
    assert task_set_shortcuts(told).groundable
    assert task_set_shortcuts(told).count == 1
    assert task_set_shortcuts(TaskSet.of(["F a"], LETTERS)).confusable == (("b", "c", "d"),)


def test_thousands_of_tasks_take_no_product() -> None:
    letters = Alphabet.exclusive([*"abcdefghijkl", "empty"])
    pool = sample_tasks("mixture", letters, 400, 0, events=[atom(name) for name in "abcdefghijkl"])
    found = task_set_shortcuts(pool)
    assert found.groundable
    assert found.tasks < 400


@pytest.mark.parametrize("count", [2, 40])
def test_what_no_task_speaks_of_stays_unknown(count: int) -> None:
    letters = Alphabet.exclusive("abcdef")
    pool = sample_tasks("mixture", letters, count, 0, events=[atom(name) for name in "abcd"])
    assert ("e", "f") in task_set_shortcuts(pool).confusable
