"""LDLf: parsing, meaning, translation, and LTLf inside it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.errors import FormulaError, FormulaSyntaxError
from nrm.logic.ldlf import Ldlf, from_ltlf, holds, parse, translate
from nrm.logic.ldlf.formula import Op
from nrm.logic.ltlf.formula import Formula
from nrm.logic.ltlf.parser import parse as parse_ltlf
from nrm.logic.ltlf.patterns import PATTERNS
from tests.logic.languages import check_meaning, check_text, machine_of
from tests.said import names
from tests.strategies import formulas


def _steps() -> st.SearchStrategy[Ldlf]:
    base = st.sampled_from([Ldlf(Op.ATOM, name="a"), Ldlf(Op.ATOM, name="b"), Ldlf(Op.TRUE)])
    return st.one_of(base, base.map(lambda step: Ldlf(Op.NOT, (step,))))


def _formulas(depth: int = 3) -> st.SearchStrategy[Ldlf]:
    constants = [Ldlf(op) for op in (Op.TT, Op.FF, Op.END, Op.LAST)]
    base = st.sampled_from([*constants, Ldlf(Op.ATOM, name="a"), Ldlf(Op.ATOM, name="b")])
    if not depth:
        return base
    inner = _formulas(depth - 1)
    paths = st.recursive(
        st.one_of(_steps(), inner.map(lambda formula: Ldlf(Op.TEST, (formula,)))),
        lambda part: st.one_of(
            part.map(lambda one: Ldlf(Op.STAR, (one,))),
            st.builds(lambda op, *parts: _pair(op, parts), st.sampled_from([Op.CHOICE, Op.SEQUENCE]), part, part),
        ),
        max_leaves=4,
    )
    return st.one_of(
        base,
        st.builds(lambda op, path, after: Ldlf(op, (path, after)), st.sampled_from([Op.DIAMOND, Op.BOX]), paths, inner),
        st.builds(lambda op, *parts: _pair(op, parts), st.sampled_from([Op.AND, Op.OR, Op.XOR, Op.IFF]), inner, inner),
        inner.map(lambda formula: Ldlf(Op.NOT, (formula,))),
    )


def _pair(op: Op, parts: tuple[Ldlf, ...]) -> Ldlf:
    flat = [arg for part in parts for arg in (part.args if part.op is op and op in ASSOCIATIVE else (part,))]
    return Ldlf(op, tuple(flat))


ASSOCIATIVE = (Op.AND, Op.OR, Op.CHOICE, Op.SEQUENCE)


@settings(max_examples=60, deadline=None)
@given(_formulas())
def test_automata_have_the_meaning_of_formulas(formula: Ldlf) -> None:
    check_meaning("ldlf", formula)


@settings(max_examples=5, deadline=None)
@given(_formulas())
def test_random_ones_on_all_traces_up_to_five_steps(formula: Ldlf) -> None:
    check_meaning("ldlf", formula, longest=5)


@pytest.mark.parametrize(
    "text",
    [
        "<(!b)*; a; (!b)*>end",
        "[true*](<a>tt -> <true*; b>tt)",
        "<((a; b)* + (b; b)?*)*; a>(last | end)".replace("(b; b)?*", "(<b; b>tt)?*"),
        "[(a + b; b)*]<!a>tt",
        "<(a?; true)*>(b & !end)",
        "!<(true; true)*>end",
        "[a*; b*; a*]end",
    ],
)
def test_all_traces_up_to_five_steps(text: str) -> None:
    check_meaning("ldlf", parse(text), longest=5)


@settings(max_examples=60, deadline=None)
@given(_formulas())
def test_text_is_read_back(formula: Ldlf) -> None:
    check_text("ldlf", formula)


@settings(max_examples=60, deadline=None)
@given(formulas(past=False), st.booleans())
def test_ltlf_in_ldlf_gives_the_identical_machine(formula: Formula, exclusive: bool) -> None:
    assert machine_of("ldlf", from_ltlf(formula), exclusive) == machine_of("ltlf", formula, exclusive)


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_mean_what_they_mean_in_ltlf(name: str, exclusive: bool) -> None:
    text = PATTERNS[name].example
    assert machine_of("ldlf", text, exclusive) == machine_of("ltlf", text, exclusive)


def test_patterns_take_formulas_with_paths() -> None:
    formula = parse("visit(<a; b>tt)")
    assert holds(formula, ["b", "a", "b"])
    assert not holds(formula, ["a", "a"])
    check_meaning("ldlf", formula)


def test_by_hand() -> None:
    # Two steps, a then b, with nothing behind.
    dfa = translate("<a; b>end", exclusive=True)
    assert dfa.states == 4  # start, after a, after b, lost
    assert holds("<a; b>end", ["a", "b"])
    assert not holds("<a; b>end", ["a", "b", "a"])
    assert holds("[a]ff", ["b"])
    assert not holds("[a]ff", ["a"])
    assert holds("<true>end", ["a"])  # this is `last`
    # A negated symbol holds behind the last step too; a step that must come is written as one.
    assert holds("<a>!b", ["a"])
    assert not holds("<a><!b>tt", ["a"])


def test_an_even_number_of_steps_which_ltlf_cannot_say() -> None:
    dfa = translate("<(true; true)*>end & <a>tt", exclusive=False)
    assert dfa.states == 4


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("<a tt", 3, "'tt' … operator"),
        ("<a; b>", 6, "a symbol, tt, ff"),
        ("a; b", 0, "formula … path: a ; b"),
        ("<tt>a", 1, "path … formula: tt"),
        ("<!a*>tt", 2, "'!' … path: a*"),
        ("<a>true", 3, "tt or ff"),
        ("<a & b*>tt", 5, "'&'"),
        ("<a>existence(b, c)", 3, "1 to 200 … c"),
        ("<a>vist(b)", 3, "'vist' … 'visit'"),
        ('<"X">tt', 1, "'X'"),
    ],
)
def test_errors_point_at_the_place(text: str, position: int, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    assert names(str(caught.value), message)
    assert caught.value.position == position


def test_the_past_is_no_part_of_it() -> None:
    with pytest.raises(FormulaError, match="'O' looks back"):
        from_ltlf(parse_ltlf("G(a -> O b)"))


def test_words_of_the_language_as_names_stand_in_quotes() -> None:
    formula = parse('<"tt">tt')
    assert formula.atoms() == ("tt",)
    assert str(formula) == '<"tt">tt'
