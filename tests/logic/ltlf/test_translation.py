"""The translation against the direct semantics, and against itself."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm import holds
from nrm.aliases import Step
from nrm.automata import Dfa, Limits
from nrm.errors import FormulaError, LimitError
from nrm.logic import Formula, progression, reversal, translate
from nrm.logic.ltlf.formula import Op
from tests.strategies import formulas, traces

SUBSETS: list[Step] = [(), ("a",), ("b",), ("a", "b")]


def accepts(dfa: Dfa, trace: tuple[Step, ...]) -> bool:
    state = 0
    for step in trace:
        if dfa.exclusive:
            letter = dfa.atoms.index(str(step)) if step in dfa.atoms else len(dfa.atoms)
        else:
            letter = sum(1 << bit for bit, name in enumerate(dfa.atoms) if name in step)
        state = dfa.columns[state, dfa.letter_class[letter]]
    return bool(dfa.accepting[state])


def states_by_residuals(dfa: Dfa) -> int:
    """How many states the language needs: distinct futures, told apart by every trace up to |Q| steps, the slow way."""
    classes = range(dfa.columns.shape[1])
    words = [word for length in range(1, dfa.states) for word in itertools.product(classes, repeat=length)]

    def future(state: int, with_now: bool) -> tuple[bool, ...]:
        verdicts = [bool(dfa.accepting[state])] if with_now else []
        for word in words:
            at = state
            for column in word:
                at = int(dfa.columns[at, column])
            verdicts.append(bool(dfa.accepting[at]))
        return tuple(verdicts)

    later = {int(target) for target in dfa.columns.ravel()}
    futures = {future(state, with_now=True) for state in later}
    # The initial state needs a state of its own only if no other has its future after a step.
    extra = future(0, with_now=False) not in {future(state, with_now=False) for state in later}
    return len(futures) + extra


@given(formulas())
@settings(max_examples=150)
def test_exclusive_translation_means_what_the_formula_means(formula: Formula) -> None:
    dfa = translate(formula, exclusive=True)
    for trace in traces(["a", "b", "other"], 5):
        assert accepts(dfa, trace) == holds(formula, trace)


@given(formulas())
@settings(max_examples=100)
def test_propositional_translation_means_what_the_formula_means(formula: Formula) -> None:
    dfa = translate(formula, exclusive=False)
    for trace in traces(SUBSETS, 4):
        assert accepts(dfa, trace) == holds(formula, trace)


@given(formulas(leaves=4))
@settings(max_examples=15)
def test_propositional_translation_on_longer_traces(formula: Formula) -> None:
    dfa = translate(formula, exclusive=False)
    for trace in traces(SUBSETS, 5):
        assert accepts(dfa, trace) == holds(formula, trace)


@given(formulas(atoms=("a", "b", "c"), leaves=12), st.booleans())
@settings(max_examples=60)
def test_translating_part_by_part_gives_the_same_automaton(formula: Formula, exclusive: bool) -> None:
    whole = compiled(formula, exclusive)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progression, "SMALL", Limits(states=2, nodes=2))
        by_reading_backwards = compiled(formula, exclusive)
        patch.setattr(reversal, "MAX_CELLS", 0)
        by_parts = compiled(formula, exclusive)
    assert whole == by_reading_backwards
    assert whole == by_parts


@given(formulas(leaves=5))
@settings(max_examples=60)
def test_minimal(formula: Formula) -> None:
    dfa = translate(formula, exclusive=True)
    if dfa.states <= 6:
        assert dfa.states == states_by_residuals(dfa)


def compiled(formula: Formula | str, exclusive: bool) -> nrm.MooreMachine:
    return nrm.compile(formula, nrm.Alphabet.of_kind(("a", "b", "c"), "exclusive" if exclusive else "propositional"))


LAWS = [
    ("F a", "true U a"),
    ("G a", "!F !a"),
    ("a R b", "!(!a U !b)"),
    ("a W b", "(a U b) | G a"),
    ("a M b", "b U (a & b)"),
    ("WX a", "!X !a"),
    ("last", "!X true"),
    ("F F a", "F a"),
    ("G a", "a & WX G a"),
    ("a U b", "b | (a & X(a U b))"),
    ("a ^ b", "!(a <-> b)"),
    ("X(a & b)", "X a & X b"),
    ("G(a & b)", "G a & G b"),
    ("O a", "a"),
    ("G(a -> O b)", "!a W b"),
    ("F(b & O a)", "F(a & F b)"),
    ("G(b -> Y a)", "!b & G(X b -> a)"),
]


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize(("left", "right"), LAWS)
def test_equivalent_formulas_give_identical_machines(left: str, right: str, exclusive: bool) -> None:
    assert compiled(left, exclusive) == compiled(right, exclusive)


@given(formulas(), formulas(), st.booleans())
def test_boolean_laws(f: Formula, g: Formula, exclusive: bool) -> None:
    pairs = ((~(f & g), ~f | ~g), (f >> g, ~f | g), (Formula(Op.IFF, (f, g)), (f & g) | (~f & ~g)))
    for left, right in pairs:
        assert compiled(left, exclusive) == compiled(right, exclusive)


@pytest.mark.parametrize(
    ("formula", "states"),
    [
        ("true", 1),
        ("false", 1),
        ("G !a", 2),
        ("F a", 2),
        ("a", 3),
        ("last", 3),
        ("X a", 4),
        ("G(a -> F b)", 2),
        ("F a & F b & F c", 8),
        ("F(a & F b)", 3),
        ("F a & F b & G !c & G !d", 5),
        ("X X X a", 6),
    ],
)
def test_known_sizes(formula: str, states: int) -> None:
    assert translate(formula, exclusive=True).states == states


def test_large_families() -> None:
    atoms = [f"p{index}" for index in range(10)]
    visit = " & ".join(f"F {name}" for name in atoms)
    assert translate(visit, exclusive=True).states == 1024
    assert translate(visit, exclusive=False).states == 1024
    chain = translate(f"sequenced_visit({', '.join(f'p{index}' for index in range(20))})", exclusive=True)
    assert chain.states == 21
    assert translate("X " * 900 + "a", exclusive=True).states == 903
    assert translate("existence(a, 100)", exclusive=True).states == 101
    assert translate("succession(" * 20 + "a" + ", b)" * 20, exclusive=True).states == 6
    wide = translate("G(" + " | ".join(atoms) + ")", exclusive=False)
    assert (wide.states, wide.columns.shape[1]) == (2, 2)  # 1,024 letters, but only two kinds of them


def test_the_initial_state_accepts_only_by_a_twin() -> None:
    # On `G !a` the start is as good as any accepting state; on `!a` no other state has its future.
    assert translate("G !a", exclusive=True).accepting.tolist() == [True, False]
    assert not translate("!a", exclusive=True).accepting[0]


def test_limits_stop_the_work_with_a_clear_error() -> None:
    visit = " & ".join(f"F p{index}" for index in range(10))
    with pytest.raises(LimitError, match="limits: 100 states"):
        translate(visit, exclusive=True, limits=Limits(states=100))
    with pytest.raises(LimitError, match="table entries"):
        translate(visit, exclusive=False, limits=Limits(cells=10_000))
    with pytest.raises(LimitError, match=r"\b5 .*nodes"):
        translate("F(a & X(b | F(c & X(d | e | f | g))))", exclusive=False, limits=Limits(nodes=5))


def test_past_over_future_is_refused() -> None:
    with pytest.raises(FormulaError, match=r"'O'.*'O F a'"):
        translate("G O F a", exclusive=True)


def test_numbering_does_not_depend_on_hashing() -> None:
    code = (
        "import nrm; m = nrm.compile('F(a & F b) & G(c -> X(d | e)) & !G d', 'a b c d e');"
        "print(m.transitions.tolist(), m.outputs.tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
