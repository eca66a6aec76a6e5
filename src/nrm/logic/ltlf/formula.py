"""LTLf formulas as frozen values.

A formula is an operator over argument formulas. Nothing here recurses, so depth costs no stack: every pass over a
formula is a loop over `Formula.postorder()`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from enum import Enum
from typing import TypeAlias

from nrm.errors import FormulaError, shorten

MAX_DEPTH = 1_000
"""Deepest nesting that is accepted; far above what a person writes, and low enough for every later step."""


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


class Formula:
    """One LTLf formula: `op` over `args`; `name` is the symbol of an atom. Immutable, comparable, hashable."""

    __slots__ = ("_hash", "args", "depth", "name", "op")

    op: Op
    args: tuple[Formula, ...]
    name: str
    depth: int

    def __init__(self, op: Op, args: tuple[Formula, ...] = (), name: str = "") -> None:
        depth = 1 + max((arg.depth for arg in args), default=0)
        if depth > MAX_DEPTH:
            raise FormulaError(
                f"the formula is nested more than {MAX_DEPTH} deep (at operator '{op.value}'); "
                "split it into smaller tasks, or write long conjunctions without inner parentheses"
            )
        for field, value in (("op", op), ("args", args), ("name", name), ("depth", depth)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "_hash", hash((op, name, tuple(arg._hash for arg in args))))

    _hash: int

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a Formula is immutable; cannot set '{field}'")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formula):
            return NotImplemented
        pending = [(self, other)]
        while pending:
            left, right = pending.pop()
            if left is right:
                continue
            if left._hash != right._hash or left.op is not right.op or left.name != right.name:
                return False
            if len(left.args) != len(right.args):
                return False
            pending.extend(zip(left.args, right.args, strict=True))
        return True

    def __reduce__(self) -> tuple[Callable[[tuple[_Row, ...]], Formula], tuple[tuple[_Row, ...]]]:
        """Flat, with arguments by their place, so that depth costs no stack in pickling and copying either."""
        places: dict[Formula, int] = {}
        for node in self.postorder():
            places[node] = len(places)
        return _rebuilt, (tuple((node.op, tuple(places[arg] for arg in node.args), node.name) for node in places),)

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

    def postorder(self, leaves: Container[Formula] = ()) -> Iterator[Formula]:
        """Every distinct subformula once, arguments before the formula that holds them; `leaves` are not entered."""
        seen: set[Formula] = set()
        pending: list[tuple[Formula, bool]] = [(self, False)]
        while pending:
            node, ready = pending.pop()
            if node in seen:
                continue
            if ready:
                seen.add(node)
                yield node
            else:
                pending.append((node, True))
                if node not in leaves:
                    pending.extend((arg, False) for arg in reversed(node.args))

    def atoms(self) -> tuple[str, ...]:
        """The symbols that the formula speaks of, in order of first appearance."""
        return tuple(node.name for node in self.postorder() if node.op is Op.ATOM)

    def text_length(self) -> int:
        """About how long `str(self)` is, without writing it: shared subformulas are written once for every use."""
        length: dict[Formula, int] = {}
        for node in self.postorder():
            length[node] = len(node.name) + 5 + sum(length[arg] + 2 for arg in node.args)
        return length[self]

    def brief(self, width: int = 400) -> str:
        """The formula as text for people to look at; a long one is cut, and a huge one only counted."""
        if self.text_length() > 1_000_000:
            return f"(a formula of some {self.text_length():,} characters)"
        return shorten(str(self), width)

    def __str__(self) -> str:
        text: dict[Formula, str] = {}
        for node in self.postorder():
            text[node] = _render(node, text)
        return text[self]

    def __repr__(self) -> str:
        return f"Formula({str(self)!r})"


_Row: TypeAlias = tuple[Op, tuple[int, ...], str]
"""A subformula of a flat list: its operator, the places of its arguments, and its name."""


def _rebuilt(rows: tuple[_Row, ...]) -> Formula:
    """The formula of a flat list, arguments first."""
    nodes: list[Formula] = []
    for op, args, name in rows:
        nodes.append(Formula(op, tuple(nodes[place] for place in args), name))
    return nodes[-1]


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


def _render(node: Formula, text: dict[Formula, str]) -> str:
    if node.op is Op.ATOM:
        return node.name if is_plain_name(node.name) else f'"{node.name}"'
    if not node.args:
        return str(node.op.value)
    if node.op not in BINDING:
        (arg,) = node.args
        inner = f"({text[arg]})" if arg.op in BINDING else text[arg]
        tight = node.op is Op.NOT or inner.startswith("(")
        return f"{node.op.value}{inner}" if tight else f"{node.op.value} {inner}"
    # Equal binding gets parentheses too: `(a U b) U c` and `a U (b U c)` both stay readable and unambiguous.
    loosest = BINDING[node.op]
    parts = [f"({text[arg]})" if BINDING.get(arg.op, 99) <= loosest else text[arg] for arg in node.args]
    return f" {node.op.value} ".join(parts)


def is_plain_name(name: str) -> bool:
    """Whether an atom of this name can stand in a formula without quotes."""
    return name.isascii() and name.isidentifier()
