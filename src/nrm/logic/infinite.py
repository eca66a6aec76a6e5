"""Tasks on infinite traces: Boolean combinations of statements about the finite prefixes of a trace.

LTLf+ and PPLTL+ (Aminof, De Giacomo, Rubin and Vardi, 2024) quantify over prefixes: E(φ), some prefix satisfies φ;
A(φ), all do; AE(φ), infinitely many do; EA(φ), all but finitely many do. LTL is rewritten into the same form where that
is exact; see `_Ltl`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce
from typing import Any, ClassVar, NoReturn

from lark import Token

from nrm.errors import FormulaError, shorten
from nrm.logic.language import LANGUAGES, Language, Value
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op, both, either, infix, prefix
from nrm.logic.ltlf.parser import GRAMMAR, LtlfBuild, builder, looks_ahead_in_the_past, parse
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.ltlf.words import in_words, phrase
from nrm.logic.ppltl import READER as PAST_READER
from nrm.logic.ppltl import past_builder
from nrm.logic.reading import BOOLEAN_RULES, PlacedError, Reader
from nrm.logic.term import Term


class InfiniteOp(Enum):
    """Boolean operators, and statements about a finite formula, which is the name of the leaf."""

    NOT = "!"
    AND = "&"
    OR = "|"
    XOR = "^"
    IMPLIES = "->"
    IFF = "<->"
    SOME = "E"
    ALL = "A"
    OFTEN = "AE"
    LASTING = "EA"
    REPEATED = "GF"
    """The formula comes true again and again: LTL's GF of a co-safe formula."""
    EACH = "G"
    """The formula comes true from every step on: LTL's G of a co-safe formula."""


class InfiniteFormula(Term):
    """A statement about infinite traces. A leaf's `name` is the text of its formula over finite traces."""

    __slots__ = ()

    op: InfiniteOp
    infix: ClassVar[Mapping[Any, int]] = {
        InfiniteOp.IFF: 1,
        InfiniteOp.IMPLIES: 2,
        InfiniteOp.XOR: 3,
        InfiniteOp.OR: 4,
        InfiniteOp.AND: 5,
    }

    def rendered(self, text: dict[Any, str]) -> str:
        """A leaf as a call."""
        return super().rendered(text) if self.args else f"{self.op.value}({self.name})"

    def atoms(self) -> tuple[str, ...]:
        """The symbols of the finite formulas."""
        leaves = (parse(node.name) for node in self.postorder() if not node.args)
        return tuple(dict.fromkeys(name for leaf in leaves for name in leaf.atoms()))

    def with_leaves(self, change: Callable[[str], str]) -> InfiniteFormula:
        """The same about other finite formulas."""
        return self.folded(lambda node, args: InfiniteFormula(node.op, tuple(args), node.name and change(node.name)))


def leaf(op: InfiniteOp, formula: Formula) -> InfiniteFormula:
    """A statement about a finite formula."""
    return InfiniteFormula(op, (), str(formula))


def _joined(op: str, parts: list[InfiniteFormula]) -> InfiniteFormula:
    if op in ("AND", "OR"):
        return InfiniteFormula.flat(InfiniteOp[op], *parts)
    return InfiniteFormula(InfiniteOp[op], tuple(parts))


@dataclass(frozen=True)
class InfiniteLanguage(Language[Value]):
    """A language of infinite tasks."""

    normal: Callable[[Value], InfiniteFormula] | None = None
    """A formula as statements about LTLf formulas."""


def is_infinite(logic: str) -> bool:
    """Whether a language speaks of infinite traces."""
    return isinstance(LANGUAGES[logic], InfiniteLanguage)


def infinite_normal(formula: Any, logic: str) -> InfiniteFormula:
    """A formula of an infinite language as statements about LTLf formulas; an error where the language is finite."""
    normal = getattr(LANGUAGES[logic], "normal", None)
    if normal is None:
        raise FormulaError(
            f"'{formula.brief(60)}' is a finite task ({logic}); write an infinite one: --logic ltl, ltlf+, ppltl+"
        )
    found: InfiniteFormula = normal(formula)
    return found


