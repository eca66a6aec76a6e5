"""Machines of infinite tasks against slow semantics on ultimately periodic words, and by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.aliases import Step
from nrm.errors import FormulaError, LimitError, MachineError
from nrm.logic import LANGUAGES, Formula, InfiniteFormula, InfiniteOp, Op, infinite_normal
from nrm.machines import (
    InfiniteMachine,
    Rounds,
    Task,
    compile_infinite,
    infinite_from_hoa,
    infinite_to_hoa,
    load_infinite,
)
from tests.machines.lassos import ltl_holds, prefixes_hold
from tests.strategies import formulas, formulas_over

SYMBOLS = ("a", "b", "c")
SETS = ((), ("a",), ("b",), ("a", "b"))
PUBLISHED = {
    "GF a & GF b & GF c & GF d & G(!e & !f)": 17,
    "GF(e & (!a U f))": 3,
    "GF(blue & green) & GF(red & magenta)": 4,
    "GF red & GF yellow & GF orange & G !blue": 9,
    "GF(aqua & blue) & GF red & GF yellow & G !green": 9,
    "GF blue & GF green": 4,
    "GF blue & GF green & GF yellow & G !magenta": 9,
    "FG blue": 2,
    "FG blue & F(yellow & F green)": 4,
    "FG magenta & G !yellow": 3,
    "G((green | yellow) -> F blue) & FG(green | magenta)": 4,
}
"""The formulas that DeepLTL's authors test, and how many states a round of each has where any set may hold."""


def lassos(letters: Sequence[Step], seed: int, count: int) -> list[tuple[list[Step], list[Step]]]:
    """Random stems of up to three steps and loops of up to four."""
    rng = random.Random(seed)
    return [
        (rng.choices(letters, k=rng.randrange(4)), rng.choices(letters, k=rng.randrange(1, 5))) for _ in range(count)
    ]


LEAVES = st.builds(
    lambda op, finite: InfiniteFormula(op, (), str(finite)),
    st.sampled_from((InfiniteOp.SOME, InfiniteOp.ALL, InfiniteOp.OFTEN, InfiniteOp.LASTING)),
    formulas(leaves=3),
)
COMBINED = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda part: InfiniteFormula(InfiniteOp.NOT, (part,))),
        st.builds(
            lambda op, *parts: InfiniteFormula(op, parts),
            st.sampled_from((InfiniteOp.AND, InfiniteOp.OR, InfiniteOp.XOR, InfiniteOp.IMPLIES, InfiniteOp.IFF)),
            inner,
            inner,
        ),
    ),
    max_leaves=3,
)


@given(COMBINED, st.integers(0, 10**6))
def test_quantified_formulas_hold_where_looking_at_prefixes_says_so(formula: InfiniteFormula, seed: int) -> None:
    machine = compile_infinite(formula, propositions="a b", logic="ltlf+")
    assert LANGUAGES["ltlf+"].parse(str(formula)) == formula
    for stem, loop in lassos(SETS, seed, 3):
        assert machine.accepts(stem, loop) == prefixes_hold(formula, stem, loop)


LTL = formulas_over(
    (Op.NOT, Op.NEXT, Op.EVENTUALLY, Op.ALWAYS, Op.EVENTUALLY, Op.ALWAYS),
    (Op.AND, Op.OR, Op.IMPLIES, Op.IFF, Op.UNTIL, Op.RELEASE, Op.WEAK_UNTIL, Op.STRONG_RELEASE),
    leaves=4,
)


@given(LTL, st.booleans(), st.integers(0, 10**6))
def test_ltl_is_exact_or_refused(formula: Formula, one_holds: bool, seed: int) -> None:
    try:
        parsed = LANGUAGES["ltl"].parse(str(formula))
    except FormulaError:
        return
    over = {"symbols": SYMBOLS} if one_holds else {"propositions": ("a", "b")}
    machine = compile_infinite(parsed, **over)
    for stem, loop in lassos(SYMBOLS if one_holds else SETS, seed, 6):
        assert machine.accepts(stem, loop) == ltl_holds(formula, stem, loop)


@pytest.mark.parametrize("text", ["GF(a & X(b | X a))", "G(a -> X X F b)", "FG(a -> (b W !a))", "G(a <-> F b) | GFG b"])
def test_nested_formulas_agree_with_ltl(text: str) -> None:
    formula = LANGUAGES["ltl"].parse(text)
    machine = compile_infinite(formula, propositions="a b")
    answers = [(machine.accepts(*lasso), ltl_holds(formula, *lasso)) for lasso in lassos(SETS, 7, 60)]
    assert len(set(answers)) == 2
    assert all(ours == slow for ours, slow in answers)


