from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nrm
from nrm import MooreMachine
from nrm.errors import AlphabetError, MachineError
from nrm.machines import difference, equivalent, minimise, product, until_over
from nrm.machines.operations import canonical
from tests.strategies import machines


def outputs_on_all_words(machine: MooreMachine, longest: int) -> list[tuple[float, bool]]:
    """The output and acceptance after every word up to a length, the slow way."""
    seen = []
    for length in range(longest + 1):
        for word in itertools.product(range(machine.alphabet.size), repeat=length):
            state = machine.initial
            for letter in word:
                state = int(machine.transitions[state, letter])
            seen.append((float(machine.outputs[state]), bool(machine.accepting[state])))
    return seen


def shuffled(machine: MooreMachine, order: list[int]) -> MooreMachine:
    """The same machine with its states numbered by `order`."""
    place = np.argsort(order)
    return MooreMachine.from_table(
        machine.alphabet,
        place[machine.transitions[order]],
        machine.accepting[order],
        machine.outputs[order],
        int(place[machine.initial]),
    )


@given(machines())
def test_minimising_keeps_behaviour_and_leaves_no_two_states_alike(machine: MooreMachine) -> None:
    small = minimise(machine)
    assert outputs_on_all_words(small, 4) == outputs_on_all_words(machine, 4)
    assert equivalent(small, machine)
    assert minimise(small) == small
    for p, q in itertools.combinations(range(small.states), 2):
        start_p = MooreMachine(small.alphabet, small.letter_class, small.columns, small.accepting, small.outputs, p)
        start_q = MooreMachine(small.alphabet, small.letter_class, small.columns, small.accepting, small.outputs, q)
        assert not equivalent(start_p, start_q)


@given(machines(), st.data())
def test_isomorphic_machines_have_one_canonical_form(machine: MooreMachine, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(machine.states)))
    assert canonical(shuffled(machine, order)) == canonical(machine)
    assert minimise(shuffled(machine, order)) == minimise(machine)


@given(machines(propositional=False), machines(propositional=False))
def test_a_difference_is_real_and_shortest(left: MooreMachine, right: MooreMachine) -> None:
    found = difference(left, right)
    if found is None:
        assert outputs_on_all_words(left, 4) == outputs_on_all_words(right, 4)
        return
    runs = left.run(found.trace), right.run(found.trace)
    assert (runs[0].outputs[-1], runs[0].accepted) != (runs[1].outputs[-1], runs[1].accepted)
    shorter = len(found.trace) - 1
    assume(0 <= shorter <= 4)
    assert outputs_on_all_words(left, shorter) == outputs_on_all_words(right, shorter)


def test_a_difference_in_words() -> None:
    found = difference(nrm.compile("F a", "a b"), nrm.compile("F(a & X true)", "a b"))
    assert found is not None
    assert (
        str(found)
        == "after (a) the first machine is accepting at potential 100, the second not accepting at potential 50"
    )


def test_minimising_by_outputs_alone_forgets_acceptance() -> None:
    machine = nrm.compile("F a", "a b", reward=[0, 0])
    assert minimise(machine).states == 2
    assert minimise(machine, by="outputs").states == 1
    with pytest.raises(MachineError, match="not by 'output'"):
        minimise(machine, by="output")  # type: ignore[arg-type]


@given(machines(propositional=False), machines(propositional=False), st.lists(st.sampled_from("ab"), max_size=6))
def test_a_product_runs_both(left: MooreMachine, right: MooreMachine, trace: list[str]) -> None:
    both = product(left, right)
    runs = [machine.run(trace) for machine in (left, right, both)]
    assert runs[2].outputs == tuple(a + b for a, b in zip(runs[0].outputs, runs[1].outputs, strict=True))
    assert runs[2].accepted == (runs[0].accepted and runs[1].accepted)


def test_the_product_of_parts_is_the_conjunction() -> None:
    visit, avoid = (nrm.compile(text, "a b c", reward="acceptance") for text in ("F a", "G !b"))
    joined = product(visit, avoid, output=min)
    assert minimise(joined) == nrm.compile("F a & G !b", "a b c", reward="acceptance")


def test_different_alphabets_do_not_mix() -> None:
    with pytest.raises(AlphabetError, match="different alphabets"):
        equivalent(nrm.compile("F a", "a b"), nrm.compile("F a", "a c"))


def test_episodes_show_nothing_after_the_task_is_over() -> None:
    # b before or after a loses; episodes that end at a never show the latter.
    machine = nrm.compile("F a & G !b", "a b c")
    shown = until_over(machine)
    a, b = 0, 1
    done, lost = shown.next_state(shown.initial, a), shown.next_state(shown.initial, b)
    assert shown.states == 3
    assert (shown.next_state(done, b), shown.next_state(lost, a)) == (done, lost)
    assert machine.next_state(machine.next_state(machine.initial, a), b) != machine.next_state(machine.initial, a)
    never = nrm.compile("G !a & F a", "a b")
    assert until_over(never).states == 1
