"""Languages beside each other: how a text names its own, and what is said of one in the wrong place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import nrm
from nrm.errors import ConfigError, FormulaError, FormulaSyntaxError, TraceError
from nrm.logic import LANGUAGES, named_formula, read_formula

SAYING_THE_SAME = {
    "ltlf": "F(a & X F b)",
    "ldlf": "<true*; a; true*; b>tt",
    "ppltl": "O(b & Y O a)",
    "re": ".*; a; .*; b; .*",
}


def test_all_are_registered() -> None:
    assert LANGUAGES.own == ("ltlf", "ldlf", "ppltl", "re", "ltlf+", "ppltl+", "ltl")
    assert list(LANGUAGES)[:4] == list(SAYING_THE_SAME)


@pytest.mark.parametrize("logic", SAYING_THE_SAME)
@pytest.mark.parametrize("kind", [nrm.Alphabet.exclusive, nrm.Alphabet.propositional])
def test_one_task_in_every_language_is_one_machine(logic: str, kind: Callable[[list[str]], nrm.Alphabet]) -> None:
    alphabet = kind(["a", "b", "c"])
    expected = nrm.compile(SAYING_THE_SAME["ltlf"], alphabet)
    assert nrm.compile(SAYING_THE_SAME[logic], alphabet, logic=logic) == expected
    assert nrm.compile(f"{logic}: {SAYING_THE_SAME[logic]}", alphabet) == expected


def test_a_text_names_its_language() -> None:
    formula, logic = read_formula("re: (!lava)*; gem")
    assert (str(formula), logic) == ("(!lava)* ; gem", "re")
    assert read_formula("re: a", "re").logic == "re"
    with pytest.raises(FormulaError, match=r"ltlf.*\bre\b"):
        read_formula("ltlf: F a", "re")
    assert named_formula("F a") == "F a"
    assert named_formula("a; b", "re") == "re: a; b"
    assert named_formula("ldlf: tt", "re") == "ldlf: tt"
    with pytest.raises(ConfigError, match=r"'rex'.*'re'"):
        read_formula("rex: a")


@pytest.mark.parametrize(
    ("logic", "text", "other"),
    [
        ("ltlf", "<a; b>tt", "LDLf: add --logic ldlf"),
        ("ltlf", "<a; b tt", "LDLf: add --logic ldlf"),
        ("ltlf", "[a*", "LDLf: add --logic ldlf"),
        ("ltlf", "(!lava)*; gem", "a regular expression: add --logic re"),
        ("ldlf", "F a & G !b", "LTLf: add --logic ltlf"),
        ("ldlf", "a S b", "LTLf: add --logic ltlf"),
        ("ldlf", "(!lava)*; gem", "a regular expression: add --logic re"),
        ("ppltl", "F a", "LTLf: add --logic ltlf"),
        ("ppltl", "a; b", "a regular expression: add --logic re"),
        ("re", "F a", "LTLf: add --logic ltlf"),
        ("re", "[a]tt", "LDLf: add --logic ldlf"),
    ],
)
def test_a_formula_of_another_language_says_which(logic: str, text: str, other: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        LANGUAGES[logic].parse(text)
    assert f"; this looks like {other} (logic=" in str(caught.value)


@pytest.mark.parametrize("text", ["a &", "F a b", "(a"])
def test_nothing_is_guessed_where_nothing_fits(text: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        LANGUAGES["ltlf"].parse(text)
    assert "this looks like" not in str(caught.value)


@pytest.mark.parametrize("logic", SAYING_THE_SAME)
def test_no_language_speaks_of_the_empty_trace(logic: str) -> None:
    with pytest.raises(TraceError, match="the trace is empty"):
        LANGUAGES[logic].holds(LANGUAGES[logic].parse(SAYING_THE_SAME[logic]), [])


@pytest.mark.parametrize("logic", SAYING_THE_SAME)
def test_hopeless_texts(logic: str) -> None:
    parse = LANGUAGES[logic].parse
    for text, message in (("", "is empty"), ("(" * 5000, "nested more than"), ("a" * 60_000, "60,000 characters")):
        with pytest.raises(nrm.NrmError, match=message):
            parse(text)
    with pytest.raises(nrm.NrmError, match="not int"):
        parse(3)
