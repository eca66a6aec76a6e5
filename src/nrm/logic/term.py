"""Terms: operators over arguments, as frozen values. What the formulas of every language have in common.

Nothing here recurses, so depth costs no stack: every pass over a term is a loop over `Term.postorder()`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from enum import Enum
from functools import reduce
from operator import and_, or_, xor
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from nrm.automata import Mtbdd
from nrm.errors import FormulaError, shorten

if TYPE_CHECKING:
    from typing_extensions import Self

Value = TypeVar("Value")
_PREFIX, _POSTFIX, _TIGHTEST = 8, 9, 10
MAX_DEPTH = 1_000
"""Deepest nesting that is accepted; far above what a person writes, and low enough for every later step."""


class Term:
    """An operator over arguments; `name` is the symbol of an atom. Immutable, comparable, hashable.

    The enumeration of operators has an `ATOM`; a language says how tightly its operators bind.
    """

    __slots__ = ("_hash", "args", "depth", "name", "op")

    op: Any
    args: tuple[Self, ...]
    name: str
    depth: int
    _hash: int

    kind: ClassVar[str] = "formula"
    """What a person calls it in messages."""
    infix: ClassVar[Mapping[Any, int]] = {}
    """How tightly an operator between its arguments binds: the larger, the tighter; at most 7."""
    postfix: ClassVar[Container[Any]] = ()
    """Operators behind their argument; all others with one argument stand before it."""
    reserved: ClassVar[Container[str]] = ()
    """Words of the language that elsewhere are names of symbols; as such they stand in quotes."""

    def __init__(self, op: Enum, args: tuple[Self, ...] = (), name: str = "") -> None:
        depth = 1 + max((arg.depth for arg in args), default=0)
        if depth > MAX_DEPTH:
            raise FormulaError(
                f"the {self.kind} is nested more than {MAX_DEPTH} deep (at operator '{op.value}'); "
                "split it into smaller tasks, or write long conjunctions without inner parentheses"
            )
        for field, value in (("op", op), ("args", args), ("name", name), ("depth", depth)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "_hash", hash((op, name, tuple(arg._hash for arg in args))))

    @classmethod
    def flat(cls, op: Enum, *parts: Self) -> Self:
        """An associative operator over parts, without nesting."""
        args: list[Self] = []
        for part in parts:
            args.extend(part.args if part.op is op else (part,))
        return args[0] if len(args) == 1 else cls(op, tuple(args))

    def rendered(self, text: dict[Any, str]) -> str:
        """The term as text, given that of its arguments."""
        op, args = self.op, self.args
        if op.name == "ATOM":
            return written_name(self.name, self.reserved)
        if not args:
            return str(op.value)
        if op in self.infix:
            # Equal binding gets parentheses too: `(a U b) U c` and `a U (b U c)` both stay unambiguous.
            return f" {self.mark} ".join(arg.wrapped(text, self.infix[op] + 1) for arg in args)
        if op in self.postfix:
            return f"{args[0].wrapped(text, _POSTFIX)}{self.mark}"
        inner = args[0].wrapped(text, _PREFIX)
        return f"{self.mark} {inner}" if self.mark.isalpha() and not inner.startswith("(") else f"{self.mark}{inner}"

    @property
    def mark(self) -> str:
        """The operator as it is written."""
        return str(self.op.value)

    def wrapped(self, text: dict[Any, str], least: int) -> str:
        """The term as text, in parentheses where it binds less tightly than that."""
        one = _POSTFIX if self.op in self.postfix else _PREFIX if self.args and not self.is_closed else _TIGHTEST
        return text[self] if self.infix.get(self.op, one) >= least else f"({text[self]})"

    @property
    def is_closed(self) -> bool:
        """Whether it needs no parentheses though it has arguments, as a call of a pattern."""
        return False

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; cannot set '{field}'")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term) or type(self) is not type(other):
            return NotImplemented
        pending: list[tuple[Term, Term]] = [(self, other)]
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

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[type[Self], tuple[_Row, ...]]]:
        """Flat, with arguments by their place, so that depth costs no stack in pickling and copying either."""
        places: dict[Self, int] = {}
        for node in self.postorder():
            places[node] = len(places)
        rows = tuple((node.op, tuple(places[arg] for arg in node.args), node.name) for node in places)
        return _rebuilt, (type(self), rows)

    def postorder(self, is_leaf: Callable[[Self], bool] | None = None) -> Iterator[Self]:
        """Every distinct part once, arguments before the term that holds them; what `is_leaf` is not entered."""
        seen: set[Self] = set()
        pending: list[tuple[Self, bool]] = [(self, False)]
        while pending:
            node, ready = pending.pop()
            if node in seen:
                continue
            if ready:
                seen.add(node)
                yield node
            else:
                pending.append((node, True))
                if is_leaf is None or not is_leaf(node):
                    pending.extend((arg, False) for arg in reversed(node.args))

    def folded(self, value: Callable[[Self, list[Value]], Value]) -> Value:
        """The value of the term, from those of its arguments; each distinct part is asked for once."""
        done: dict[Self, Value] = {}
        for node in self.postorder():
            done[node] = value(node, [done[arg] for arg in node.args])
        return done[self]

    def replaced(self, parts: Mapping[str, Self], flat: Container[str] = ()) -> Self:
        """The term with other parts for atoms, by name; `flat`: names of operators that take in nested ones."""
        done: dict[Self, Self] = {}
        for node in self.postorder():
            args = tuple(done[arg] for arg in node.args)
            if node.op.name in flat:
                done[node] = self.flat(node.op, *args)
            else:
                whole = type(self)(node.op, args, node.name)
                done[node] = parts.get(node.name, whole) if node.op.name == "ATOM" else whole
        return done[self]

    def atoms(self) -> tuple[str, ...]:
        """The symbols that the term speaks of, in order of first appearance."""
        return tuple(node.name for node in self.postorder() if node.op.name == "ATOM")

    def text_length(self) -> int:
        """About how long `str(self)` is, without writing it: shared parts are written once for every use."""
        return self.folded(lambda node, lengths: len(node.name) + 5 + sum(length + 2 for length in lengths))

    def brief(self, width: int = 400) -> str:
        """The term as text for people to look at; a long one is cut, and a huge one only counted."""
        if self.text_length() > 1_000_000:
            return f"(a {self.kind} of some {self.text_length():,} characters)"
        return shorten(str(self), width)

    def __str__(self) -> str:
        text: dict[Any, str] = {}
        for node in self.postorder():
            text[node] = node.rendered(text)
        return text[self]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


_Row: TypeAlias = tuple[Any, tuple[int, ...], str]
"""A part in a flat list: its operator, the places of its arguments, and its name."""


def _rebuilt(kind: type[Term], rows: tuple[_Row, ...]) -> Term:
    """The term of a flat list, arguments first."""
    nodes: list[Term] = []
    for op, args, name in rows:
        nodes.append(kind(op, tuple(nodes[place] for place in args), name))
    return nodes[-1]


def written_name(name: str, reserved: Container[str] = ()) -> str:
    """A symbol as it stands in a formula: in quotes where it is no plain word, or is a word of the language."""
    return name if is_plain_name(name) and name not in reserved else f'"{name}"'


def is_plain_name(name: str) -> bool:
    """Whether an atom of this name can stand in a formula without quotes."""
    return name.isascii() and name.isidentifier()


BOOLEAN = frozenset(("TRUE", "FALSE", "ATOM", "NOT", "AND", "OR", "XOR", "IMPLIES", "IFF"))
"""The names of the operators that speak of one step."""


_VALUES: Mapping[str, Callable[..., Any]] = {
    "TRUE": lambda: True,
    "FALSE": lambda: False,
    "NOT": lambda a: True ^ a,
    "AND": lambda *args: reduce(and_, args),
    "OR": lambda *args: reduce(or_, args),
    "XOR": xor,
    "IMPLIES": lambda a, b: (True ^ a) | b,
    "IFF": lambda a, b: True ^ a ^ b,
}


def boolean_value(op: str, args: Sequence[Value]) -> Value:
    """The value of a Boolean operator, by its name, over truth values or arrays of them."""
    value: Value = _VALUES[op](*args)
    return value


def step_value(step: Term, truth: Callable[[str], Any]) -> Any:
    """The value of a Boolean term, from the truth of each symbol: a value, or an array of them."""
    return step.folded(
        lambda node, args: truth(node.name) if node.op.name == "ATOM" else boolean_value(node.op.name, args)
    )


def boolean_function(step: Term, table: Mtbdd[int], places: Mapping[str, int], done: dict[Term, int]) -> int:
    """The function of a Boolean term in a table of nodes: 1 where it holds, and 0 elsewhere.

    `places`: the variable of each symbol; `done` keeps what was found.
    """
    for node in step.postorder(done.__contains__):
        if node in done:
            continue
        op, parts = node.op.name, [done[arg] for arg in node.args]
        if op == "ATOM":
            done[node] = table.node(places[node.name], table.leaf(0), table.leaf(1))
        elif not parts:
            done[node] = table.leaf(int(op == "TRUE"))
        elif op == "NOT":
            done[node] = table.map(parts[0], lambda value: 1 - value, {})
        else:
            found: dict[tuple[int, int], int] = {}

            def join(a: int, b: int, op: str = op) -> int:
                return int(boolean_value(op, (bool(a), bool(b))))

            done[node] = parts[-1]
            for part in reversed(parts[:-1]):  # later propositions stand lower, and joining from below stays small
                done[node] = table.apply(part, done[node], join, found)
    return done[step]
