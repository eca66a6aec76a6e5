"""Regular expressions over symbols, as frozen values: a Boolean combination of symbols is one step."""

from __future__ import annotations

from enum import Enum
from typing import Any

from nrm.logic.term import Term, written_name


class Op(Enum):
    """The operators of steps, then those of longer traces."""

    TRUE = "."
    FALSE = "false"
    ATOM = "atom"
    NOT = "!"
    AND = "&"
    OR = "|"
    XOR = "^"
    IMPLIES = "->"
    IFF = "<->"
    CHOICE = "+"
    SEQUENCE = ";"
    STAR = "*"
    OPTIONAL = "?"
    REPEAT = "{}"
    BOTH = "& "
    COMPLEMENT = "~"
    PATTERN = "pattern"


# How tightly an operator binds: the larger, the tighter.
_INFIX = {Op.CHOICE: 1, Op.SEQUENCE: 2, Op.IFF: 3, Op.IMPLIES: 4, Op.XOR: 5, Op.OR: 6, Op.AND: 7, Op.BOTH: 7}
_PREFIX = {Op.NOT: 8, Op.COMPLEMENT: 8}
_POSTFIX = {Op.STAR: 9, Op.OPTIONAL: 9, Op.REPEAT: 9}
_BINDING = {**_INFIX, **_PREFIX, **_POSTFIX}
_TIGHTEST = 10


class Regex(Term):
    """One regular expression: `op` over `args`.

    `name`: the symbol of an atom; of `REPEAT` its bounds (`2,4`, or `2,` without an upper one); of `PATTERN` the
    pattern's name, and behind a space the number that it counts to, if it does.
    """

    __slots__ = ()

    op: Op

    @property
    def bounds(self) -> tuple[int, int | None]:
        """How often a `REPEAT` asks for its argument, at least and at most."""
        least, _, most = self.name.partition(",")
        return int(least), int(most) if most else None

    def rendered(self, text: dict[Any, str]) -> str:
        """The expression as text, given that of its arguments."""
        op = self.op
        if op is Op.ATOM:
            return written_name(self.name)
        if op is Op.PATTERN:
            name, _, number = self.name.partition(" ")
            return f"{name}({', '.join([*(text[arg] for arg in self.args), *filter(None, [number])])})"
        if not self.args:
            return str(op.value)

        def wrapped(arg: Regex, least: int) -> str:
            return text[arg] if _BINDING.get(arg.op, _TIGHTEST) >= least else f"({text[arg]})"

        if op in _PREFIX:
            return f"{op.value}{wrapped(self.args[0], _PREFIX[op])}"
        if op in _POSTFIX:
            mark = f"{{{self.name}}}" if op is Op.REPEAT else op.value
            return f"{wrapped(self.args[0], _POSTFIX[op])}{mark}"
        return f" {op.value.strip()} ".join(wrapped(arg, _INFIX[op] + 1) for arg in self.args)


def flat(op: Op, *parts: Regex) -> Regex:
    """An associative operator over parts, without nesting."""
    args: list[Regex] = []
    for part in parts:
        args.extend(part.args if part.op is op else (part,))
    return args[0] if len(args) == 1 else Regex(op, tuple(args))