def _needs_finite(label: str, formula: Any, *_: object) -> NoReturn:
    raise FormulaError(
        f"'{shorten(str(formula))}' is infinite ({label}), and a finite one is needed here (ltlf, ldlf, ppltl, re). "
        "Infinite tasks are for nrm compile, explain, shortcuts, train, evaluate and watch (nrm.compile_infinite)"
    )


def _language(
    label: str, reader: Reader[Any], normal: Callable[[Any], InfiniteFormula], words: Callable[[Any], str]
) -> None:
    name, refuse = reader.logic, partial(_needs_finite, label)
    made = InfiniteLanguage(name, label, reader.parse, refuse, refuse, reader=reader, normal=normal, words=words)
    LANGUAGES.register(made)


# LTLf+ and PPLTL+

_QUANTIFIED = r"""
?start: outer_equivalence
?outer_conjunction: outer_unary (_AND outer_unary)*
?outer_unary: outer_operand | NOT outer_unary -> negation
?outer_operand: _OPEN outer_equivalence _CLOSE
    | (SOME | ALL | OFTEN | LASTING) _OPEN equivalence _CLOSE -> quantified
SOME.3: /E(?=\s*\()/
ALL.3: /A(?=\s*\()/
OFTEN.3: /AE(?=\s*\()/
LASTING.3: /EA(?=\s*\()/
"""
_LEVELS = re.compile(r"\b(equivalence|implication|exclusive_or|disjunction|conjunction)\b")
_OUTER_RULES = _LEVELS.sub(r"outer_\1", "\n".join(line for line in BOOLEAN_RULES.splitlines() if line.startswith("?")))


def _outer(op: str) -> Callable[[Any, list[InfiniteFormula]], InfiniteFormula]:
    """Read from the left; the grammar groups implications to the right."""
    if op in ("AND", "OR"):
        return lambda _, parts: _joined(op, parts)
    return lambda _, parts: reduce(lambda left, right: _joined(op, [left, right]), parts)


class _Quantified(LtlfBuild):
    """Callbacks for statements outside, and finite formulas inside."""

    outer_equivalence = _outer("IFF")
    outer_implication = _outer("IMPLIES")
    outer_exclusive_or = _outer("XOR")
    outer_disjunction = _outer("OR")
    outer_conjunction = _outer("AND")

    def negation(self, parts: list[Any]) -> InfiniteFormula:
        return InfiniteFormula(InfiniteOp.NOT, (parts[1],))

    def quantified(self, parts: list[Any]) -> InfiniteFormula:
        quantifier, formula = parts
        return leaf(InfiniteOp[quantifier.type], formula)


def _quantified(logic: str, build: Callable[[], Any], example: str) -> Reader[InfiniteFormula]:
    return Reader(
        InfiniteFormula,
        logic,
        GRAMMAR.replace("?start: equivalence", _QUANTIFIED + _OUTER_RULES),
        build,
        example=example,
        operand="E(φ), A(φ), AE(φ), EA(φ), '(' or !",
        operators="&, |, ^, ->, <->",
    )


_PHRASES = {
    "SOME": "some prefix satisfies: {0}",
    "ALL": "every prefix satisfies: {0}",
    "OFTEN": "infinitely many prefixes satisfy: {0}",
    "LASTING": "from some step on every prefix satisfies: {0}",
}


def _words(formula: InfiniteFormula, inside: Callable[[str], str]) -> str:
    def said(node: InfiniteFormula, args: list[str]) -> str:
        if node.args:
            return phrase(node, [f"({arg})" for arg in args], {})
        return _PHRASES[node.op.name].format(inside(node.name))

    return formula.folded(said)


def _at_the_end(text: str) -> str:
    """The LTLf formula that says of the last step what a pure-past formula says."""
    return f"F(last & ({text}))"


_language(
    "LTLf+",
    _quantified("ltlf+", builder(apply_pattern, {}, _Quantified), "AE(F(a & last)) & A(G !b)"),
    lambda formula: formula,
    partial(_words, inside=lambda text: in_words(parse(text))),
)
_language(
    "PPLTL+",
    _quantified("ppltl+", past_builder(_Quantified), "AE(a) & A(H !b)"),
    lambda formula: formula.with_leaves(_at_the_end),
    partial(_words, inside=lambda text: f"at its last step {in_words(PAST_READER.parse(text))}"),
)


