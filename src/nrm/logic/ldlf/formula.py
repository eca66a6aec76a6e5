"""LDLf formulas and the paths in them, as frozen values.

One term type serves both: a *formula* holds or not at a place of a trace; a *path* leads from one place to another. A
Boolean combination of symbols is a step, the shortest path, and as a formula says that such a step comes next.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from nrm.logic.ltlf.words import boolean_words, words_of
from nrm.logic.term import Term


class Op(Enum):
    """The operators of formulas, then those of paths."""

    TT = "tt"
    FF = "ff"
    END = "end"
    LAST = "last"
    TRUE = "true"
    FALSE = "false"
    ATOM = "atom"
    NOT = "!"
    AND = "&"
    OR = "|"
    XOR = "^"
    IMPLIES = "->"
    IFF = "<->"
    DIAMOND = "<>"
    BOX = "[]"
    TEST = "?"
    CHOICE = "+"
    SEQUENCE = ";"
    STAR = "*"


PATHS = frozenset((Op.TEST, Op.CHOICE, Op.SEQUENCE, Op.STAR))


_LOOSEST_FIRST = (Op.CHOICE, Op.SEQUENCE, Op.IFF, Op.IMPLIES, Op.XOR, Op.OR, Op.AND)


class Ldlf(Term):
    """One LDLf formula, or a path: `op` over `args`. Of `DIAMOND` and `BOX` the first argument is the path."""

    __slots__ = ()

    op: Op
    infix: ClassVar[Mapping[Any, int]] = {op: place for place, op in enumerate(_LOOSEST_FIRST, 1)}
    postfix = (Op.TEST, Op.STAR)
    reserved = ("tt", "ff")

    def rendered(self, text: dict[Any, str]) -> str:
        """The formula as text, given that of its arguments."""
        if self.op not in (Op.DIAMOND, Op.BOX):
            return super().rendered(text)
        path, after = self.args
        left, right = self.op.value
        return f"{left}{text[path]}{right}{after.wrapped(text, 8)}"


TT = Ldlf(Op.TT)
FF = Ldlf(Op.FF)
ANY = Ldlf(Op.TRUE)
"""The path of any one step."""
END = Ldlf(Op.END)


def symbol(name: str) -> Ldlf:
    """The step at which a symbol holds; as a formula, that it comes next."""
    return Ldlf(Op.ATOM, name=name)


def negated(part: Ldlf) -> Ldlf:
    """`!f`."""
    return Ldlf(Op.NOT, (part,))


def diamond(path: Ldlf, after: Ldlf) -> Ldlf:
    """`<path>after`: the path can be walked so that `after` holds at its end."""
    return Ldlf(Op.DIAMOND, (path, after))


def box(path: Ldlf, after: Ldlf) -> Ldlf:
    """`[path]after`: wherever the path can lead, `after` holds."""
    return Ldlf(Op.BOX, (path, after))


def in_words(formula: Ldlf) -> str:
    """What a formula asks for, read at the first step."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    return words_of(formula, _phrase, lambda texts: "; and ".join(texts[part] for part in parts))


def _phrase(node: Ldlf, args: list[str]) -> str:
    match node.op:
        case Op.TT:
            return "anything"
        case Op.FF:
            return "the impossible"
        case Op.END:
            return "the trace is over"
        case Op.LAST:
            return "this is the last step"
        case Op.DIAMOND if node.args[1].op is Op.TT:
            return f"what follows begins with {args[0]}"
        case Op.DIAMOND if node.args[1].op is Op.END:
            return f"what follows, to the end, is {args[0]}"
        case Op.DIAMOND:
            return f"what follows begins with {args[0]}, and then {args[1]}"
        case Op.BOX if node.args[1].op is Op.FF:
            return f"what follows does not begin with {args[0]}"
        case Op.BOX:
            return f"wherever what follows begins with {args[0]}, then {args[1]}"
        case Op.TEST:
            return f"a place where {args[0]}"
        case Op.CHOICE:
            return " or ".join(args)
        case Op.SEQUENCE:
            return ", then ".join(args)
        case Op.STAR:
            return f"any number of times {args[0]}"
        case _:
            return boolean_words(node.op, node.name, args)
