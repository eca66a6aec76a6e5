"""LDLf formulas and the paths in them, as frozen values.

One term type serves both: a *formula* holds or not at a place of a trace; a *path* leads from one place to another. A
Boolean combination of symbols is a step, the shortest path, and as a formula says that such a step comes next.
Regular expressions are paths too, with operators of their own.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import Enum
from typing import Any, ClassVar

from nrm.logic.ltlf import formula as ltlf
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.term import Term


class Op(Enum):
    """The operators of formulas, then those of paths, then those of regular expressions alone."""

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
    OPTIONAL = "? "
    REPEAT = "{}"
    BOTH = "& "
    COMPLEMENT = "~"
    PATTERN = "pattern"
    RUN = "run"


PATHS = frozenset(list(Op)[list(Op).index(Op.TEST) :])
REPEATED = (Op.STAR, Op.OPTIONAL, Op.REPEAT)

_LOOSEST_FIRST = (Op.CHOICE, Op.SEQUENCE, Op.IFF, Op.IMPLIES, Op.XOR, Op.OR, Op.AND)


class Ldlf(Term):
    """One LDLf formula, or a path: `op` over `args`. Of `DIAMOND` and `BOX` the first argument is the path.

    `name`: the symbol of an atom; of `REPEAT` its bounds (`2,4`, or `2,` without an upper one); of `PATTERN` the
    pattern's name, and behind a space the number that it counts to, if it does.
    """

    __slots__ = ()

    op: Op
    infix: ClassVar[Mapping[Any, int]] = {op: place for place, op in enumerate(_LOOSEST_FIRST, 1)} | {Op.BOTH: 7}
    postfix = (Op.TEST, *REPEATED)
    reserved: ClassVar[Container[str]] = ("tt", "ff")

    @property
    def bounds(self) -> tuple[int, int | None]:
        """How often a path is repeated, at least and at most."""
        if self.op is not Op.REPEAT:
            return 0, None if self.op is Op.STAR else 1
        least, _, most = self.name.partition(",")
        return int(least), int(most) if most else None

    @property
    def mark(self) -> str:
        """The operator as it is written."""
        return f"{{{self.name}}}" if self.op is Op.REPEAT else str(self.op.value).strip()

    def rendered(self, text: dict[Any, str]) -> str:
        """The formula as text, given that of its arguments."""
        if self.op not in (Op.DIAMOND, Op.BOX):
            return super().rendered(text)
        path, after = self.args
        left, right = self.op.value
        return f"{left}{text[path]}{right}{after.wrapped(text, 8)}"


END = Ldlf(Op.END)


def diamond(path: Ldlf, after: Ldlf) -> Ldlf:
    """`<path>after`: the path can be walked so that `after` holds at its end."""
    return Ldlf(Op.DIAMOND, (path, after))


def box(path: Ldlf, after: Ldlf) -> Ldlf:
    """`[path]after`: wherever the path can lead, `after` holds."""
    return Ldlf(Op.BOX, (path, after))


def called_pattern(path: Ldlf) -> ltlf.Formula:
    """The LTLf formula that a `PATTERN` stands for."""
    name, _, number = path.name.partition(" ")
    return apply_pattern(name, [*map(_step_in_ltlf, path.args), *map(int, number.split())])


def _step_in_ltlf(step: Ldlf) -> ltlf.Formula:
    return step.folded(lambda node, args: ltlf.Formula(ltlf.Op[node.op.name], tuple(args), node.name))
