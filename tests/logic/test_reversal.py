"""Formulas read from the end of a trace: against their meaning, and against progression."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings

from nrm import holds
from nrm.aliases import Step
from nrm.automata import DEFAULT_LIMITS, Dfa, Limits
from nrm.logic import Formula, parse, progression, reversal
from nrm.logic.ldlf import translate as translate_ldlf
from nrm.logic.ltlf.meaning import closure
from nrm.logic.progression import progress
from nrm.logic.reversal import letters_of, read_backwards
from tests.strategies import formulas, traces

STEPS: dict[bool, list[Step]] = {True: ["a", "b", "other"], False: [(), ("a",), ("b",), ("a", "b")]}


def by_reversal(formula: Formula, exclusive: bool, limits: Limits) -> Dfa | None:
    return reversal.by_reversal(closure(formula), formula.atoms(), exclusive, limits)


def same(one: Dfa, two: Dfa) -> bool:
    """Whether two automata are equal but for the order of their atoms, which both have alike here."""
    assert one.atoms == two.atoms
    return (
        np.array_equal(one.letter_class, two.letter_class)
        and np.array_equal(one.columns, two.columns)
        and np.array_equal(one.accepting, two.accepting)
    )


@given(formulas(past=False))
@settings(max_examples=60)
def test_values_from_the_end_are_the_meaning_at_each_step(formula: Formula) -> None:
    atoms = ("a", "b")
    for exclusive, steps in STEPS.items():
        table = letters_of(atoms, exclusive)
        machine = read_backwards(closure(formula), atoms, exclusive)
        for trace in traces(steps, 3):
            state = 0
            for place in reversed(range(len(trace))):
                true = [name in trace[place] if not exclusive else name == trace[place] for name in atoms]
                letter = int(np.flatnonzero((table == np.array(true)[:, None]).all(0))[0])
                state = machine.moves.next_state(state, letter)
                assert bool(machine.accepting[state]) == holds(formula, trace[place:])


@given(formula=formulas(past=False, leaves=10))
@settings(max_examples=40)
def test_both_ways_lead_to_one_automaton(formula: Formula) -> None:
    for exclusive in (True, False):
        expected = progress(closure(formula), exclusive, DEFAULT_LIMITS).minimal()
        found = by_reversal(formula, exclusive, DEFAULT_LIMITS)
        assert found is not None
        atoms = formula.atoms()
        reordered = Dfa(atoms, exclusive, expected.lifted(atoms), expected.accepting).trimmed()
        assert same(found, reordered)


def test_what_is_not_read_backwards() -> None:
    assert by_reversal(parse("F(a & O b)"), exclusive=True, limits=DEFAULT_LIMITS) is None
    assert by_reversal(parse(" & ".join(f"F p{i}" for i in range(7))), False, DEFAULT_LIMITS) is None
    assert by_reversal(parse(" & ".join(f"F p{i}" for i in range(6))), False, Limits(states=63)) is None
    assert by_reversal(parse(" & ".join(f"F p{i}" for i in range(6))), False, Limits(states=64)) is not None


def test_a_large_backward_machine_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reversal, "MAX_CELLS", 20)
    assert by_reversal(parse("F(a & X(b & X X X a))"), False, DEFAULT_LIMITS) is None


def test_ldlf_is_read_backwards_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    for _ in range(20):
        paths = ["a", "!b", "(a; b)*", "(<a>tt)?", "(a + !b; true)*"]
        text = f"<{'; '.join(rng.choices(paths, k=3))}>[{rng.choice(paths)}](b | end)"
        expected = translate_ldlf(text, exclusive=False)
        with monkeypatch.context() as patch:
            patch.setattr(progression, "SMALL", Limits(states=0))
            assert same(translate_ldlf(text, exclusive=False), expected)
