"""Text to formula: one LALR pass, with errors that point at the place.

Loosest to tightest: `<->`, `->`, `^`, `|`, `&`, then `U R W M S`, then the prefix operators. `->` and the binary
temporal operators group to the right, as in Spot; for the others grouping makes no difference.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from nrm.errors import FormulaError, FormulaSyntaxError, shorten
from nrm.logic.ltlf.formula import MAX_DEPTH, Formula, Op, atom, both, either, infix, prefix
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.symbols import name_problem

MAX_LENGTH = 50_000
"""Longest formula text that is read, in characters."""

_GRAMMAR = r"""
?start: equivalence

?equivalence: implication (_IFF implication)*
?implication: exclusive_or | exclusive_or _IMPLIES implication
?exclusive_or: disjunction (_XOR disjunction)*
?disjunction: conjunction (_OR conjunction)*
?conjunction: temporal (_AND temporal)*
?temporal: unary | unary (UNTIL | RELEASE | WEAK_UNTIL | STRONG_RELEASE | SINCE) temporal -> infix
?unary: operand
    | (NOT | NEXT | WEAK_NEXT | EVENTUALLY | ALWAYS | YESTERDAY | ONCE | HISTORICALLY) unary -> prefix
?operand: _OPEN equivalence _CLOSE
    | (TRUE | FALSE | LAST | END) -> constant
    | NAME -> atom
    | QUOTED -> quoted
    | NAME _OPEN argument (_COMMA argument)* _CLOSE -> call
?argument: equivalence | INTEGER -> integer

_IFF.2: /<->|<=>|↔|iff(?!\w)/
_IMPLIES.2: /->|=>|→|implies(?!\w)/
_XOR.2: /\^|⊕|xor(?!\w)/
_OR.2: /\|\||\||\\\/|∨|or(?!\w)/
_AND.2: /&&|&|\/\\|∧|and(?!\w)/
NOT.2: /!|~|¬|not(?!\w)/
NEXT.2: /X\[!\]|X(?!\w)/
WEAK_NEXT.2: /WX(?!\w)/
EVENTUALLY.2: /F(?!\w)/
ALWAYS.2: /G(?!\w)/
UNTIL.2: /U(?!\w)/
RELEASE.2: /R(?!\w)/
WEAK_UNTIL.2: /W(?!\w)/
STRONG_RELEASE.2: /M(?!\w)/
YESTERDAY.2: /Y(?!\w)/
ONCE.2: /O(?!\w)/
HISTORICALLY.2: /H(?!\w)/
SINCE.2: /S(?!\w)/
TRUE.2: /(true|True|TRUE)(?!\w)|⊤/
FALSE.2: /(false|False|FALSE)(?!\w)|⊥/
LAST.2: /last(?!\w)/
END.2: /end(?!\w)/
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
NAME: /[A-Za-z_][A-Za-z0-9_]*/
QUOTED: /"[^"\n]*"/
INTEGER: /[0-9]+/
%ignore /\s+/
"""


def parse(text: str | Formula) -> Formula:
    """Read an LTLf formula. A `Formula` is returned as it is, so every function can take either.

    Raises `FormulaSyntaxError` with a caret under the place, or `FormulaError` when the text is too long or too deep.
    """
    if isinstance(text, Formula):
        return text
    if not isinstance(text, str):
        raise FormulaError(f"a formula is text or a Formula, not {type(text).__name__}: {shorten(repr(text))}")
    if not text.strip():
        raise FormulaError("the formula is empty; write for example 'F a & G !b'")
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text):,} characters; the limit is {MAX_LENGTH:,}. Split it into several tasks"
        )
    _check_parentheses(text)
    try:
        tree = _lark().parse(text)
    except VisitError as error:
        if isinstance(error.orig_exc, _CallError):
            raise FormulaSyntaxError(str(error.orig_exc), text, error.orig_exc.position) from None
        raise error.orig_exc from None
    except _CallError as error:
        raise FormulaSyntaxError(str(error), text, error.position) from None
    except UnexpectedInput as error:
        _explain(error, text)
    assert isinstance(tree, Formula)
    return tree


class _CallError(Exception):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class _Build(Transformer[Token, Formula]):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked. Terminals are named as `Op` is."""

    def equivalence(self, parts: list[Formula]) -> Formula:
        return _fold(Op.IFF, parts)

    def implication(self, parts: list[Formula]) -> Formula:
        return infix(Op.IMPLIES, *parts)

    def exclusive_or(self, parts: list[Formula]) -> Formula:
        return _fold(Op.XOR, parts)

    def disjunction(self, parts: list[Formula]) -> Formula:
        return either(*parts)

    def conjunction(self, parts: list[Formula]) -> Formula:
        return both(*parts)

    def infix(self, parts: list[Any]) -> Formula:
        left, operator, right = parts
        return infix(Op[operator.type], left, right)

    def prefix(self, parts: list[Any]) -> Formula:
        operator, part = parts
        return prefix(Op[operator.type], part)

    def constant(self, parts: list[Token]) -> Formula:
        return Formula(Op[parts[0].type])

    def atom(self, parts: list[Token]) -> Formula:
        return self._symbol(str(parts[0]), parts[0])

    def quoted(self, parts: list[Token]) -> Formula:
        return self._symbol(str(parts[0])[1:-1], parts[0])

    def _symbol(self, name: str, token: Token) -> Formula:
        problem = name_problem(name)
        if problem:
            raise _CallError(problem, token.start_pos or 0)
        return atom(name)

    def integer(self, parts: list[Token]) -> int:
        if len(parts[0]) > 9:
            raise _CallError(f"the number {shorten(str(parts[0]))} is too large", parts[0].start_pos or 0)
        return int(parts[0])

    def call(self, parts: list[Any]) -> Formula:
        name, *arguments = parts
        try:
            return apply_pattern(str(name), arguments)
        except FormulaError as error:
            raise _CallError(str(error), name.start_pos or 0) from None


def _fold(op: Op, parts: list[Formula]) -> Formula:
    result = parts[0]
    for part in parts[1:]:
        result = infix(op, result, part)
    return result


@cache
def _lark() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Build())


def _check_parentheses(text: str) -> None:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth > MAX_DEPTH:
            raise FormulaSyntaxError(f"parentheses are nested more than {MAX_DEPTH} deep", text, position)


def _explain(error: UnexpectedInput, text: str) -> NoReturn:
    """Turn Lark's error into ours: what stands there, and what was expected instead."""
    if isinstance(error, UnexpectedCharacters):
        position = error.pos_in_stream or 0
        found = f"unexpected character {text[position]!r}"
        expected = {"NAME"} if "NAME" in (error.allowed or ()) else {"$END"}
    elif isinstance(error, UnexpectedToken):
        ended = error.token.type == "$END"
        found = "the formula ends too early" if ended else f"unexpected '{error.token}'"
        position = len(text) if ended else (error.token.start_pos or 0)
        expected = error.accepts
    else:
        found, position, expected = "the formula ends too early", len(text), set()
    raise FormulaSyntaxError(f"{found}; expected {_expectation(expected)}", text, position) from None


def _expectation(terminals: set[str]) -> str:
    if "NAME" in terminals:
        number = ", a number" if "INTEGER" in terminals else ""
        return f"a symbol{number}, true, false, '(' or a prefix operator (!, X, WX, F, G)"
    options = ["an operator (&, |, ^, ->, <->, U, R, W, M)"]
    if "_COMMA" in terminals:
        options.append("','")
    options.append("')'" if "_CLOSE" in terminals and "$END" not in terminals else "the end of the formula")
    return " or ".join(options)
