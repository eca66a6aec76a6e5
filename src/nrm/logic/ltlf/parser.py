"""Text to LTLf formula.

Loosest to tightest: `<->`, `->`, `^`, `|`, `&`, then `U R W M S`, then the prefix operators. `->` and the binary
temporal operators group to the right, as in Spot; for the others grouping makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from lark import Token, Transformer

from nrm.errors import FormulaError
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op, atom, both, either, infix, prefix
from nrm.logic.ltlf.patterns import PatternArgument, apply_pattern
from nrm.logic.reading import BOOLEAN_RULES, BooleanBuild, PlacedError, Reader, symbol_name

Apply: TypeAlias = Callable[[str, Sequence[PatternArgument]], Formula]
"""From the name of a pattern and its arguments to a formula."""

GRAMMAR = (
    r"""
?start: equivalence
?conjunction: temporal (_AND temporal)*
?temporal: unary | unary (UNTIL | RELEASE | WEAK_UNTIL | STRONG_RELEASE | SINCE) temporal -> infix
?unary: operand
    | (NOT | NEXT | WEAK_NEXT | EVENTUALLY | ALWAYS | YESTERDAY | ONCE | HISTORICALLY) unary -> prefix
?operand: _OPEN equivalence _CLOSE
    | (TRUE | FALSE | LAST | END) -> constant
    | (NAME | QUOTED) -> atom
    | NAME _OPEN argument (_COMMA argument)* _CLOSE -> call
?argument: equivalence | INTEGER -> integer

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
LAST.2: /last(?!\w)/
END.2: /end(?!\w)/
"""
    + BOOLEAN_RULES
)


class LtlfBuild(BooleanBuild):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked. Terminals are named as `Op` is."""

    def __init__(self, apply: Apply, refused: Mapping[Op, str]) -> None:
        super().__init__()
        self._apply = apply
        self._refused = refused

    def _op(self, token: Token) -> Op:
        op = Op[token.type]
        if op in self._refused:
            raise PlacedError(self._refused[op], token.start_pos or 0)
        return op

    def joined(self, op: str, parts: list[Formula]) -> Formula:
        """Formulas joined by an operator."""
        return infix(Op[op], *parts)

    def disjunction(self, parts: list[Formula]) -> Formula:
        """Flat."""
        return either(*parts)

    def conjunction(self, parts: list[Formula]) -> Formula:
        """Flat."""
        return both(*parts)

    def infix(self, parts: list[Any]) -> Formula:
        """A temporal operator between formulas."""
        left, operator, right = parts
        return infix(self._op(operator), left, right)

    def prefix(self, parts: list[Any]) -> Formula:
        """An operator before a formula."""
        operator, part = parts
        return prefix(self._op(operator), part)

    def constant(self, parts: list[Token]) -> Formula:
        """A truth value, or an end of the trace."""
        return Formula(self._op(parts[0]))

    def atom(self, parts: list[Token]) -> Formula:
        """A symbol."""
        return atom(symbol_name(parts[0]))

    def call(self, parts: list[Any]) -> Formula:
        """A pattern."""
        name, *arguments = parts
        try:
            return self._apply(str(name), arguments)
        except FormulaError as error:
            raise PlacedError(str(error), name.start_pos or 0) from None


def builder(
    apply: Apply, refused: Mapping[Op, str], kind: type[LtlfBuild] = LtlfBuild
) -> Callable[[], Transformer[Token, Formula]]:
    """What reads formulas of these operators but for some, each with what to say of it; `apply` calls patterns."""
    return lambda: kind(apply, refused)


def looks_ahead_in_the_past(formula: Formula) -> bool:
    """Whether a past operator stands over a future one, as in O F a, which no language here takes."""
    ahead: set[Formula] = set()
    for part in formula.postorder():
        if part.op in FUTURE or any(arg in ahead for arg in part.args):
            if part.op in PAST:
                return True
            ahead.add(part)
    return False


READER = Reader(
    Formula,
    "ltlf",
    GRAMMAR,
    builder(apply_pattern, {}),
    example="F a & G !b",
    operand="true, false, '(' or a prefix operator (!, X, WX, F, G, Y, O, H)",
    operators="&, |, ^, ->, <->, U, R, W, M, S",
    means=lambda formula: not looks_ahead_in_the_past(formula),
)


parse = READER.parse
