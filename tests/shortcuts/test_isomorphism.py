"""Machines that are equal up to a permutation of symbols, against all permutations of few symbols."""

from __future__ import annotations

from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.errors import AlphabetError
from nrm.logic.ltlf.formula import Formula
from nrm.machines import Alphabet, MooreMachine, compile_formula, minimise
from nrm.shortcuts import Copies
from nrm.shortcuts.symmetry_search import SymmetrySearch
from tests.shortcuts.planted import copies, machine_of, tables
from tests.strategies import formulas

EXCLUSIVE = Alphabet.exclusive("abcde")
PROPOSITIONS = Alphabet.propositional("abcd")


def same_behaviour(one: MooreMachine, other: MooreMachine, letters: list[int]) -> bool:
    """Whether one machine does on every word what the other does when each letter x is read as letters[x]."""
    seen = {(one.initial, other.initial)}
    pending = list(seen)
    while pending:
        left, right = pending.pop()
        if one.outputs[left] != other.outputs[right] or one.accepting[left] != other.accepting[right]:
            return False
        after = {(one.next_state(left, x), other.next_state(right, y)) for x, y in enumerate(letters)} - seen
        seen |= after
        pending.extend(after)
    return True


def renamed(alphabet: Alphabet, order: tuple[str, ...]) -> list[int]:
    """Each letter with its symbols renamed to those of `order`."""
    names = dict(zip(alphabet.symbols, order, strict=True))
    steps = [[names[name] for name in alphabet.true_symbols(letter)] for letter in range(alphabet.size)]
    return [alphabet.letter(step) for step in steps]


def slow_twin(one: MooreMachine, other: MooreMachine, fixed: str = "") -> bool:
    orders = (order for order in permutations(one.alphabet.symbols))
    kept = (order for order in orders if all(order[one.alphabet.places[name]] == name for name in fixed))
    return any(same_behaviour(one, other, renamed(one.alphabet, order)) for order in kept)


def replaced(formula: Formula, names: dict[str, str]) -> Formula:
    if formula.name:
        return Formula(formula.op, (), names[formula.name])
    return Formula(formula.op, tuple(replaced(part, names) for part in formula.args))


@pytest.mark.parametrize("alphabet", [EXCLUSIVE, PROPOSITIONS], ids=["exclusive", "propositional"])
@given(formula=formulas(("a", "b", "c"), past=False), data=st.data())
@settings(max_examples=80, deadline=None)
def test_a_formula_with_other_symbols_is_a_copy(alphabet: Alphabet, formula: Formula, data: st.DataObject) -> None:
    names = dict(zip("abc", data.draw(st.permutations(alphabet.symbols)), strict=False))
    one, other = (compile_formula(text, alphabet) for text in (formula, replaced(formula, names)))
    assert other in Copies([one])
    fixed = data.draw(st.sampled_from(["a", "bd"]))
    assert (other in Copies([one], fixed)) == slow_twin(one, other, fixed)


@pytest.mark.parametrize("alphabet", [EXCLUSIVE, PROPOSITIONS], ids=["exclusive", "propositional"])
@given(pair=st.tuples(*[formulas(("a", "b", "c"), leaves=4, past=False)] * 2), fixed=st.sampled_from(["", "a", "bd"]))
@settings(max_examples=150, deadline=None)
def test_copies_are_those_of_the_slow_twin(alphabet: Alphabet, pair: tuple[Formula, Formula], fixed: str) -> None:
    one, other = (compile_formula(text, alphabet) for text in pair)
    assert (other in Copies([one], fixed)) == slow_twin(one, other, fixed)


@pytest.mark.parametrize("patience", [1, 16], ids=["by refined colours", "by outputs"])
@given(made=st.integers(3, 4).flatmap(lambda n: st.one_of(copies(n), tables(n))), data=st.data())
@settings(max_examples=80, deadline=None)
def test_any_machines_against_the_slow_twin(
    patience: int, made: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    table, outputs = made
    order = data.draw(st.permutations(range(table.shape[1])))
    other, levels = table[:, order], outputs.copy()
    if data.draw(st.booleans()):  # nearly a copy
        levels[data.draw(st.integers(0, len(levels) - 1))] += 1
    left, right = (minimise(machine_of(*one), by="outputs") for one in ((table, outputs), (other, levels)))
    fixed = data.draw(st.sampled_from(["", "a"]))
    with patch.object(SymmetrySearch, "patience", patience):
        assert (right in Copies([left], fixed)) == slow_twin(left, right, fixed)


def test_symbols_that_are_fixed_keep_their_names() -> None:
    alphabet = Alphabet.exclusive(["a", "b", "empty"])
    one, other = (compile_formula(text, alphabet) for text in ("F a", "F empty"))
    assert other in Copies([one])
    assert other not in Copies([one], ["empty"])
    assert compile_formula("F b", alphabet) in Copies([one], ["empty"])


def test_machines_over_some_sets_are_refused() -> None:
    alphabet = Alphabet.of_sets("ab", [(), "a", "b"])
    with pytest.raises(AlphabetError, match="sets of them that occur"):
        Copies([compile_formula("F a", alphabet)])
