"""LDLf formulas and the paths in them, as frozen values.

One term type serves both: a *formula* holds or not at a place of a trace; a *path* leads from one place to another. A
Boolean combination of symbols is a step, the shortest path, and as a formula says that such a step comes next.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from nrm.logic.ltlf.words import MOST, boolean_words
from nrm.logic.term import Term, written_name


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
WORDS = frozenset(("tt", "ff"))
"""Words of this language that elsewhere are names of symbols; as such they stand in quotes."""

# How tightly an operator binds: the larger, the tighter.
_INFIX = {Op.CHOICE: 1, Op.SEQUENCE: 2, Op.IFF: 3, Op.IMPLIES: 4, Op.XOR: 5, Op.OR: 6, Op.AND: 7}
_PREFIX = {Op.NOT: 8, Op.DIAMOND: 8, Op.BOX: 8}
_POSTFIX = {Op.TEST: 9, Op.STAR: 9}
_BINDING = {**_INFIX, **_PREFIX, **_POSTFIX}
_TIGHTEST = 10


class Ldlf(Term):
    """One LDLf formula, or a path: `op` over `args`. Of `DIAMOND` and `BOX` the first argument is the path."""

    __slots__ = ()

    op: Op

    def rendered(self, text: dict[Any, str]) -> str:
        """The formula as text, given that of its arguments."""
        op = self.op
        if op is Op.ATOM:
            return written_name(self.name, WORDS)
        if not self.args:
            return str(op.value)

        def wrapped(arg: Ldlf, least: int) -> str:
            return text[arg] if _BINDING.get(arg.op, _TIGHTEST) >= least else f"({text[arg]})"

        if op in (Op.DIAMOND, Op.BOX):
            path, after = self.args
            left, right = "<>" if op is Op.DIAMOND else "[]"
            return f"{left}{text[path]}{right}{wrapped(after, _PREFIX[op])}"
        if op is Op.NOT:
            return f"!{wrapped(self.args[0], _PREFIX[op])}"
        if op in _POSTFIX:
            return f"{wrapped(self.args[0], _POSTFIX[op])}{op.value}"
        return f" {op.value} ".join(wrapped(arg, _INFIX[op] + 1) for arg in self.args)


TT = Ldlf(Op.TT)
FF = Ldlf(Op.FF)
ANY = Ldlf(Op.TRUE)
"""The path of any one step."""
END = Ldlf(Op.END)


def symbol(name: str) -> Ldlf:
    """The step at which a symbol holds; as a formula, that it comes next."""
    return Ldlf(Op.ATOM, name=name)


def flat(op: Op, *parts: Ldlf) -> Ldlf:
    """An associative operator over parts, without nesting."""
    args: list[Ldlf] = []
    for part in parts:
        args.extend(part.args if part.op is op else (part,))
    return args[0] if len(args) == 1 else Ldlf(op, tuple(args))


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
    texts: dict[Ldlf, str] = {}
    for node in formula.postorder():
        texts[node] = _phrase(node, [_grouped(arg, texts[arg]) for arg in node.args])
        if len(texts[node]) > MOST:
            return f"({formula.brief(100)}, too long for words)"
    if formula.op is Op.AND:
        return "; and ".join(texts[arg] for arg in formula.args)
    return texts[formula]


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


def _grouped(arg: Ldlf, text: str) -> str:
    plain = not arg.args or (arg.op is Op.NOT and arg.args[0].op is Op.ATOM)
    return text if plain else f"({text})"
