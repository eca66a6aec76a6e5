"""What is said of a formula."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

import nrm
from nrm.cli import main
from nrm.errors import AlphabetError
from nrm.logic import PATTERNS, Formula, holds, read_formula
from nrm.machines import shortest_trace
from nrm.shortcuts import compare, recognised
from tests.logic.languages import EXCLUSIVE, PROPOSITIONS
from tests.strategies import formulas, traces


def test_words() -> None:
    assert nrm.explain("F(a & F b) & G !c").words == "at some step a and (then or later b); and never c"
    assert nrm.explain("!c U a").words == "not c at every step until a, which must come"
    assert nrm.explain("G(a -> X b)").words == "at every step if a, then (there is a next step, with b)"
    assert nrm.explain("(!lava)*; gem", logic="re").words == nrm.explain("<a; b*>end", logic="ldlf").words == ""
    assert nrm.explain("O a & H !b", logic="ppltl").words == "when it ends: at some step so far a; and never so far b"


@settings(max_examples=40, deadline=None)
@given(formulas())
def test_every_formula_has_words(formula: Formula) -> None:
    assert nrm.explain(formula, EXCLUSIVE).words


def test_long_formulas_are_cut() -> None:
    names = [f"{letter}{i}" for i in range(100) for letter in "ab"]
    assert "too long for words" in nrm.explain(" | ".join(f"(a{i} U b{i})" for i in range(100)), names).words


def test_a_formula_without_symbols_needs_an_alphabet() -> None:
    with pytest.raises(AlphabetError, match="names no symbol"):
        nrm.explain("true")


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_recognised_up_to_equivalence(name: str, exclusive: bool) -> None:
    formula = read_formula(PATTERNS[name].example).formula
    found = recognised(formula, exclusive, "ltlf")
    assert found is not None
    alphabet = nrm.Alphabet.of_kind(formula.atoms(), "exclusive" if exclusive else "propositional")
    assert nrm.compile(found, alphabet) == nrm.compile(PATTERNS[name].example, alphabet)


def test_conjunctions_of_patterns_are_recognised_in_any_language() -> None:
    names = "a b c d e"
    assert nrm.explain("F b & G !c & F a & G !d", names).pattern == "visit(b, a) & global_avoidance(c, d)"
    assert nrm.explain("H(b -> O a) & O c", names, logic="ppltl").pattern == "precedence(a, b) & visit(c)"
    assert nrm.explain("a U (b U c)", names).pattern is None
    assert nrm.explain("F a & !F a", names).pattern == "visit(a) & global_avoidance(a)"


@settings(max_examples=40, deadline=None)
@given(formulas())
def test_shortest_traces_are_shortest(formula: Formula) -> None:
    """By hand: the first of all traces, short ones first, of which each says what it should."""
    for alphabet in (EXCLUSIVE, PROPOSITIONS):
        told = nrm.explain(formula, alphabet)
        all_traces = list(traces(alphabet.decode(range(alphabet.size)), 4))
        fit = [len(trace) for trace in all_traces if holds(formula, trace)]
        unfit = [len(trace) for trace in all_traces if not holds(formula, trace)]
        for found, lengths, wanted in ((told.satisfying, fit, True), (told.unsatisfying, unfit, False)):
            if found is None:
                assert not lengths
            else:
                assert holds(formula, found) == wanted
                assert not lengths or len(found) == lengths[0]


def test_lost_for_good() -> None:
    told = nrm.explain("F(a & F b) & G !c", "a b c d")
    assert told.satisfying == ("a", "b")
    assert told.violating == ("c",)
    assert told.undoable
    assert nrm.explain("F a", "a b").violating is None
    assert not nrm.explain("F a", "a b").undoable
    # The initial state is a goal, but only a step later.
    machine = nrm.compile("G a", "a b")
    assert shortest_trace(machine, machine.accepting) == ("a",)


def test_plain_letters_come_first() -> None:
    assert nrm.explain("F(a | b & c)").satisfying == (("a",),)


@settings(max_examples=40, deadline=None)
@given(formulas(leaves=4), formulas(leaves=4))
def test_comparisons(left: Formula, right: Formula) -> None:
    for alphabet in (EXCLUSIVE, PROPOSITIONS):
        found = compare(nrm.compile(left, alphabet), nrm.compile(right, alphabet))
        told = [(holds(left, trace), holds(right, trace), trace) for trace in traces(_letters(alphabet), 3)]
        for trace, case in ((found.only_first, (True, False)), (found.only_second, (False, True))):
            shown = [one for *truth, one in told if tuple(truth) == case]
            if trace is None:
                assert not shown
            else:
                assert (holds(left, trace), holds(right, trace)) == case
                assert not shown or len(shown[0]) == len(trace)
        assert found.equivalent == (nrm.compile(left, alphabet) == nrm.compile(right, alphabet))


def _letters(alphabet: nrm.Alphabet) -> list[nrm.aliases.Step]:
    return alphabet.decode(range(alphabet.size))


def test_against_another_language_and_alphabet() -> None:
    told = nrm.explain("F(a & X F b)", "a b c")
    assert told.against("re: .*; a; .*; b; .*").equivalent
    assert told.against("O b", "ppltl").shortest == ("b",)
    with pytest.raises(nrm.NrmError, match="unknown symbol 'z'"):
        told.against("F z")
    with pytest.raises(AlphabetError):
        compare(nrm.compile("F a", "a b"), nrm.compile("F a", "a c"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["explain", *arguments])
    printed = capsys.readouterr()
    return int(str(ended.value.code)), printed.out + printed.err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "F(a & F b) & G !c", "--symbols", "a,b,c,d")
    assert status == 0
    for line in (
        "in words  at some step a and (then or later b); and never c",
        "pattern   sequenced_visit(a, b) & global_avoidance(c)",
        "satisfied by a,b; later steps can undo it",
        "violated  by c, whatever follows",
        "machine   4 states, 4 symbol classes",
    ):
        assert line in text
    assert "rewards alone can teach the meaning of each" in text


def test_the_command_on_two_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "F a & F b", "--against", "F b & F a", "--symbols", "a,b")
    assert (status, "equivalent: the same traces satisfy both" in text) == (0, True)
    status, text = run(capsys, "F(a & X F b)", "--against", "F(a & F c)")
    assert status == 1
    assert "over      a, b, c" in text
    assert "a&c satisfies the second, not the first" in text
    status, text = run(capsys, "F a", "--against", "ppltl: O a", "--json")
    assert (status, json.loads(text)["against"]["equivalent"]) == (0, True)


@pytest.mark.parametrize(("formula", "line"), [("a & !a", "never: no trace"), ("a | !a", "always: every trace")])
def test_the_impossible_and_the_trivial(capsys: pytest.CaptureFixture[str], formula: str, line: str) -> None:
    status, text = run(capsys, formula)
    assert status == 0
    assert line in text
