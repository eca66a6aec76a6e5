"""Regular expressions over symbols, as frozen values: a Boolean combination of symbols is one step."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from nrm.logic.ltlf import formula as ltlf
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.ltlf.words import MOST, boolean_words
from nrm.logic.ltlf.words import in_words as ltlf_in_words
from nrm.logic.term import BOOLEAN, Term, written_name


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
    texts: dict[Regex, str] = {}
    for node in expression.postorder():
        texts[node] = _phrase(node, [_grouped(arg, texts[arg]) for arg in node.args])
        if len(texts[node]) > MOST:
            return f"({expression.brief(100)}, too long for words)"
    return f"the whole trace is {texts[expression]}"


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


def _grouped(arg: Regex, text: str) -> str:
    plain = not arg.args or (arg.op is Op.NOT and arg.args[0].op is Op.ATOM)
    return text if plain else f"({text})"
