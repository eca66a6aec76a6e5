from __future__ import annotations

import copy
import inspect
import pickle
import sys

import pytest
from hypothesis import given

import nrm
from nrm.errors import FormulaError, FormulaSyntaxError, UnknownSymbolError
from nrm.logic import check_symbols, parse
from nrm.logic.ltlf.formula import Formula, Op, atom, both, infix, prefix
from nrm.logic.term import MAX_DEPTH
from tests.said import names
from tests.strategies import formulas

A, B, C = atom("a"), atom("b"), atom("c")


@given(formulas(atoms=("a", "b", "empty-cell")))
def test_text_reads_back_as_the_same_formula(formula: Formula) -> None:
    flat = parse(str(formula))  # nested conjunctions are read flat
    assert parse(str(flat)) == flat
    assert pickle.loads(pickle.dumps(formula)) == formula


def test_the_deepest_formulas_are_pickled_and_copied() -> None:
    formula = A
    for _ in range(MAX_DEPTH - 1):
        formula = prefix(Op.NEXT, formula)
    # As deep as a program may be when it pickles.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        assert pickle.loads(pickle.dumps(formula)) == copy.deepcopy(formula) == formula
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a and b or not c", "(a & b) | !c"),
        ("a && b || ~c", "(a & b) | !c"),
        (r"a /\ b \/ ¬c", "(a & b) | !c"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a => b <=> c", "(a -> b) <-> c"),
        ("a implies b iff c", "(a -> b) <-> c"),
        ("a xor b | c", "a ^ (b | c)"),
        ("a ^ b -> c", "(a ^ b) -> c"),
        ("a U b U c", "a U (b U c)"),
        ("a U b & c", "(a U b) & c"),
        ("!a U b", "(!a) U b"),
        ("X a U b", "(X a) U b"),
        ("X[!] a", "X a"),
        ("F G a", "F(G(a))"),
        ("G(a)&F(b)", "G a & F b"),
        ('"a" & b', "a & b"),
        ("True | ⊥", "true | false"),
        ("TRUE & FALSE", "true & false"),
        ("a & (b & c)", "a & b & c"),
        ("visit(a, b)", "F a & F b"),
        ("visit(a & b, !c)", "F(a & b) & F !c"),
    ],
)
def test_spellings_and_precedence(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_structure_of_a_formula() -> None:
    expected = both(prefix(Op.EVENTUALLY, A), infix(Op.UNTIL, B, prefix(Op.WEAK_NEXT, C)))
    assert parse("F a & (b U WX c)") == expected
    assert parse(expected) is expected
    assert parse("(a & b) | !c") == (A & B) | ~C
    assert parse("a -> b") == (A >> B)
    assert parse("a ^ b") == (A ^ B)
    assert parse("F b & a").atoms() == ("b", "a")


def test_words_inside_names_are_not_operators() -> None:
    assert parse("notx & orb | Xx & Fa & lasting").atoms() == ("notx", "orb", "Xx", "Fa", "lasting")


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("F (a & ", 7, "early … a symbol"),
        ("(a & b", 6, "(&, |, ^, ->, <->, U, R, W, M, S) … ')'"),
        ("a b", 2, "'b' … operator"),
        ("a & & b", 4, "'&' … a symbol"),
        ("a $ b", 2, "'$'"),
        ("F a)", 3, "')'"),
        ("F a & vist(b)", 6, "'vist' … 'visit'"),
        ("existence(a, 0)", 0, "1 to 200 … 0"),
        ("visit(a, 2)", 0, "number"),
        ("response(a)", 0, "1 formulas"),
        ('a & "F"', 4, "'F'"),
        ("a & or", 4, "'or'"),
        ("U", 0, "'U'"),
        ("existence(a, 99999999999999999999)", 13, "large"),
    ],
)
def test_syntax_errors_point_at_the_place(text: str, position: int, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    assert caught.value.position == position
    lines = str(caught.value).splitlines()
    assert names(lines[0], message)
    assert lines[1] == f"  {text}"
    assert lines[2] == f"  {' ' * position}^"


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = " & ".join(["a"] * 200) + " & $ & " + " & ".join(["b"] * 200)
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    _, line, caret = str(caught.value).splitlines()
    assert len(line) < 90
    assert line[caret.index("^")] == "$"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("a & " * 25_000 + "a", "100,001 characters"),
        ("!" * 10_000 + "a", f"more than {MAX_DEPTH} deep"),
        ("(" * 10_000 + "a" + ")" * 10_000, f"more than {MAX_DEPTH} deep"),
        ("X(" * 10_000 + "a" + ")" * 10_000, f"more than {MAX_DEPTH} deep"),
    ],
)
def test_sizes_are_limited(text: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        parse(text)


def test_long_and_deep_formulas_within_the_limits_work() -> None:
    assert len(parse("a & " * 12_000 + "a").args) == 12_001
    deep = parse("!" * 900 + "a")
    assert deep == parse(str(deep))
    assert nrm.holds(deep, ["a"])


def test_not_a_formula_at_all() -> None:
    with pytest.raises(FormulaError, match="not int"):
        parse(3)  # type: ignore[arg-type]


def test_unknown_symbols_are_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownSymbolError, match=r"'lvaa'.*'lava'"):
        check_symbols(parse("F lvaa").atoms(), ("lava", "door"))
    with pytest.raises(UnknownSymbolError, match="did you mean 'F a'"):
        check_symbols(parse("Fa").atoms(), ("a", "b"))


def test_huge_formulas_are_counted_and_not_written() -> None:
    # Each level uses its argument twice: written out, the formula would have 84 million characters.
    formula = parse("succession(" * 22 + "a" + ", b)" * 22)
    assert "characters" in formula.brief()
    assert parse("F a & G b").brief() == "F a & G b"
    assert len(parse(" & ".join(["F a"] * 500)).brief(80)) <= 80
    with pytest.raises(TypeError):
        A & "b"


def test_formulas_are_immutable() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        A.name = "b"
