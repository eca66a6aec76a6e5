"""The references against plainer ones still."""

from itertools import product

import pytest
from benchmarks.references import algorithm_1, brute_force, brute_force_formulas
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.errors import LimitError
from nrm.machines import MooreMachine, equivalent
from nrm.shortcuts import shortcuts
from nrm.shortcuts.diagnosis import refuting_string
from tests.shortcuts.planted import machine_of, planted


@settings(max_examples=30, deadline=None)
@given(planted(3), st.data())
def test_keeping_rewards_is_equivalence_with_the_renamed_machine(machine: MooreMachine, data: st.DataObject) -> None:
    size = machine.alphabet.size
    mapping = data.draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
    renamed = machine_of(machine.transitions[:, mapping], machine.outputs)
    assert (refuting_string(machine, mapping) is None) == equivalent(machine, renamed, acceptance=False)


@settings(max_examples=60, deadline=None)
@given(planted(3), st.integers(0, 4), st.data())
def test_keeping_rewards_up_to_a_horizon_is_equality_on_all_strings(
    machine: MooreMachine, horizon: int, data: st.DataObject
) -> None:
    symbols = machine.alphabet.symbols
    mapping = data.draw(st.lists(st.integers(0, len(symbols) - 1), min_size=len(symbols), max_size=len(symbols)))
    images = dict(zip(symbols, [symbols[value] for value in mapping], strict=True))
    equal = [
        machine.run(string).outputs == machine.run([images[symbol] for symbol in string]).outputs
        for length in range(horizon + 1)
        for string in product(symbols, repeat=length)
    ]
    assert (refuting_string(machine, mapping, horizon) is None) == all(equal)
    string = refuting_string(machine, mapping, horizon)
    if string is not None:
        names = [symbols[letter] for letter in string]
        assert machine.run(names).outputs[-1] != machine.run([images[name] for name in names]).outputs[-1]


@pytest.mark.parametrize("task", nrm.logic.PAPER_TASKS, ids=lambda task: task.name)
def test_all_three_agree_on_the_papers_tasks(task: nrm.logic.PaperTask) -> None:
    machine = nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS)
    result = algorithm_1(machine)
    assert result.finished
    assert len(result.maps) == len(list(brute_force(machine))) == shortcuts(machine).count == task.shortcuts
    assert all(mapping in shortcuts(machine) for mapping in result.maps)


@settings(max_examples=25, deadline=None)
@given(planted(3))
def test_algorithm_1_returns_and_is_right_when_it_finishes(machine: MooreMachine) -> None:
    result = algorithm_1(machine, strings=500)
    if result.finished:
        assert len(result.maps) == shortcuts(machine).count
    else:
        assert len(result.maps) >= shortcuts(machine).count


def test_algorithm_1_goes_on_while_one_of_two_strings_is_not_absorbed() -> None:
    # After a all is over, after b not yet: only the second step tells a map of a to b.
    machine = machine_of([[1, 2], [1, 1], [3, 3], [3, 3]], [0, 1, 1, 2])
    assert algorithm_1(machine).maps == tuple(brute_force(machine)) == ({"a": "a", "b": "b"},)


def test_algorithm_1_does_not_end_on_a_cycle_of_two() -> None:
    machine = machine_of([[1, 0], [0, 1]], [0, 1])
    assert not algorithm_1(machine, strings=200).finished
    assert shortcuts(machine).count == len(list(brute_force(machine)))


@pytest.mark.parametrize("text", ["F a & F b", "F(a & F b) & G !c", "a U b", "X a | G b", "G(a -> X b)"])
def test_renamed_formulas_count_what_renamed_machines_do(text: str) -> None:
    names = ("a", "b", "c", "d")
    kept = [mapping for mapping, same in brute_force_formulas(text, names) if same]
    assert kept == list(brute_force(nrm.compile(text, names)))


def test_references_refuse_large_alphabets() -> None:
    machine = nrm.compile("F s0", [f"s{number}" for number in range(9)])
    with pytest.raises(LimitError, match="9\\^9 maps"):
        algorithm_1(machine)
    with pytest.raises(LimitError, match="9\\^9 maps"):
        next(brute_force(machine))
