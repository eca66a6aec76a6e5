"""LTLf formulas: operators over argument formulas, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from nrm.logic.term import Term


class Op(Enum):
    """The operators, with the spelling that `str(formula)` uses."""

    TRUE = "true"
    FALSE = "false"
    ATOM = "atom"
    NOT = "!"
    AND = "&"
    OR = "|"
    XOR = "^"
    IMPLIES = "->"
    IFF = "<->"
    NEXT = "X"
    WEAK_NEXT = "WX"
    EVENTUALLY = "F"
    ALWAYS = "G"
    UNTIL = "U"
    RELEASE = "R"
    WEAK_UNTIL = "W"
    STRONG_RELEASE = "M"
    YESTERDAY = "Y"
    ONCE = "O"
    HISTORICALLY = "H"
    SINCE = "S"
    LAST = "last"
    END = "end"


FUTURE = frozenset(
    {Op.NEXT, Op.WEAK_NEXT, Op.EVENTUALLY, Op.ALWAYS, Op.UNTIL, Op.RELEASE, Op.WEAK_UNTIL, Op.STRONG_RELEASE}
    | {Op.LAST, Op.END}
)
PAST = frozenset({Op.YESTERDAY, Op.ONCE, Op.HISTORICALLY, Op.SINCE})


class Formula(Term):
    """An LTLf formula: an operator `op` with `args`; an atom has a `name`. Immutable, comparable and hashable."""

    __slots__ = ()

    op: Op
    infix: ClassVar[Mapping[Any, int]] = {
        Op.IFF: 1,
        Op.IMPLIES: 2,
        Op.XOR: 3,
        Op.OR: 4,
        Op.AND: 5,
        **dict.fromkeys((Op.UNTIL, Op.RELEASE, Op.WEAK_UNTIL, Op.STRONG_RELEASE, Op.SINCE), 6),
    }

    def __and__(self, other: object) -> Formula:
        return both(self, other) if isinstance(other, Formula) else NotImplemented

    def __or__(self, other: object) -> Formula:
        return either(self, other) if isinstance(other, Formula) else NotImplemented

    def __xor__(self, other: object) -> Formula:
        return Formula(Op.XOR, (self, other)) if isinstance(other, Formula) else NotImplemented

    def __invert__(self) -> Formula:
        return Formula(Op.NOT, (self,))

    def __rshift__(self, other: object) -> Formula:
        return Formula(Op.IMPLIES, (self, other)) if isinstance(other, Formula) else NotImplemented


TRUE = Formula(Op.TRUE)
FALSE = Formula(Op.FALSE)


def atom(name: str) -> Formula:
    """The formula that holds where the symbol `name` holds."""
    return Formula(Op.ATOM, name=name)


def both(*parts: Formula) -> Formula:
    """Conjunction, flat: `both(a, b & c)` is `a & b & c`; of nothing, `true`."""
    return Formula.flat(Op.AND, *parts) if parts else TRUE


def either(*parts: Formula) -> Formula:
    """Disjunction, flat; of nothing, `false`."""
    return Formula.flat(Op.OR, *parts) if parts else FALSE


def prefix(op: Op, part: Formula) -> Formula:
    """A unary operator applied to `part`, such as `prefix(Op.ALWAYS, part)`."""
    return Formula(op, (part,))


def infix(op: Op, left: Formula, right: Formula) -> Formula:
    """A binary operator applied to two formulas, such as `infix(Op.UNTIL, left, right)`."""
    return Formula(op, (left, right))


def substituted(formula: Formula, parts: Mapping[str, Formula]) -> Formula:
    """The formula with its atoms replaced; those that `parts` does not name stay."""
    return formula.replaced(parts)
