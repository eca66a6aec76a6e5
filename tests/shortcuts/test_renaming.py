"""Propositional alphabets: letters that are sets of propositions, and renamings of propositions."""

from itertools import product

import numpy as np
import pytest
from benchmarks.references import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.errors import UnknownSymbolError
from nrm.machines import Alphabet, MooreMachine
from nrm.shortcuts import shortcuts
from nrm.shortcuts.diagnosis import refuting_string

FORMULAS = ["F a & F b", "F(a & b)", "F(a | b)", "a U b", "F(a & F b)", "F a", "G !a & F b", "F a | G b", "X a"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_two_propositions_against_all_maps_of_letters(formula: str) -> None:
    machine = nrm.compile(formula, propositions="a,b")
    found = shortcuts(machine)
    expected = list(brute_force(machine))
    assert found.count == len(expected)
    assert all(mapping in found for mapping in expected)
    assert {tuple(mapping.items()) for mapping in found.maps()} == {tuple(mapping.items()) for mapping in expected}


def renamed_letters(machine: MooreMachine, renaming: dict[str, str]) -> list[int]:
    """Each letter X as {p : renaming(p) in X}."""
    alphabet = machine.alphabet
    steps = [set(alphabet.true_symbols(letter)) for letter in range(alphabet.size)]
    return [alphabet.letter([p for p in alphabet.symbols if renaming[p] in step]) for step in steps]


def check_renamings(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    names = machine.alphabet.symbols
    expected = []
    for images in product(names, repeat=len(names)):
        renaming = dict(zip(names, images, strict=True))
        works = refuting_string(machine, renamed_letters(machine, renaming)) is None
        assert (renaming in found.renamings) == works
        if works:
            expected.append(renaming)
            letters = renamed_letters(machine, renaming)
            named = {machine.alphabet.letter_name(x): machine.alphabet.letter_name(y) for x, y in enumerate(letters)}
            assert named in found
    assert found.renamings.count == len(expected)
    listed = list(found.renamings)
    assert listed[0] == {name: name for name in names}
    assert sorted(tuple(r.items()) for r in listed) == sorted(tuple(r.items()) for r in expected)
    classes = found.machine.letter_class
    within = [r for r in expected if (classes[renamed_letters(machine, r)] == classes).all()]
    for verdict in found.verdicts:
        assert set(verdict.confusable_with) == {r[verdict.symbol] for r in expected} - {verdict.symbol}
        assert set(verdict.within_class) == {r[verdict.symbol] for r in within} - {verdict.symbol}


@pytest.mark.parametrize(
    "formula",
    [
        *FORMULAS,
        "F(a & b & X c)",
        "F a & F b & F c",
        "F(a & b) & F c",
        "F(a & (b | c))",
        "F(a & X b) | F(b & X c) | F(c & X a)",
    ],
)
def test_renamings(formula: str) -> None:
    check_renamings(nrm.compile(formula, propositions="a,b,c"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_renamings_of_any_machine(data: st.DataObject) -> None:
    states = data.draw(st.integers(1, 3))
    # A letter acts by how many of some propositions hold, so that renamings survive.
    counted = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    moves = data.draw(
        st.lists(st.lists(st.integers(0, states - 1), min_size=states, max_size=states), min_size=8, max_size=8)
    )
    if data.draw(st.booleans()):
        numbers = [sum(letter >> bit & 1 for bit in range(3) if counted[bit]) for letter in range(8)]
    else:
        numbers = list(range(8))
    table = np.array([[moves[number][state] for number in numbers] for state in range(states)])
    outputs = data.draw(st.lists(st.integers(0, 1), min_size=states, max_size=states))
    alphabet = Alphabet.propositional("abc")
    check_renamings(MooreMachine.from_table(alphabet, table, np.zeros(states, bool), np.array(outputs)))


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_proposition_is_groundable_when_no_map_changes_its_truth(formula: str) -> None:
    machine = nrm.compile(formula, propositions="a,b")
    found = shortcuts(machine)
    for bit, verdict in enumerate(found.verdicts):
        name = machine.alphabet.symbols[bit]
        kept = all(
            (name in letter.split("&")) == (name in image.split("&"))
            for mapping in brute_force(machine)
            for letter, image in mapping.items()
        )
        assert verdict.groundable == kept


def test_an_unknown_proposition_is_told() -> None:
    found = shortcuts(nrm.compile("F a & F b", propositions="a,b"))
    with pytest.raises(UnknownSymbolError, match="unknown proposition 'z'"):
        _ = {"a": "z"} in found.renamings
    assert {0: 1} not in found.renamings


def test_what_the_task_never_looks_at() -> None:
    verdicts = shortcuts(nrm.compile("F a & F c", propositions="a,b,c")).verdicts
    assert [verdict.used for verdict in verdicts] == [True, False, True]
