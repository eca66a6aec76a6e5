"""Regular expressions over symbols: a trace as a whole matches or not.

Loosest to tightest: `+`, `;`, `<->`, `->`, `^`, `|`, `&`, then `!` and `~`, then `*`, `?` and `{2,4}`. A Boolean
combination of symbols is one step. Between longer expressions `|` is choice like `+`, `&` asks for both, and `~` for
all other traces. Expressions are paths of LDLf, and translated as such.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, ClassVar

from lark import Token

from nrm.aliases import Trace
from nrm.automata import DEFAULT_LIMITS, Dfa, Limits
from nrm.errors import FormulaError, LimitError
from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ldlf.formula import Ldlf, Op, called_pattern
from nrm.logic.ldlf.meaning import matched
from nrm.logic.ldlf.meaning import translate as translate_ldlf
from nrm.logic.ldlf.parser import Part, PathBuild
from nrm.logic.ltlf.patterns import MAX_COUNT
from nrm.logic.reading import PATH_RULES, PlacedError, Reader, whole_number
from nrm.logic.symbols import steps_of
from nrm.logic.term import BOOLEAN

__all__ = ["REGEX", "Regex", "holds", "parse", "translate"]


class Regex(Ldlf):
    """One regular expression: `op` over `args`."""

    __slots__ = ()

    reserved: ClassVar[Container[str]] = ()

    @property
    def is_closed(self) -> bool:
        """Whether it needs no parentheses though it has arguments: calls of patterns."""
        return self.op is Op.PATTERN

    def rendered(self, text: dict[Any, str]) -> str:
        """The expression as text, given that of its arguments."""
        if self.op is not Op.PATTERN:
            return "." if self.op is Op.TRUE else super().rendered(text)
        name, _, number = self.name.partition(" ")
        return f"{name}({', '.join([*(text[arg] for arg in self.args), *number.split()])})"


_GRAMMAR = r"""
?unary: postfix
    | NOT unary -> negation
?postfix: operand
    | postfix _STAR -> star
    | postfix _OPTIONAL -> optional
    | postfix LEFT INTEGER _RIGHT -> repeat
    | postfix LEFT INTEGER COMMA _RIGHT -> repeat
    | postfix LEFT INTEGER COMMA INTEGER _RIGHT -> repeat
?operand: _OPEN choice _CLOSE
    | (TRUE | FALSE) -> constant
    | ANY -> anything
    | (NAME | QUOTED) -> atom
    | NAME _OPEN argument (COMMA argument)* _CLOSE -> call

ANY: "."
_STAR: "*"
_OPTIONAL: "?"
LEFT: "{"
_RIGHT: "}"
COMMA: ","
""" + PATH_RULES.replace('_COMMA: ","\n', "")


class _Build(PathBuild):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""

    term: type[Ldlf] = Regex

    def start(self, parts: list[Part]) -> Ldlf:
        return parts[0].term

    def joined(self, op: str, parts: list[Part]) -> Part:
        mark = Op[op].value
        for part in parts:
            if part.kind == "path":
                raise PlacedError(f"'{mark}' joins single steps, and {part.term.brief(40)} is longer", part.position)
        return self.boolean(Op[op], parts)

    def conjunction(self, parts: list[Part]) -> Part:
        if all(part.kind == "step" for part in parts):
            return self.joined("AND", parts)
        return self._longer(self.term.flat(Op.BOTH, *(part.term for part in parts)), parts)

    def negation(self, parts: list[Any]) -> Part:
        token, part = parts
        position = token.start_pos or 0
        if part.kind == "step":
            return Part(self.term(Op.NOT, (part.term,)), "step", position)
        if str(token) != "~":
            raise PlacedError(
                f"'{token}' negates one step, and {part.term.brief(40)} is longer; write (!a)* for steps without a, or "
                "~(...) for all traces but these",
                position,
            )
        return Part(self.term(Op.COMPLEMENT, (part.term,)), "path", position)

    def optional(self, parts: list[Part]) -> Part:
        return self._longer(self.term(Op.OPTIONAL, (parts[0].term,)), parts)

    def repeat(self, parts: list[Any]) -> Part:
        part, left, first, *others = parts
        least = whole_number(first, MAX_COUNT)
        most = least if not others else whole_number(others[-1], MAX_COUNT) if len(others) > 1 else None
        if most is not None and most < least:
            raise PlacedError(f"at least {least} times and at most {most}: no trace does that", left.start_pos or 0)
        bounds = f"{least},{'' if most is None else most}"
        return self._longer(self.term(Op.REPEAT, (part.term,), bounds), [part])

    def anything(self, parts: list[Token]) -> Part:
        return Part(self.term(Op.TRUE), "step", parts[0].start_pos or 0)

    def call(self, parts: list[Any]) -> Part:
        name, *rest = parts
        given = [part for part in rest if not isinstance(part, Token)]
        steps = [part for part in given if isinstance(part, Part)]
        for part in steps:
            if part.kind == "path":
                raise PlacedError(
                    f"patterns inside regular expressions take single steps, and {part.term.brief(40)} is longer",
                    part.position,
                )
        numbers = "".join(f" {part}" for part in given if isinstance(part, int))
        pattern = self.term(Op.PATTERN, tuple(part.term for part in steps), f"{name}{numbers}")
        try:
            called_pattern(pattern)
        except FormulaError as error:
            raise PlacedError(str(error), name.start_pos or 0) from None
        return Part(pattern, "path", name.start_pos or 0)


READER = Reader(
    Regex,
    "re",
    _GRAMMAR,
    _Build,
    example="(!c)*; a; (!c)*; b; .*",
    operand="'.', true, false, '(', ! or ~",
    operators=";, +, *, ?, {2,4}, &, |, ^, ->, <->",
)


parse = READER.parse


def holds(expression: Regex | str, trace: Trace) -> bool:
    """Whether the whole of a non-empty `trace` matches."""
    return translate(expression, exclusive=False).accepts(steps_of(trace, "regular expressions'"))


def translate(expression: Regex | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of the non-empty traces that match, over the atoms of the expression."""
    root = parse(expression)
    _check_size(root)
    return translate_ldlf(matched(root), exclusive, limits)


def _check_size(root: Ldlf) -> None:
    """`LimitError` where repetitions of repetitions are too many to be written out."""

    def written_out(node: Ldlf, args: list[int]) -> int:
        if node.op.name in BOOLEAN or node.op is Op.PATTERN:
            return 1
        return sum(args) * (max(node.bounds[0], node.bounds[1] or 0, 1) if node.op is Op.REPEAT else 1)

    steps, most_steps = root.folded(written_out), 2_000  # a second of work
    if steps > most_steps:
        raise LimitError(
            f"with its repetitions written out the expression has {steps:,} steps (the limit is {most_steps:,}); "
            "use smaller numbers in {…}, * where any number of times will do, or several tasks"
        )


REGEX: Language[Regex] = LANGUAGES.register(
    Language("re", "a regular expression", parse, translate, holds, reader=READER, marks=r";|\)\*")
)
