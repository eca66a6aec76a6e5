"""The named patterns in the past: each says of the steps so far what its namesake in LTLf says of the whole trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from nrm.logic.ltlf.formula import TRUE, Formula, Op, both, either, infix, prefix
from nrm.logic.ltlf.patterns import (
    PATTERNS,
    Part,
    PatternArgument,
    apply_pattern,
    as_formula,
    at_least_one,
)


def sequenced_visit(*places: Part) -> Formula:
    """`O(c & O(b & O a))`."""
    first, *others = at_least_one("sequenced_visit", places)
    result = _once(first)
    for place in others:
        result = _once(both(place, result))
    return result


def ordered_visit(*places: Part) -> Formula:
    """`O(b & O a) & O(a & !Y O b)`."""
    chain = at_least_one("ordered_visit", places)
    return both(sequenced_visit(*chain), *(_until(~after, before) for before, after in pairwise(chain)))


def strictly_ordered_visit(*places: Part) -> Formula:
    """The same, and for neighbours `O(b & Y(!a S (a & !Y O a)))`."""
    chain = at_least_one("strictly_ordered_visit", places)
    once = (
        _once(both(after, _before(_since(~before, both(before, ~_before(_once(before)))))))
        for before, after in pairwise(chain)
    )
    return both(ordered_visit(*chain), *once)


def reach_avoid(goal: Part, *hazards: Part) -> Formula:
    """`O(a & !Y O b)`."""
    return _until(~either(*at_least_one("reach_avoid", hazards)), as_formula(goal))


def init(event: Part) -> Formula:
    """`O(a & !Y true)`."""
    return _once(both(as_formula(event), ~_before(TRUE)))


def response(cause: Part, effect: Part) -> Formula:
    """`!(!b S (a & !b))`."""
    a, b = as_formula(cause), as_formula(effect)
    return ~_since(~b, both(a, ~b))


def precedence(cause: Part, effect: Part) -> Formula:
    """`H(b -> O a)`."""
    return _whenever(effect, _once(cause))


def succession(cause: Part, effect: Part) -> Formula:
    """Response and precedence together."""
    return both(response(cause, effect), precedence(cause, effect))


def alternate_response(cause: Part, effect: Part) -> Formula:
    """`!(!b S a) & H(a & Y(!b S a) -> b)`."""
    a, b = as_formula(cause), as_formula(effect)
    waiting = _since(~b, a)
    return both(~waiting, _whenever(both(a, _before(waiting)), b))


def alternate_precedence(cause: Part, effect: Part) -> Formula:
    """`H(b -> a | Y(!b S (a & !b)))`."""
    a, b = as_formula(cause), as_formula(effect)
    return _whenever(b, either(a, _before(_since(~b, both(a, ~b)))))


def chain_response(cause: Part, effect: Part) -> Formula:
    """`!a & H(Y a -> b)`."""
    return both(~as_formula(cause), _whenever(_before(as_formula(cause)), as_formula(effect)))


def chain_precedence(cause: Part, effect: Part) -> Formula:
    """`H(b -> Y a)`."""
    return _whenever(effect, _before(as_formula(cause)))


_OWN: tuple[Callable[..., Formula], ...] = (
    sequenced_visit,
    ordered_visit,
    strictly_ordered_visit,
    reach_avoid,
    init,
    response,
    precedence,
    succession,
    alternate_response,
    alternate_precedence,
    chain_response,
    chain_precedence,
)
_BACKWARDS = {Op.EVENTUALLY: Op.ONCE, Op.ALWAYS: Op.HISTORICALLY, Op.NEXT: Op.YESTERDAY}


def _looking_back(build: Callable[..., Formula]) -> Callable[..., Formula]:
    """A pattern that says the same of a trace read backwards: with O, H and Y for F, G and X."""

    def built(*args: Part, **named: int) -> Formula:
        done: dict[Formula, Formula] = {}
        formula = build(*args, **named)
        for node in formula.postorder():
            op = _BACKWARDS.get(node.op, node.op)
            done[node] = Formula(op, tuple(done[arg] for arg in node.args), node.name)
        return done[formula]

    return built


_ALIKE = (
    *("visit", "global_avoidance", "patrol", "existence", "absence", "exactly", "at_most_once"),
    *("responded_existence", "coexistence", "not_coexistence"),
)
"""Patterns that count or compare, for which the order of steps does not matter."""
_BUILDERS = {build.__name__: build for build in _OWN} | {name: _looking_back(PATTERNS[name].build) for name in _ALIKE}
PAST_PATTERNS = {name: _BUILDERS[name] for name in PATTERNS}


def apply_past_pattern(name: str, arguments: Sequence[PatternArgument]) -> Formula:
    """Call a pattern in the past."""
    return apply_pattern(name, arguments, PAST_PATTERNS)


def _once(part: Part) -> Formula:
    return prefix(Op.ONCE, as_formula(part))


def _before(part: Formula) -> Formula:
    return prefix(Op.YESTERDAY, part)


def _since(left: Formula, right: Formula) -> Formula:
    return infix(Op.SINCE, left, right)


def _until(left: Formula, right: Formula) -> Formula:
    """`right` has come, and `left` held at every step before it."""
    return _once(both(right, ~_before(_once(~left))))


def _whenever(cause: Part, consequence: Formula) -> Formula:
    return prefix(Op.HISTORICALLY, infix(Op.IMPLIES, as_formula(cause), consequence))