def test_pure_past_components_look_back_from_the_end_of_prefixes() -> None:
    machine = compile_infinite("AE(a & Y b) & A(H !c)", SYMBOLS, logic="ppltl+")
    assert machine.accepts(["c"], ["b", "a"]) is False
    assert machine.accepts(["a"], ["b", "a"])
    assert not machine.accepts(["b", "a"], ["a"])
    assert not machine.accepts([], ["b"])


def test_a_machine_by_hand() -> None:
    machine = compile_infinite("GF a & G !b", SYMBOLS)
    assert machine.acceptance == "Inf(0)&Fin(1)"
    assert machine.statements == ("AE(F(last & a))", "E(F b)")
    assert machine.moore.states == 3  # a was read last, or not, or b was read once
    assert machine.live.tolist().count(False) == 1
    assert machine.accepts(["c"], ["c", "a"])
    assert not machine.accepts(["b"], ["a"])
    assert not machine.accepts(["a", "a"], ["c"])


def test_settled_states_are_one_state() -> None:
    machine = compile_infinite("F a | GF b", SYMBOLS)
    assert machine.moore.absorbing.sum() == 1
    assert compile_infinite("F a | G !a", SYMBOLS).moore.states == 1


@pytest.mark.parametrize("text", PUBLISHED)
def test_published_formulas_have_small_rounds(text: str) -> None:
    (rounds,) = Rounds.of_task(Task.of(text, logic="ltl")).machines
    assert rounds.states == PUBLISHED[text]
    assert rounds.outputs[rounds.initial] == 0
    assert set(rounds.outputs[rounds.accepting]) == {100}


ALTERNATIVES = {"GF a & GF b": [("ab", "")], "FG a & GF b | GF c": [("b", "x"), ("c", "")], "FG a": [("", "x")]}
"""What must come again and again and what must not, by symbol; x: any but a."""


@pytest.mark.parametrize("text", ALTERNATIVES)
def test_rounds_are_those_of_a_plain_count(text: str) -> None:
    task = Task.of(text, ("a", "b", "c"), logic="ltl")
    if text == "FG a & GF b | GF c":
        task = Task.of("FG(a | b) & GF b | GF c", ("a", "b", "c"), logic="ltl")
    forbidden = {"FG a & GF b | GF c": "c"}.get(text, "bc")
    (machine,) = Rounds.of_task(task).machines
    rng = random.Random(3)
    for _ in range(20):
        trace = rng.choices("abc", k=30)
        seen: list[set[str]] = [set() for _ in ALTERNATIVES[text]]
        over = []
        for step in trace:
            done = False
            for place, (due, never) in enumerate(ALTERNATIVES[text]):
                bad = bool(never) and step in forbidden
                seen[place] = set() if bad else seen[place] | ({step} & set(due))
                done = done or (not bad and seen[place] == set(due))
            if done:
                seen = [set() for _ in seen]
            over.append(done)
        states = machine.run(trace).states[1:]
        assert machine.accepting[list(states)].tolist() == over


def test_whoever_finished_a_round_looks_at_the_next_one() -> None:
    tasks = Rounds.of_task(Task.of("GF a & GF b & G !c", SYMBOLS, logic="ltl"))
    (over,) = np.flatnonzero(tasks.union.accepting)
    assert tasks.seen_as[over] == tasks.union.initial
    np.testing.assert_array_equal(tasks.view[over], tasks.view[tasks.union.initial])
    assert tasks.outcome(tasks.union).tolist() == tasks.union.dead.tolist()


def test_shortcuts_keep_the_marks() -> None:
    assert nrm.shortcuts(compile_infinite("GF a & GF b", SYMBOLS).moore).count == 1
    either = compile_infinite("GF(a | b)", SYMBOLS).moore
    assert nrm.shortcuts(either).count == 4  # a and b in any of two ways each


@pytest.mark.parametrize("text", ["FG a | GF b & F c", "G(a -> F b)", "F a | G !a", "F(a & !a)"])
@pytest.mark.parametrize("one_holds", [True, False])
def test_hoa_comes_back(tmp_path: Path, text: str, one_holds: bool) -> None:
    task = Task.of(text, SYMBOLS, logic="ltl") if one_holds else Task.of(text, propositions=SYMBOLS, logic="ltl")
    machine = InfiniteMachine.of(task)
    (tmp_path / "m.hoa").write_text(infinite_to_hoa(machine, text))
    again = load_infinite(tmp_path / "m.hoa")
    assert again.moore == machine.moore
    assert again.statements == machine.statements
    assert again.acceptance == machine.acceptance


