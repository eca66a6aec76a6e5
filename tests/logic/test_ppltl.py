"""Pure-past LTL: what is read, what it means at the end of a trace, and its automata."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from nrm.errors import FormulaError, FormulaSyntaxError
from nrm.logic.ltlf.formula import Formula, Op
from nrm.logic.ltlf.parser import parse as parse_ltlf
from nrm.logic.ltlf.patterns import PATTERNS
from nrm.logic.ppltl import PAST_PATTERNS, holds, parse, translate
from tests.logic.languages import check_meaning, check_text, machine_of
from tests.said import names
from tests.strategies import formulas_over

UNARY = (Op.NOT, Op.YESTERDAY, Op.ONCE, Op.HISTORICALLY)
BINARY = (Op.AND, Op.OR, Op.XOR, Op.IMPLIES, Op.IFF, Op.SINCE)


@settings(max_examples=60, deadline=None)
@given(formulas_over(UNARY, BINARY))
def test_automata_have_the_meaning_of_formulas(formula: Formula) -> None:
    check_meaning("ppltl", formula)


@settings(max_examples=5, deadline=None)
@given(formulas_over(UNARY, BINARY, leaves=4))
def test_random_ones_on_all_traces_up_to_five_steps(formula: Formula) -> None:
    check_meaning("ppltl", formula, longest=5)


@pytest.mark.parametrize("text", ["O(b & O a)", "!b S (a & Y true)", "H(b -> O a) & !Y H a", "a <-> Y Y b", "true"])
def test_all_traces_up_to_five_steps(text: str) -> None:
    check_meaning("ppltl", parse(text), longest=5)


@settings(max_examples=100, deadline=None)
@given(formulas_over(UNARY, BINARY))
def test_text_is_read_back(formula: Formula) -> None:
    check_text("ppltl", parse(str(formula)))


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_mean_what_they_mean_in_ltlf(name: str, exclusive: bool) -> None:
    text = PATTERNS[name].example
    assert machine_of("ppltl", text, exclusive) == machine_of("ltlf", text, exclusive)


@pytest.mark.parametrize("text", ["patrol(a, b, 3)", "absence(a, 3)", "exactly(b, 2)", "ordered_visit(a, b, a)"])
@pytest.mark.parametrize("exclusive", [True, False])
def test_larger_patterns_too(text: str, exclusive: bool) -> None:
    assert machine_of("ppltl", text, exclusive) == machine_of("ltlf", text, exclusive)


def test_every_pattern_has_a_past() -> None:
    assert list(PAST_PATTERNS) == list(PATTERNS)


def test_by_hand() -> None:
    assert holds("O(b & O a)", ["a", "c", "b", "c"])
    assert not holds("O(b & O a)", ["b", "a"])
    assert holds("!b S a", ["b", "a", "c"])
    assert not holds("!b S a", ["a", "b"])
    assert translate("O a", exclusive=True).states == 2


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("O a & F b", 6, "'F' … O f"),
        ("a U b", 2, "f S g"),
        ("last", 0, "'last'"),
        ("O (a &", 6, "a symbol, true, false, '(' … (!, Y, O, H)"),
        ("existence(a, b)", 0, "1 to 200 … b"),
    ],
)
def test_errors_point_at_the_place(text: str, position: int, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    assert names(str(caught.value), message)
    assert caught.value.position == position


def test_formulas_are_checked_too() -> None:
    with pytest.raises(FormulaError, match="'G' looks ahead"):
        parse(parse_ltlf("G a"))


def test_past_in_the_past_is_cheap() -> None:
    text = " & ".join(f"O(p{i} & Y O q{i})" for i in range(3))
    assert translate(text, exclusive=True).states <= 3**3
