"""Pure-past LTL: formulas that look back from the last step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from nrm.aliases import Trace
from nrm.automata import DEFAULT_LIMITS, Dfa, Limits
from nrm.errors import FormulaError
from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ltlf.formula import FUTURE, Formula, Op, both, either, prefix
from nrm.logic.ltlf.meaning import closure, truths
from nrm.logic.ltlf.parser import GRAMMAR, builder
from nrm.logic.ltlf.patterns import (
    PATTERNS,
    WRITTEN,
    Part,
    PatternArgument,
    apply_pattern,
    at_least_one,
    filled,
)
from nrm.logic.ltlf.words import past_in_words
from nrm.logic.nodes import Nodes
from nrm.logic.progression import translated
from nrm.logic.reading import Reader
from nrm.logic.symbols import steps_of


def ordered_visit(*places: Part) -> Formula:
    """`O(b & O a) & O(a & !Y O b)`."""
    chain = at_least_one("ordered_visit", places)
    return both(sequenced_visit(*chain), *(_NOT_BEFORE(before, after) for before, after in pairwise(chain)))


def strictly_ordered_visit(*places: Part) -> Formula:
    """The same, and for neighbours `O(b & Y(!a S (a & !Y O a)))`."""
    chain = at_least_one("strictly_ordered_visit", places)
    return both(ordered_visit(*chain), *(_ONCE_BEFORE(before, after) for before, after in pairwise(chain)))


def reach_avoid(goal: Part, *hazards: Part) -> Formula:
    """`O(a & !Y O b)`."""
    return _NOT_BEFORE(goal, either(*at_least_one("reach_avoid", hazards)))


_NOT_BEFORE = filled("O(a & !Y O b)")
"""The first has come, and the second did not before it."""
_ONCE_BEFORE = filled("O(b & Y(!a S (a & !Y O a)))")
_BACKWARDS = {Op.EVENTUALLY: Op.ONCE, Op.ALWAYS: Op.HISTORICALLY, Op.NEXT: Op.YESTERDAY}


def _looking_back(build: Callable[..., Formula]) -> Callable[..., Formula]:
    """A pattern that says the same of a trace read backwards: with O, H and Y for F, G and X."""

    def built(*args: Part, **named: int) -> Formula:
        return build(*args, **named).folded(
            lambda node, parts: Formula(_BACKWARDS.get(node.op, node.op), tuple(parts), node.name)
        )

    return built


def sequenced_visit(*places: Part) -> Formula:
    """`O(c & O(b & O a))`."""
    return _looking_back(PATTERNS["sequenced_visit"].build)(*reversed(places))


_OWN = {build.__name__: build for build in (sequenced_visit, ordered_visit, strictly_ordered_visit, reach_avoid)}
_WRITTEN = {name: filled(written.past) for name, written in WRITTEN.items()}
# Of the others, which count or compare, the order of steps does not matter.
_ALIKE = {name: _looking_back(pattern.build) for name, pattern in PATTERNS.items()}
PAST_PATTERNS = {name: (_ALIKE | _WRITTEN | _OWN)[name] for name in PATTERNS}


def apply_past_pattern(name: str, arguments: Sequence[PatternArgument]) -> Formula:
    """Call a pattern in the past."""
    return apply_pattern(name, arguments, PAST_PATTERNS)


_NEAREST = {
    Op.EVENTUALLY: "O f (f held at some step so far)",
    Op.ALWAYS: "H f (f held at every step so far)",
    Op.NEXT: "Y f (there was a step before, and f held there)",
    Op.WEAK_NEXT: "!Y !f (f held at the step before, if there was one)",
    Op.UNTIL: "f S g (g held at some step, and f at every step since)",
}
_REFUSED = {
    op: f"'{op.value}' looks ahead, and pure-past LTL speaks of the steps so far"
    + (f"; its counterpart is {_NEAREST[op]}" if op in _NEAREST else "")
    for op in FUTURE
}

past_builder = partial(builder, apply_past_pattern, _REFUSED)
"""What reads formulas of the past."""

READER = Reader(
    Formula,
    "ppltl",
    GRAMMAR,
    past_builder(),
    example="O(b & O a) & H !c",
    operand="true, false, '(' or a prefix operator (!, Y, O, H)",
    operators="&, |, ^, ->, <->, S",
)


def parse(text: str | Formula) -> Formula:
    """Read a formula of pure-past LTL; a `Formula` without future operators is returned as it is."""
    formula = READER.parse(text)
    if formula is text and (ahead := next((part for part in formula.postorder() if part.op in FUTURE), None)):
        raise FormulaError(f"{_REFUSED[ahead.op]}: {ahead.brief(60)}")
    return formula


def holds(formula: Formula | str, trace: Trace) -> bool:
    """Whether `formula` holds at the last step of a non-empty `trace`."""
    return truths(parse(formula), steps_of(trace, "pure-past LTL"))[-1]


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of the non-empty traces at whose last step the formula holds."""

    def at_the_end(part: Formula) -> Nodes:
        return closure(prefix(Op.EVENTUALLY, both(Formula(Op.LAST), part)))

    return translated(parse(formula), at_the_end, exclusive, limits)


__all__ = ["PPLTL", "holds", "parse", "translate"]

PPLTL: Language[Formula] = LANGUAGES.register(
    Language("ppltl", "pure-past LTL", parse, translate, holds, reader=READER, words=past_in_words)
)
