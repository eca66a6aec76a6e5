"""Sequences that one step can satisfy whole."""

from __future__ import annotations

import warnings

import pytest

import nrm
from nrm.errors import NrmWarning
from nrm.logic.ltlf.words import hint


@pytest.mark.parametrize(
    ("formula", "better"),
    [
        ("F(key & F door)", "F(key & X F door)"),
        ("F(key & F(door & F goal))", "F(key & X F(door & X F goal))"),
        ("F(key & F door) & G !lava", "F(key & X F door) & G !lava"),
        ("sequenced_visit(a, b)", "F(a & X F b)"),
    ],
)
def test_what_is_probably_meant(formula: str, better: str) -> None:
    said = hint(nrm.parse(formula))
    assert said.endswith(f"write {better}")
    assert hint(nrm.parse(better)) == ""


@pytest.mark.parametrize("formula", ["F key & F !key", "F(key & X F door)", "F(key & F !key)", "G(a -> F b)", "F(F a)"])
def test_nothing_to_say(formula: str) -> None:
    assert hint(nrm.parse(formula)) == ""


@pytest.mark.parametrize(
    "formula", ["F key & F door", "F key & F door & G !lava", "visit(a, b, c)", "F(a & !c) & (F b & G(a | b))"]
)
def test_visits_in_any_order(formula: str) -> None:
    said = hint(nrm.parse(formula))
    assert said.startswith(f"one step can satisfy all of {nrm.parse(formula)}")
    assert "'distance' then pays nothing" in said
    assert " X F" not in said
    with pytest.warns(NrmWarning, match="one step can satisfy"):
        machine = nrm.compile(formula)
    assert set(machine.outputs.tolist()) <= {0.0, 100.0, -100.0}


@pytest.mark.parametrize(
    "formula", ["F a & F b & G !(a & b)", "F a & F(b & X F c)", "F a & G !b", "F a | F b", "G(a -> F b)"]
)
def test_no_such_visits(formula: str) -> None:
    assert hint(nrm.parse(formula)) == ""


@pytest.mark.parametrize(
    ("formula", "named"),
    [("G F gem", "G F gem"), ("F G gem & G !lava", "F G gem"), ("X(a | G F(b & c))", "G F(b & c)")],
)
def test_recurrence_is_of_infinite_traces(formula: str, named: str) -> None:
    said = hint(nrm.parse(formula))
    assert named in said
    assert "--logic ltl" in said
    with pytest.warns(NrmWarning, match="last step"):
        nrm.compile(formula, propositions=["gem", "lava", "a", "b", "c"])
    recurring = nrm.parse(named)
    assert nrm.equivalent(recurring, f"F({recurring.args[0].args[0]} & last)")


def test_only_what_may_hold_together_counts() -> None:
    formula = nrm.parse("F(a & F b)")
    assert "one step" in hint(formula, [(), ("a", "b"), ("c",)])
    assert hint(formula, [("a",), ("b", "c"), ()]) == ""
    alphabet = nrm.Alphabet.propositional("abc").restricted([[], ["a"], ["b", "c"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", NrmWarning)
        nrm.Task(formula, alphabet).machine()
    with pytest.warns(NrmWarning, match="one step can satisfy"):
        nrm.Task(nrm.parse("F(b & F c)"), alphabet).machine()


def test_many_visits() -> None:
    names = [f"p{number}" for number in range(20)]
    visits = " & ".join(f"F {name}" for name in names)
    assert "one step" in hint(nrm.parse(visits))
    assert hint(nrm.parse(f"{visits} & G !(p0 & p1)")) == ""


def test_levels_of_your_own_pay_for_each_visit() -> None:
    machine = nrm.compile("F a & F b", propositions=["a", "b"], reward=(0, 50, 50, 100))
    assert machine.run([("a",), ("b",)]).rewards == machine.run([("b",), ("a",)]).rewards == (50.0, 50.0)


def test_it_pays_nothing_on_the_way_and_is_said_when_compiling() -> None:
    with pytest.warns(NrmWarning, match=r"F\(key & F door\).*F\(key & X F door\)"):
        machine = nrm.compile("F(key & F door)", propositions=["key", "door"])
    assert machine.run([("key",), ("key", "door")]).rewards == (0.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after = nrm.compile("F(key & X F door)", propositions=["key", "door"])
        nrm.compile("F(key & F door)", ["key", "door"])  # one at a time: nothing holds at once
        nrm.compile("F(key & F door)", propositions=["key", "door"], reward="three_value")
    assert after.run([("key",), ("key", "door")]).rewards == (50.0, 50.0)
