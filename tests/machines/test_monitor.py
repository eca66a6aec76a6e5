"""Verdicts along traces, against the meaning of formulas and against all continuations."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.errors import UnknownSymbolError
from nrm.logic import LANGUAGES
from nrm.logic.ltlf.formula import Formula
from nrm.logic.ltlf.vacuity import strengthened
from nrm.machines import Verdict
from tests.strategies import formulas, machines, traces


def slow_verdict(machine: nrm.MooreMachine, state: int) -> Verdict:
    """By trying continuations of every length up to the number of states."""
    reached, ends = {state}, {bool(machine.accepting[state])}
    for _ in range(machine.states):
        reached = {machine.next_state(one, letter) for one in reached for letter in range(machine.alphabet.size)}
        ends |= {bool(machine.accepting[one]) for one in reached}
    if machine.accepting[state]:
        return Verdict.HOLDS if False in ends else Verdict.SATISFIED
    return Verdict.OPEN if True in ends else Verdict.VIOLATED


@given(machines())
def test_verdicts_of_states_are_those_of_all_continuations(machine: nrm.MooreMachine) -> None:
    expected = tuple(slow_verdict(machine, state) for state in range(machine.states))
    assert machine.verdicts == expected


@given(formulas(leaves=4), st.booleans())
def test_a_monitor_passes_the_prefixes_that_satisfy_the_formula(formula: Formula, exclusive: bool) -> None:
    letters = ["a", "b", "c"] if exclusive else [(), ("a",), ("b",), ("a", "b")]
    start = nrm.monitor(formula, ["a", "b", "c"]) if exclusive else nrm.monitor(formula, propositions=["a", "b"])
    for trace in traces(letters, 3):  # type: ignore[arg-type]
        after = start.run(trace)[-1]
        assert after.verdict.passed == nrm.holds(formula, trace)
        assert after.verdict is start.machine.verdicts[after.states[0]]


@given(formulas(leaves=4))
def test_what_is_vacuous_holds_when_all_that_it_asks_for_is_false(formula: Formula) -> None:
    start = nrm.monitor(formula, propositions=["a", "b"])
    for trace in traces([(), ("a",), ("b",), ("a", "b")], 3):
        expected = {
            str(part) for part, mutant in strengthened(formula) if nrm.holds(part, trace) and nrm.holds(mutant, trace)
        }
        assert set(start.run(trace)[-1].vacuous) == expected


@given(formulas(leaves=5))
def test_mutants_are_stronger_than_the_parts(formula: Formula) -> None:
    for part, mutant in strengthened(formula):
        for trace in traces([(), ("a",), ("b",), ("a", "b")], 3):
            assert nrm.holds(part, trace) or not nrm.holds(mutant, trace)


@pytest.mark.parametrize(
    ("rule", "vacuous", "tested"),
    [
        ("G(a -> F b)", "b", "ab"),
        ("response(a, b) & absence(c)", "b", "ab"),
        ("precedence(a, b)", "a", "ab"),
        ("chain_precedence(a, b)", "a", "ab"),
        ("coexistence(a, b)", "c", "ab"),
        ("G(a -> G !b)", "b", "a"),
    ],
)
def test_rules_hold_vacuously_where_nothing_comes_due(rule: str, vacuous: str, tested: str) -> None:
    start = nrm.monitor(rule, propositions="a b c")
    assert start.run(list(vacuous))[-1].verdict.passed
    assert len(start.run(list(vacuous))[-1].vacuous) == 1
    assert start.run(list(tested))[-1].verdict.passed
    assert start.run(list(tested))[-1].vacuous == ()


@pytest.mark.parametrize("rule", ["F a | F b", "G !a", "F(a & F b)", "not_coexistence(a, b)"])
def test_rules_that_ask_without_a_condition_never_hold_vacuously(rule: str) -> None:
    start = nrm.monitor(rule, propositions="a b")
    for trace in traces(["a", "b", ()], 4):
        assert start.run(trace)[-1].vacuous == ()


@pytest.mark.parametrize(("logic", "rule"), [("ldlf", "<true*; a>tt"), ("ppltl", "O a"), ("re", "true*; a; true*")])
def test_every_language_is_monitored(logic: str, rule: str) -> None:
    assert logic in LANGUAGES
    found = [after.verdict for after in nrm.monitor(rule, logic=logic).run(["b", "a", "b"])]
    assert found == [Verdict.OPEN, Verdict.SATISFIED, Verdict.SATISFIED]


def test_stepping_returns_a_new_monitor_and_leaves_the_old_one() -> None:
    start = nrm.monitor("F a & G !b", ["a", "b", "c"])
    there = start.step("a")
    assert (start.verdict, there.verdict, there.step("b").verdict) == ("open", "holds", "violated")
    assert start.verdict is Verdict.OPEN
    assert [after.verdict for after in start.run(["c", {"a"}])] == ["open", "holds"]


def test_other_symbols_mean_nothing_unless_symbols_are_given() -> None:
    assert nrm.monitor("F a").step("elsewhere").verdict is Verdict.OPEN
    with pytest.raises(UnknownSymbolError, match="elsewhere"):
        nrm.monitor("F a", ["a", "b"]).step("elsewhere")


def test_many_propositions_are_monitored() -> None:
    names = [f"p{number}" for number in range(30)]
    start = nrm.monitor(f"G({' & '.join(names)} -> F q)", propositions=[*names, "q"])
    assert [after.verdict for after in start.run([names, names[:3], ["q"]])] == ["open", "open", "holds"]


def test_machines_and_tasks_are_monitored_over_their_own_symbols() -> None:
    machine = nrm.compile("F a", ["a", "b"])
    for rule in (machine, nrm.Task(nrm.parse("F a"), machine.alphabet)):
        assert nrm.monitor(rule).step("a").verdict is Verdict.SATISFIED


def test_memory_of_steps_is_bounded() -> None:
    start = nrm.monitor("F a")
    for number in range(70_000):
        start.step(f"s{number}")
    assert len(start._after) <= 1 << 16


def test_all_traces_of_a_small_rule_end_as_its_words_say() -> None:
    start = nrm.monitor("!b U a", ["a", "b", "c"])
    for trace in itertools.product("abc", repeat=3):
        first = next((symbol for symbol in trace if symbol != "c"), "c")
        expected = {"a": Verdict.SATISFIED, "b": Verdict.VIOLATED, "c": Verdict.OPEN}[first]
        assert start.run(trace)[-1].verdict is expected
