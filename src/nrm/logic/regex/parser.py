"""Text to regular expression.

Loosest to tightest: `+`, `;`, `<->`, `->`, `^`, `|`, `&`, then `!` and `~`, then `*`, `?` and `{2,4}`. A Boolean
combination of symbols is one step. Between longer expressions `|` is choice like `+`, `&` asks for both, and `~` for
all other traces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from nrm.errors import FormulaError
from nrm.logic.ltlf.patterns import MAX_COUNT
from nrm.logic.reading import (
    BOOLEAN_TERMINALS,
    PATH_RULES,
    BooleanBuild,
    PlacedError,
    Reader,
    symbol_name,
    whole_number,
)
from nrm.logic.regex.formula import Op, Regex, pattern_formula

_GRAMMAR = (
    r"""
?unary: postfix
    | NOT unary -> negation
?postfix: operand
    | postfix _STAR -> star
    | postfix _OPTIONAL -> optional
    | postfix LEFT INTEGER _RIGHT -> repeat
    | postfix LEFT INTEGER COMMA _RIGHT -> repeat
    | postfix LEFT INTEGER COMMA INTEGER _RIGHT -> repeat
?operand: _OPEN choice _CLOSE
    | (TRUE | FALSE) -> constant
    | ANY -> anything
    | (NAME | QUOTED) -> atom
    | NAME _OPEN argument (COMMA argument)* _CLOSE -> call

ANY: "."
_STAR: "*"
_OPTIONAL: "?"
LEFT: "{"
_RIGHT: "}"
COMMA: ","
"""
    + PATH_RULES
    + BOOLEAN_TERMINALS.replace('_COMMA: ","\n', "")
)


class _Part(NamedTuple):
    """An expression, whether it is one step, and where it stands."""

    term: Regex
    is_step: bool
    position: int


class _Build(BooleanBuild):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""

    def start(self, parts: list[_Part]) -> Regex:
        return parts[0].term

    def choice(self, parts: list[_Part]) -> _Part:
        return _longer(Regex.flat(Op.CHOICE, *(part.term for part in parts)), parts)

    def sequence(self, parts: list[_Part]) -> _Part:
        return _longer(Regex.flat(Op.SEQUENCE, *(part.term for part in parts)), parts)

    def joined(self, op: str, parts: list[_Part]) -> _Part:
        return _of_steps(Op[op], parts)

    def disjunction(self, parts: list[_Part]) -> _Part:
        return _of_steps(Op.OR, parts) if all(part.is_step for part in parts) else self.choice(parts)

    def conjunction(self, parts: list[_Part]) -> _Part:
        if all(part.is_step for part in parts):
            return _of_steps(Op.AND, parts)
        return _longer(Regex.flat(Op.BOTH, *(part.term for part in parts)), parts)

    def negation(self, parts: list[Any]) -> _Part:
        token, part = parts
        position = token.start_pos or 0
        if part.is_step:
            return _Part(Regex(Op.NOT, (part.term,)), True, position)
        if str(token) != "~":
            raise PlacedError(
                f"'{token}' negates one step, and {part.term.brief(40)} is longer; write (!a)* for steps without a, or "
                "~(...) for all traces but these",
                position,
            )
        return _Part(Regex(Op.COMPLEMENT, (part.term,)), False, position)

    def star(self, parts: list[_Part]) -> _Part:
        return _longer(Regex(Op.STAR, (parts[0].term,)), parts)

    def optional(self, parts: list[_Part]) -> _Part:
        return _longer(Regex(Op.OPTIONAL, (parts[0].term,)), parts)

    def repeat(self, parts: list[Any]) -> _Part:
        part, left, first, *others = parts
        least = whole_number(first, MAX_COUNT)
        most = least if not others else whole_number(others[-1], MAX_COUNT) if len(others) > 1 else None
        if most is not None and most < least:
            raise PlacedError(f"at least {least} times and at most {most}: no trace does that", left.start_pos or 0)
        bounds = f"{least},{'' if most is None else most}"
        return _longer(Regex(Op.REPEAT, (part.term,), bounds), [part])

    def constant(self, parts: list[Token]) -> _Part:
        return _Part(Regex(Op[parts[0].type]), True, parts[0].start_pos or 0)

    def anything(self, parts: list[Token]) -> _Part:
        return _Part(Regex(Op.TRUE), True, parts[0].start_pos or 0)

    def atom(self, parts: list[Token]) -> _Part:
        return _Part(Regex(Op.ATOM, name=symbol_name(parts[0])), True, parts[0].start_pos or 0)

    def call(self, parts: list[Any]) -> _Part:
        name, *rest = parts
        given = [part for part in rest if not isinstance(part, Token)]
        for part in given:
            if isinstance(part, _Part) and not part.is_step:
                raise PlacedError(
                    f"patterns inside regular expressions take single steps, and {part.term.brief(40)} is longer",
                    part.position,
                )
        try:
            pattern_formula(str(name), [part if isinstance(part, int) else part.term for part in given])
        except FormulaError as error:
            raise PlacedError(str(error), name.start_pos or 0) from None
        steps = tuple(part.term for part in given if isinstance(part, _Part))
        number = "".join(f" {part}" for part in given if isinstance(part, int))
        return _Part(Regex(Op.PATTERN, steps, f"{name}{number}"), False, name.start_pos or 0)


def _longer(term: Regex, parts: list[_Part]) -> _Part:
    return _Part(term, False, parts[0].position)


def _of_steps(op: Op, parts: list[_Part]) -> _Part:
    for part in parts:
        if not part.is_step:
            raise PlacedError(f"'{op.value}' joins single steps, and {part.term.brief(40)} is longer", part.position)
    terms = [part.term for part in parts]
    term = Regex.flat(op, *terms) if op in (Op.AND, Op.OR) else Regex(op, tuple(terms))
    return _Part(term, True, parts[0].position)


def _advice(text: str, position: int) -> str:
    """That `+` is choice, where it was written for "once or more"."""
    if text[:position].rstrip().endswith("+"):
        return "; '+' stands between two choices: for once or more, write a{1,}"
    return ""


READER = Reader(
    "re",
    _GRAMMAR,
    _Build,
    example="(!c)*; a; (!c)*; b; .*",
    operand="'.', true, false, '(', ! or ~",
    operators=";, +, *, ?, {2,4}, &, |, ^, ->, <->",
    advice=_advice,
)


def parse(text: str | Regex) -> Regex:
    """Read a regular expression; one is returned as it is. Raises `FormulaSyntaxError` with a caret."""
    expression = text if isinstance(text, Regex) else READER.read(text)
    assert isinstance(expression, Regex)
    return expression