# LTL

_Dual = tuple[Formula, Formula, bool]
"""A formula and its negation, negations pushed inwards, and whether it looks ahead."""
_DUALS = {
    Op.NEXT: Op.NEXT,
    Op.EVENTUALLY: Op.ALWAYS,
    Op.ALWAYS: Op.EVENTUALLY,
    Op.UNTIL: Op.RELEASE,
    Op.RELEASE: Op.UNTIL,
    Op.WEAK_UNTIL: Op.STRONG_RELEASE,
    Op.STRONG_RELEASE: Op.WEAK_UNTIL,
}


def _dual(node: Formula, args: list[_Dual]) -> _Dual:
    if not any(ahead for *_, ahead in args) and node.op not in FUTURE:
        return node, node.args[0] if node.op is Op.NOT else ~node, False
    yes, no = [arg[0] for arg in args], [arg[1] for arg in args]
    match node.op:
        case Op.NOT:
            return no[0], yes[0], True
        case Op.AND:
            return both(*yes), either(*no), True
        case Op.OR:
            return either(*yes), both(*no), True
        case Op.IMPLIES:
            return either(no[0], yes[1]), both(yes[0], no[1]), True
        case Op.IFF | Op.XOR:
            alike = both(either(no[0], yes[1]), either(yes[0], no[1]))  # G distributes over these
            apart = both(either(*yes), either(*no))
            return (alike, apart, True) if node.op is Op.IFF else (apart, alike, True)
        case _:
            other = _DUALS[node.op]
            if node.op in (Op.WEAK_UNTIL, Op.STRONG_RELEASE):
                return Formula(node.op, tuple(yes)), infix(other, *no), True
            return Formula(node.op, tuple(yes)), Formula(other, tuple(no)), True


_GUARANTEES = frozenset({Op.NEXT, Op.EVENTUALLY, Op.UNTIL, Op.STRONG_RELEASE})


def _co_safe(formula: Formula) -> Formula | None:
    """The formula with negations pushed inwards, if a finite prefix always shows that it holds."""
    pushed = formula.folded(_dual)[0]
    return pushed if all(part.op not in FUTURE or part.op in _GUARANTEES for part in pushed.postorder()) else None


def _looks(formula: Formula, ways: frozenset[Op]) -> bool:
    return any(part.op in ways for part in formula.postorder())


class _OutsideError(Exception):
    """A part of an LTL formula that is outside of the fragment."""

    def __init__(self, part: Formula, said: str = "") -> None:
        super().__init__(said or _OUTSIDE)
        self.part = part


def normal_form(formula: Formula) -> InfiniteFormula:
    """LTL as statements about prefixes: Boolean combinations of co-safe φ, safe φ, G of co-safe φ and F of safe φ.

    A co-safe formula holds if some prefix satisfies it, and a safe one is the negation of a co-safe one. Rewriting is
    exact; what is outside of the fragment raises `_OutsideError`.
    """
    if (pushed := _co_safe(formula)) is not None:
        return leaf(InfiniteOp.SOME, pushed)
    if (pushed := _co_safe(~formula)) is not None:
        return InfiniteFormula(InfiniteOp.NOT, (leaf(InfiniteOp.SOME, pushed),))
    if formula.op.name in InfiniteOp.__members__:
        parts = _together(formula) if formula.op in (Op.AND, Op.OR) else formula.args
        return _joined(formula.op.name, [normal_form(part) for part in parts])
    try:
        if formula.op is Op.ALWAYS:
            return _always(formula.args[0].folded(_dual)[0])
        if formula.op is Op.EVENTUALLY:  # F φ = !G !φ
            return InfiniteFormula(InfiniteOp.NOT, (_always(formula.args[0].folded(_dual)[1]),))
    except _OutsideError:
        pass
    raise _OutsideError(formula)


