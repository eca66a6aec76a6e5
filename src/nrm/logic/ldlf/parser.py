"""Text to LDLf formula.

Loosest to tightest: `+`, `;`, `<->`, `->`, `^`, `|`, `&`, then `!`, `<path>` and `[path]`, then `*` and `?`. One
grammar reads formulas and paths; which of the two a part must be is known where it is used, and checked there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from lark import Token

from nrm.errors import FormulaError
from nrm.logic.ldlf.formula import Ldlf, Op
from nrm.logic.ltlf import formula as ltlf
from nrm.logic.ltlf.formula import atom
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.reading import PATH_RULES, BooleanBuild, PlacedError, Reader, symbol_name
from nrm.logic.term import BOOLEAN

_GRAMMAR = (
    r"""
?unary: postfix
    | NOT unary -> negation
    | LESS choice _GREATER unary -> diamond
    | LEFT choice _RIGHT unary -> box
?postfix: operand
    | postfix STAR -> star
    | postfix TEST -> test
?operand: _OPEN choice _CLOSE
    | (TT | FF | END | LAST | TRUE | FALSE) -> constant
    | (NAME | QUOTED) -> atom
    | NAME _OPEN argument (_COMMA argument)* _CLOSE -> call

TT.2: /tt(?!\w)/
FF.2: /ff(?!\w)/
LAST.2: /last(?!\w)/
END.2: /end(?!\w)/
LESS: "<"
_GREATER: ">"
LEFT: "["
_RIGHT: "]"
STAR: "*"
TEST: "?"
"""
    + PATH_RULES
)


class Part(NamedTuple):
    """A term, what it can be, and where it stands."""

    term: Ldlf
    kind: Literal["step", "formula", "path"]
    """A step is also a path, and, where it names symbols only, a formula."""
    position: int
    bare: bool = False
    """Whether a step uses `true` or `false`, which are no formulas."""


class PathBuild(BooleanBuild):
    """Callbacks for paths, of LDLf and of regular expressions."""

    term: type[Ldlf] = Ldlf

    def choice(self, parts: list[Part]) -> Part:
        """Paths between `+`."""
        return self._longer(self.term.flat(Op.CHOICE, *map(_path, parts)), parts)

    def sequence(self, parts: list[Part]) -> Part:
        """Paths between `;`."""
        return self._longer(self.term.flat(Op.SEQUENCE, *map(_path, parts)), parts)

    def star(self, parts: list[Any]) -> Part:
        """A path any number of times."""
        return self._longer(self.term(Op.STAR, (_path(parts[0]),)), parts)

    def disjunction(self, parts: list[Part]) -> Part:
        """A choice, where some part is no step or formula."""
        if any(part.kind == "path" for part in parts):
            return self.choice(parts)
        return self.boolean(Op.OR, parts)

    def constant(self, parts: list[Token]) -> Part:
        """A word of the language."""
        op = Op[parts[0].type]
        bare = op in (Op.TRUE, Op.FALSE)
        return Part(self.term(op), "step" if bare else "formula", parts[0].start_pos or 0, bare)

    def atom(self, parts: list[Token]) -> Part:
        """A symbol."""
        return Part(self.term(Op.ATOM, name=symbol_name(parts[0])), "step", parts[0].start_pos or 0)

    def boolean(self, op: Op, parts: list[Part]) -> Part:
        """Steps, or formulas, under a Boolean operator."""
        steps = all(part.kind == "step" for part in parts)
        terms = [part.term if steps else _formula(part) for part in parts]
        term = self.term.flat(op, *terms) if op in (Op.AND, Op.OR) else self.term(op, tuple(terms))
        bare = steps and any(part.bare for part in parts)
        return Part(term, "step" if steps else "formula", parts[0].position, bare)

    def _longer(self, term: Ldlf, parts: list[Part]) -> Part:
        return Part(term, "path", parts[0].position)


class _Build(PathBuild):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""

    def start(self, parts: list[Part]) -> Ldlf:
        return _formula(parts[0])

    def joined(self, op: str, parts: list[Part]) -> Part:
        for part in parts:
            if part.kind == "path":
                raise PlacedError(
                    f"'{Op[op].value}' is for steps and formulas, and this is a path: {part.term.brief(40)}; put the "
                    "step in parentheses, as in (!a)*, or say what holds after the path, as in <a*>tt",
                    part.position,
                )
        return self.boolean(Op[op], parts)

    def conjunction(self, parts: list[Part]) -> Part:
        return self.joined("AND", parts)

    def negation(self, parts: list[Any]) -> Part:
        token, part = parts
        return self.joined("NOT", [part])._replace(position=token.start_pos or 0)

    def diamond(self, parts: list[Any]) -> Part:
        return self._modal(Op.DIAMOND, parts)

    def box(self, parts: list[Any]) -> Part:
        return self._modal(Op.BOX, parts)

    def _modal(self, op: Op, parts: list[Any]) -> Part:
        token, path, after = parts
        return Part(Ldlf(op, (_path(path), _formula(after))), "formula", token.start_pos or 0)

    def test(self, parts: list[Any]) -> Part:
        return Part(Ldlf(Op.TEST, (_formula(parts[0]),)), "path", parts[0].position)

    def call(self, parts: list[Any]) -> Part:
        name, *given = parts
        # The pattern is built over stand-ins in LTLf, and these give way to the arguments.
        stand_ins = {f"argument {index}": _formula(part) for index, part in enumerate(given) if isinstance(part, Part)}
        names = iter(stand_ins)
        try:
            pattern = apply_pattern(str(name), [part if isinstance(part, int) else atom(next(names)) for part in given])
        except FormulaError as error:
            message = str(error)
            for stand_in, term in stand_ins.items():
                message = message.replace(f'"{stand_in}"', str(term))
            raise PlacedError(message, name.start_pos or 0) from None
        return Part(from_ltlf(pattern, stand_ins), "formula", name.start_pos or 0)


def _formula(part: Part) -> Ldlf:
    if part.kind == "path":
        raise PlacedError(
            f"a formula is expected, and this is a path: {part.term.brief(40)}; write <path>tt, or <path>end",
            part.position,
        )
    if part.bare:
        raise PlacedError(
            f"'{part.term.brief(40)}' is a step; in a formula write tt or ff, or <{part.term.brief(40)}>tt",
            part.position,
        )
    return part.term


def _path(part: Part) -> Ldlf:
    if part.kind == "formula":
        raise PlacedError(
            f"a path is expected, and this is a formula: {part.term.brief(40)}; to test it, write (formula)?",
            part.position,
        )
    return part.term


READER = Reader(
    Ldlf,
    "ldlf",
    _GRAMMAR,
    _Build,
    example="<(!c)*; a; (!c)*; b>tt",
    operand="tt, ff, '(', !, <path> or [path]",
    operators="&, |, ^, ->, <->; in paths also ;, +, *, ?",
)


parse = READER.parse


_IN_LDLF = {
    "TRUE": "tt",
    "FALSE": "ff",
    "END": "ff",
    "LAST": "last",
    "NEXT": "<true>(a & !end)",
    "WEAK_NEXT": "[true](a | end)",
    "EVENTUALLY": "<true*>(a & !end)",
    "ALWAYS": "[true*](a | end)",
    "UNTIL": "<(a?; true)*>(b & !end)",
    "RELEASE": "[((!a)?; true)*](b | end)",
    "WEAK_UNTIL": "[((!b)?; true)*](a | b | end)",
    "STRONG_RELEASE": "<(b?; true)*>(a & b & !end)",
}
"""LTLf formulas are evaluated at steps only, LDLf formulas also behind the last step: hence all the `end`."""


def from_ltlf(formula: ltlf.Formula, atoms: Mapping[str, Ldlf] | None = None) -> Ldlf:
    """The LDLf formula that holds on the same traces; `atoms`: formulas in the place of some symbols.

    Operators that look back have no counterpart in LDLf and raise `FormulaError`.
    """

    def part(node: ltlf.Formula, args: list[Ldlf]) -> Ldlf:
        op = node.op.name
        if op in _IN_LDLF:
            return parse(_IN_LDLF[op]).replaced(dict(zip("ab", args, strict=False)), flat=("AND", "OR"))
        if op in BOOLEAN:
            return (atoms or {}).get(node.name) or Ldlf(Op[op], tuple(args), node.name)
        raise FormulaError(
            f"'{node.op.value}' looks back, and LDLf has no operators for that; write the path that leads here, or "
            "use --logic ppltl"
        )

    return formula.folded(part)
