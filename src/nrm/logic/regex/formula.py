"""Regular expressions over symbols, as frozen values: a Boolean combination of symbols is one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar

from nrm.logic.ltlf import formula as ltlf
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.ltlf.words import boolean_words, words_of
from nrm.logic.ltlf.words import in_words as ltlf_in_words
from nrm.logic.term import BOOLEAN, Term


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


_LOOSEST_FIRST = (Op.CHOICE, Op.SEQUENCE, Op.IFF, Op.IMPLIES, Op.XOR, Op.OR, Op.AND)


class Regex(Term):
    """One regular expression: `op` over `args`.

    `name`: the symbol of an atom; of `REPEAT` its bounds (`2,4`, or `2,` without an upper one); of `PATTERN` the
    pattern's name, and behind a space the number that it counts to, if it does.
    """

    __slots__ = ()

    op: Op
    infix: ClassVar[Mapping[Any, int]] = {op: place for place, op in enumerate(_LOOSEST_FIRST, 1)} | {Op.BOTH: 7}
    postfix = (Op.STAR, Op.OPTIONAL, Op.REPEAT)

    @property
    def bounds(self) -> tuple[int, int | None]:
        """How often a `REPEAT` asks for its argument, at least and at most."""
        least, _, most = self.name.partition(",")
        return int(least), int(most) if most else None

    @property
    def mark(self) -> str:
        """The operator as it is written."""
        return f"{{{self.name}}}" if self.op is Op.REPEAT else str(self.op.value).strip()

    @property
    def is_closed(self) -> bool:
        """Whether it needs no parentheses though it has arguments: calls of patterns."""
        return self.op is Op.PATTERN

    def rendered(self, text: dict[Any, str]) -> str:
        """The expression as text, given that of its arguments."""
        if self.op is not Op.PATTERN:
            return super().rendered(text)
        name, _, number = self.name.partition(" ")
        return f"{name}({', '.join([*(text[arg] for arg in self.args), *filter(None, [number])])})"


def pattern_formula(name: str, arguments: Sequence[Regex | int]) -> ltlf.Formula:
    """The LTLf formula of a pattern over steps, with a number last where it counts."""
    return apply_pattern(name, [arg if isinstance(arg, int) else _in_ltlf(arg) for arg in arguments])


def formula_of(pattern: Regex) -> ltlf.Formula:
    """The LTLf formula that a `PATTERN` stands for."""
    name, _, number = pattern.name.partition(" ")
    return pattern_formula(name, [*pattern.args, *([int(number)] if number else [])])


def _in_ltlf(step: Regex) -> ltlf.Formula:
    done: dict[Regex, ltlf.Formula] = {}
    for node in step.postorder():
        assert node.op.name in BOOLEAN
        done[node] = ltlf.Formula(ltlf.Op[node.op.name], tuple(done[arg] for arg in node.args), node.name)
    return done[step]


def in_words(expression: Regex) -> str:
    """What the whole of a trace must be."""
    return words_of(expression, _phrase, lambda texts: f"the whole trace is {texts[expression]}")


def _phrase(node: Regex, args: list[str]) -> str:
    match node.op:
        case Op.CHOICE:
            return " or ".join(args)
        case Op.SEQUENCE:
            return ", then ".join(args)
        case Op.STAR:
            return f"any number of times {args[0]}"
        case Op.OPTIONAL:
            return f"perhaps {args[0]}"
        case Op.REPEAT:
            least, most = node.bounds
            often = f"at least {least}" if most is None else f"{least}" if most == least else f"{least} to {most}"
            return f"{often} times {args[0]}"
        case Op.BOTH:
            return " and at once ".join(args)
        case Op.COMPLEMENT:
            return f"anything but {args[0]}"
        case Op.PATTERN:
            return f"steps with: {ltlf_in_words(formula_of(node))}"
        case _:
            return boolean_words(node.op, node.name, args)
