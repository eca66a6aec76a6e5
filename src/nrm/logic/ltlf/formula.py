"""LTLf formulas: operators over argument formulas, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from nrm.logic.term import Term, written_name


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
    {
        Op.NEXT,
        Op.WEAK_NEXT,
        Op.EVENTUALLY,
        Op.ALWAYS,
        Op.UNTIL,
        Op.RELEASE,
        Op.WEAK_UNTIL,
        Op.STRONG_RELEASE,
        Op.LAST,
        Op.END,
    }
)
PAST = frozenset({Op.YESTERDAY, Op.ONCE, Op.HISTORICALLY, Op.SINCE})

# How tightly an operator binds: the larger, the tighter. Prefix operators bind tightest.
BINDING = {
    Op.IFF: 1,
    Op.IMPLIES: 2,
    Op.XOR: 3,
    Op.OR: 4,
    Op.AND: 5,
    Op.UNTIL: 6,
    Op.RELEASE: 6,
    Op.WEAK_UNTIL: 6,
    Op.STRONG_RELEASE: 6,
    Op.SINCE: 6,
}


class Formula(Term):
    """One LTLf formula: `op` over `args`; `name` is the symbol of an atom. Immutable, comparable, hashable."""

    __slots__ = ()

    op: Op

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

    def rendered(self, text: dict[Any, str]) -> str:
        """The formula as text, given that of its arguments."""
        if self.op is Op.ATOM:
            return written_name(self.name)
        if not self.args:
            return str(self.op.value)
        if self.op not in BINDING:
            (arg,) = self.args
            inner = f"({text[arg]})" if arg.op in BINDING else text[arg]
            tight = self.op is Op.NOT or inner.startswith("(")
            return f"{self.op.value}{inner}" if tight else f"{self.op.value} {inner}"
        # Equal binding gets parentheses too: `(a U b) U c` and `a U (b U c)` both stay readable and unambiguous.
        loosest = BINDING[self.op]
        parts = [f"({text[arg]})" if BINDING.get(arg.op, 99) <= loosest else text[arg] for arg in self.args]
        return f" {self.op.value} ".join(parts)


TRUE = Formula(Op.TRUE)
FALSE = Formula(Op.FALSE)


def atom(name: str) -> Formula:
    """The formula that holds where the symbol `name` holds."""
    return Formula(Op.ATOM, name=name)


def both(*parts: Formula) -> Formula:
    """Conjunction, flat: `both(a, b & c)` is `a & b & c`; of nothing, `true`."""
    return _flat(Op.AND, parts, TRUE)


def either(*parts: Formula) -> Formula:
    """Disjunction, flat; of nothing, `false`."""
    return _flat(Op.OR, parts, FALSE)


def prefix(op: Op, part: Formula) -> Formula:
    """A unary operator applied to `part`, such as `prefix(Op.ALWAYS, part)`."""
    return Formula(op, (part,))


def infix(op: Op, left: Formula, right: Formula) -> Formula:
    """A binary operator applied to two formulas, such as `infix(Op.UNTIL, left, right)`."""
    return Formula(op, (left, right))


def substituted(formula: Formula, parts: Mapping[str, Formula]) -> Formula:
    """The formula with its atoms replaced; those that `parts` does not name stay."""
    done: dict[Formula, Formula] = {}
    for node in formula.postorder():
        whole = Formula(node.op, tuple(done[arg] for arg in node.args), node.name)
        done[node] = parts.get(node.name, whole) if node.op is Op.ATOM else whole
    return done[formula]


def _flat(op: Op, parts: tuple[Formula, ...], empty: Formula) -> Formula:
    args: list[Formula] = []
    for part in parts:
        args.extend(part.args if part.op is op else (part,))
    if not args:
        return empty
    return args[0] if len(args) == 1 else Formula(op, tuple(args))