ON_EDGES = """HOA: v1
States: 1
Start: 0
AP: 2 "a" "b"
Acceptance: 2 Inf(0) & Fin(1)
properties: trans-labels explicit-labels trans-acc
--BODY--
State: 0
[0 & 1] 0 {0}
[!1] 0 {1}
--END--
"""


def test_acceptance_on_edges_is_read() -> None:
    machine = infinite_from_hoa(ON_EDGES)
    assert machine.accepts([()], [("a", "b")])
    assert not machine.accepts([("a", "b")], [("a", "b"), ("a",)])
    assert not machine.accepts([("b",)], [("a", "b")])  # no edge


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Acceptance: 2 Inf(0) & Fin(1)", "Acceptance: 1 Inf(0) & Fin(1)", "Fin"),
        ("Acceptance: 2 Inf(0) & Fin(1)", "Acceptance: 2 Inf(x)", "Inf"),
        ("{1}", "{2}", "line 10"),
        ("Acceptance: 2", "Acceptance: 40", "40"),
    ],
)
def test_damaged_hoa_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(MachineError, match=said):
        infinite_from_hoa(ON_EDGES.replace(old, new))


@pytest.mark.parametrize(
    ("text", "place"),
    [("F a & (a U G b)", 9), ("GF a & G(F a | F G b)", 7), ("a & X last", 6), ("GF(a & Y b & F c)", 0), ("O F a", 0)],
)
def test_an_error_points_at_what_is_not_supported(text: str, place: int) -> None:
    with pytest.raises(FormulaError) as caught:
        LANGUAGES["ltl"].parse(text)
    *_, shown, caret = str(caught.value).splitlines()
    assert caret.index("^") - shown.index(text) == place


def test_formulas_made_in_python_are_refused_as_texts_are() -> None:
    deep = LANGUAGES["ltlf"].parse("F a & G F b" + " & X(b" * 120 + ")" * 120)
    for formula, said in ((LANGUAGES["ltlf"].parse("a U G b"), "a U G b"), (deep, "100")):
        with pytest.raises(FormulaError, match=said):
            compile_infinite(formula)
    with pytest.raises(FormulaError, match="100"):
        LANGUAGES["ltl"].parse("GF " * 450 + "a")


def test_finite_and_infinite_are_not_mistaken_for_one_another() -> None:
    with pytest.raises(FormulaError, match="G F a"):
        nrm.compile("ltl: GF a")
    with pytest.raises(FormulaError, match="infinite"):
        nrm.monitor(Task.of("GF a", SYMBOLS, logic="ltl"))
    with pytest.raises(FormulaError, match="finite"):
        compile_infinite("F a", SYMBOLS, logic="ltlf")


def test_a_task_whose_acceptance_is_out_of_reach_has_no_rounds() -> None:
    machine = compile_infinite("GF(a & b)", SYMBOLS)
    assert not machine.live.any()
    assert machine.acceptance == "Inf(0)"
    with pytest.raises(MachineError, match="cannot be satisfied"):
        machine.rounds()


@pytest.mark.parametrize(
    "text", ["GF(a & b) & FG !b", "GF a & FG !a", "F b & G(a & !b)", "G(a -> X F b) & FG !b & GF a"]
)
def test_contradictions_are_seen(text: str) -> None:
    assert not compile_infinite(text, propositions="a b").live.any()


def test_rounds_of_too_many_parts_are_refused() -> None:
    machine = compile_infinite("ltl: " + " & ".join(f"GF a{number}" for number in range(10)))
    with pytest.raises(LimitError):
        machine.rounds()


def test_safe_parts_are_one_statement() -> None:
    machine = compile_infinite("GF a & " + " & ".join(f"G !h{number}" for number in range(14)))
    assert machine.count == 2
    assert machine.rounds().states == 3


def test_what_is_read_is_read_again() -> None:
    for text in PUBLISHED:
        formula = LANGUAGES["ltl"].parse(text)
        assert LANGUAGES["ltl"].parse(str(formula)) == formula
        normal = infinite_normal(formula, "ltl")
        assert set(normal.atoms()) == set(formula.atoms())


def test_parts_that_are_said_again_change_nothing() -> None:
    once, often = (nrm.compile_infinite(" & ".join(["GF a"] * times) + " & F b", "a b c") for times in (1, 20))
    assert often.acceptance == once.acceptance
