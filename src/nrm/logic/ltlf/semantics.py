"""What a formula means on a trace, spelled out: slow, obvious, and the twin that the translation is tested against."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic.ltlf.formula import Formula, Op
from nrm.logic.ltlf.parser import parse
from nrm.logic.symbols import steps_of
from nrm.logic.term import boolean_value


def holds(formula: Formula | str, trace: Trace) -> bool:
    """Whether `trace` satisfies the LTLf `formula` at its first step.

    A step is the name of the one symbol that holds, or a collection of the propositions that are true. LTLf speaks of
    non-empty traces: an empty one raises `TraceError`.
    """
    return truths(parse(formula), steps_of(trace, "LTLf"))[0]


def truths(formula: Formula, steps: list[frozenset[str]]) -> list[bool]:
    """Whether a formula of future and past operators holds at each step."""
    return formula.folded(lambda node, args: [_at(node, args, steps, now) for now in range(len(steps))])


def _at(node: Formula, args: list[list[bool]], steps: list[frozenset[str]], now: int) -> bool:
    """The truth of `node` at step `now`, given the truth of its arguments at every step."""
    final = len(steps) - 1
    future = range(now, len(steps))
    past = range(now, -1, -1)
    match node.op:
        case Op.END:  # true only past the last step, where no formula is evaluated
            return False
        case Op.LAST:
            return now == final
        case Op.ATOM:
            return node.name in steps[now]
        case Op.NEXT:
            return now < final and args[0][now + 1]
        case Op.WEAK_NEXT:
            return now == final or args[0][now + 1]
        case Op.EVENTUALLY:
            return any(args[0][then] for then in future)
        case Op.ALWAYS:
            return all(args[0][then] for then in future)
        case Op.UNTIL:
            return _until(args[0], args[1], future)
        case Op.WEAK_UNTIL:
            return _until(args[0], args[1], future) or all(args[0][then] for then in future)
        case Op.RELEASE:
            return not _until([not x for x in args[0]], [not x for x in args[1]], future)
        case Op.STRONG_RELEASE:
            return _until(args[1], [x and y for x, y in zip(*args, strict=True)], future)
        case Op.YESTERDAY:
            return now > 0 and args[0][now - 1]
        case Op.ONCE:
            return any(args[0][then] for then in past)
        case Op.HISTORICALLY:
            return all(args[0][then] for then in past)
        case Op.SINCE:
            return _until(args[0], args[1], past)
        case _:
            return boolean_value(node.op.name, [arg[now] for arg in args])


def _until(left: list[bool], right: list[bool], order: range) -> bool:
    """Walking along `order`, `right` comes true, and `left` holds at every step before that."""
    return any(
        right[then] and all(left[between] for between in order[:distance]) for distance, then in enumerate(order)
    )