def _together(formula: Formula) -> list[Formula]:
    """The parts of a conjunction or disjunction, of which those that are co-safe, or safe, are one statement."""
    groups: dict[str, list[Formula]] = {}
    for part in formula.args:
        key = "co-safe" if _co_safe(part) else "safe" if _co_safe(~part) else str(part)
        if part not in (group := groups.setdefault(key, [])):
            group.append(part)
    return [Formula.flat(formula.op, *group) for group in groups.values()]


def _always(part: Formula) -> InfiniteFormula:
    """G of a formula whose negations are pushed inwards."""
    inner = part.args[0] if part.op in (Op.EVENTUALLY, Op.ALWAYS) else part
    if part.op is Op.AND:
        return _joined("AND", [normal_form(prefix(Op.ALWAYS, one)) for one in part.args])
    if part.op is Op.ALWAYS or (part.op is Op.EVENTUALLY and inner.op in (Op.EVENTUALLY, Op.ALWAYS)):
        return normal_form(part if inner.op is Op.ALWAYS else prefix(Op.ALWAYS, inner))  # GG = G, GFF = GF, GFG = FG
    if part.op is Op.EVENTUALLY and not _looks(inner, FUTURE):
        return leaf(InfiniteOp.OFTEN, prefix(Op.EVENTUALLY, both(Formula(Op.LAST), inner)))
    if _co_safe(part) is None or _looks(part, PAST):
        raise _OutsideError(part)
    return leaf(InfiniteOp.REPEATED, inner) if part.op is Op.EVENTUALLY else leaf(InfiniteOp.EACH, part)


class _Ltl(LtlfBuild):
    """Remembers where operators stand, to point at a part that is not supported."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self._places: dict[Formula, int] = {}

    def prefix(self, parts: list[Any]) -> Formula:
        return self._placed(super().prefix(parts), parts[0])

    def infix(self, parts: list[Any]) -> Formula:
        return self._placed(super().infix(parts), parts[1])

    def _placed(self, formula: Formula, token: Token) -> Formula:
        self._places.setdefault(formula, token.start_pos or 0)
        return formula

    def start(self, parts: list[Formula]) -> Formula:
        places, self._places = self._places, {}
        try:
            _checked(parts[0])
        except _OutsideError as error:
            raise PlacedError(str(error), places.get(error.part, 0), alike=False) from None
        return parts[0]


MAX_NESTING = 100
"""Deepest nesting of a formula of LTL."""


def _checked(formula: Formula) -> InfiniteFormula:
    if formula.depth > MAX_NESTING:
        raise _OutsideError(formula, f"operators are nested more than {MAX_NESTING} deep; write a flatter formula")
    if looks_ahead_in_the_past(formula):
        raise _OutsideError(formula, "a past operator stands over a future one, which is not supported")
    return normal_form(formula)


def _ltl_normal(formula: Formula) -> InfiniteFormula:
    try:
        return _checked(formula)
    except _OutsideError as error:  # of a formula that was not read from text
        raise FormulaError(f"{error}: {error.part.brief(60)}") from None


_NO_END = {
    op: f"'{op.value}' speaks of the last step, and an infinite trace has none"
    for op in (Op.WEAK_NEXT, Op.LAST, Op.END)
}
_OUTSIDE = (
    "this part is outside of the supported fragment of LTL: Boolean combinations of co-safe formulas (of F, U, M, X), "
    "safe ones (of G, R, W, X), G of a co-safe and F of a safe one, as in GF(a & F b); rewrite it, or use ltlf+"
)

_language(
    "LTL",
    Reader(
        Formula,
        "ltl",
        re.sub(r"(?<=[FGX])\(\?!\\w\)", r"(?=[FGX]*(?!\\w))", GRAMMAR).replace("?start", "start"),  # GF is G F
        builder(apply_pattern, _NO_END, _Ltl),
        example="GF a & GF b & G !c",
        operand="true, false, '(' or a prefix operator (!, X, F, G, Y, O, H)",
        operators="&, |, ^, ->, <->, U, R, W, M, S",
        means=lambda _: False,  # its texts look like those of LTLf
    ),
    _ltl_normal,
    in_words,
)
