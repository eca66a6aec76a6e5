"""Regular expressions: against direct matching, and against Python's own."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nrm.automata import Limits
from nrm.errors import FormulaSyntaxError, LimitError
from nrm.logic import progression
from nrm.logic.ldlf.formula import Op
from nrm.logic.ltlf.patterns import PATTERNS
from nrm.logic.regex import Regex, holds, parse, translate
from nrm.machines import Alphabet, Task
from tests.logic.languages import check_meaning, check_text, machine_of
from tests.said import names

STEPS = [Regex(Op.ATOM, name="a"), Regex(Op.ATOM, name="b"), Regex(Op.TRUE), Regex(Op.FALSE)]
PATTERN = Regex(Op.PATTERN, tuple(STEPS[:2]), "response")


def _expressions(leaves: list[Regex]) -> st.SearchStrategy[Regex]:
    base = st.one_of(st.sampled_from(leaves), st.sampled_from(leaves[:2]).map(lambda step: Regex(Op.NOT, (step,))))
    return st.recursive(
        base,
        lambda part: st.one_of(
            part.map(lambda one: Regex(Op.STAR, (one,))),
            part.map(lambda one: Regex(Op.OPTIONAL, (one,))),
            st.builds(lambda one, bounds: Regex(Op.REPEAT, (one,), bounds), part, BOUNDS),
            part.map(lambda one: Regex(Op.COMPLEMENT, (Regex(Op.STAR, (one,)),))),
            st.builds(lambda op, *parts: _pair(op, parts), st.sampled_from(ASSOCIATIVE), part, part),
        ),
        max_leaves=6,
    )


BOUNDS = st.sampled_from(["2,", "1,3", "0,2"])
ASSOCIATIVE = (Op.CHOICE, Op.SEQUENCE, Op.BOTH)


def _pair(op: Op, parts: tuple[Regex, ...]) -> Regex:
    one, other = parts
    if op is Op.BOTH:  # of two steps it would be read back as a step
        one = Regex(Op.STAR, (one,))
    flat = [arg for part in (one, other) for arg in (part.args if part.op is op else (part,))]
    return Regex(op, tuple(flat))


@settings(max_examples=60, deadline=None)
@given(_expressions([*STEPS, PATTERN]))
def test_automata_match_what_expressions_match(expression: Regex) -> None:
    check_meaning("re", expression)


@settings(max_examples=5, deadline=None)
@given(_expressions([*STEPS, PATTERN]))
def test_random_ones_on_all_traces_up_to_five_steps(expression: Regex) -> None:
    check_meaning("re", expression, longest=5)


@pytest.mark.parametrize(
    "text", ["(!b)*; a; .*", "(a; b)* + b{2,3}", "~(.*; a; a; .*) & .*; b", "response(a, b); a?; .", "(a | !b){2}"]
)
def test_all_traces_up_to_five_steps(text: str) -> None:
    check_meaning("re", parse(text), longest=5)


@settings(max_examples=60, deadline=None)
@given(_expressions([*STEPS, PATTERN]))
def test_text_is_read_back(expression: Regex) -> None:
    check_text("re", expression)


def _in_python(expression: Regex) -> str:
    args = [f"(?:{_in_python(arg)})" for arg in expression.args]
    match expression.op:
        case Op.ATOM:
            return expression.name
        case Op.TRUE:
            return "[abc]"
        case Op.FALSE:
            return "(?!)"
        case Op.NOT:
            return f"[abc](?<!{expression.args[0].name})"
        case Op.CHOICE:
            return "|".join(args)
        case Op.SEQUENCE:
            return "".join(args)
        case Op.STAR:
            return f"{args[0]}*"
        case Op.OPTIONAL:
            return f"{args[0]}?"
        case Op.REPEAT:
            return f"{args[0]}{{{expression.name}}}"
        case _:
            raise AssertionError(expression)


def _shared() -> st.SearchStrategy[Regex]:
    known = (Op.COMPLEMENT, Op.BOTH)
    return _expressions(STEPS).filter(lambda one: not any(part.op in known for part in one.postorder()))


@settings(max_examples=80, deadline=None)
@given(_shared())
def test_words_match_as_in_python(expression: Regex) -> None:
    machine = Task(expression, Alphabet.exclusive("abc"), "acceptance", logic="re").machine()
    pattern = re.compile(_in_python(expression))
    for length in range(1, 6):
        for word in itertools.product("abc", repeat=length):
            assert machine.accepts(word) == (pattern.fullmatch("".join(word)) is not None), (expression, word)


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_mean_what_they_mean_in_ltlf(name: str, exclusive: bool) -> None:
    text = PATTERNS[name].example
    assert machine_of("re", text, exclusive) == machine_of("ltlf", text, exclusive)


def test_by_hand() -> None:
    assert holds("(!lava)*; gem", ["empty", "key", "gem"])
    assert not holds("(!lava)*; gem", ["lava", "gem"])
    assert not holds("(!lava)*; gem", ["gem", "empty"])
    assert translate("(!lava)*; gem", exclusive=True).states == 3  # searching, found, lost
    assert translate("a{3}", exclusive=True).states == 5


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a; ", 3, "a symbol, '.', true, false"),
        ("a ]", 2, "']' … (;, +, *, ?, {2,4}"),
        ("!a*", 0, "'!' … a* … (!a)*"),
        ("a{3,2}", 1, "3 … 2"),
        ("a{1000}", 2, "1000 … 200"),
        ("a+", 2, "'+' … a{1,}"),
        ("(a+);b", 3, "a{1,}"),
        ("a* -> b", 0, "'->' … a*"),
        ("visit(a; b)", 6, "single steps"),
        ("existence(a, b)", 0, "1 to 200 … b"),
    ],
)
def test_errors_point_at_the_place(text: str, position: int, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    assert names(str(caught.value), message)
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["a{200}{200}", "(b; a{100}){100}*", "a{0,200}{0,200}"])
def test_repetitions_have_a_limit_once_written_out(text: str) -> None:
    with pytest.raises(LimitError, match=r"expression.*steps"):
        translate(text, exclusive=False)


@settings(max_examples=40, deadline=None)
@given(_expressions([*STEPS, PATTERN]))
def test_boolean_combinations_by_products(expression: Regex) -> None:
    for exclusive in (True, False):
        whole = machine_of("re", expression, exclusive)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(progression, "SMALL", Limits(states=0))
            assert machine_of("re", expression, exclusive) == whole
