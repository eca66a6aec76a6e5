"""What LTLf formulas mean: on a trace, spelled out, which is slow and obvious; and as a minimal DFA, its twin."""

from __future__ import annotations

from functools import partial

from nrm.aliases import Trace
from nrm.automata import DEFAULT_LIMITS, FALSE, TRUE, Dfa, Limits
from nrm.errors import FormulaError
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op
from nrm.logic.ltlf.parser import parse
from nrm.logic.nodes import Nodes
from nrm.logic.progression import translated
from nrm.logic.symbols import steps_of
from nrm.logic.term import boolean_value


def holds(formula: Formula | str, trace: Trace) -> bool:
    """Whether a trace satisfies an LTLf formula.

    A step is the name of the one true symbol, or a collection of the true propositions. An empty trace raises
    `TraceError`.
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
            return _comes(args[0], args[1], future)
        case Op.WEAK_UNTIL:
            return _comes(args[0], args[1], future) or all(args[0][then] for then in future)
        case Op.RELEASE:
            return not _comes([not x for x in args[0]], [not x for x in args[1]], future)
        case Op.STRONG_RELEASE:
            return _comes(args[1], [x and y for x, y in zip(*args, strict=True)], future)
        case Op.YESTERDAY:
            return now > 0 and args[0][now - 1]
        case Op.ONCE:
            return any(args[0][then] for then in past)
        case Op.HISTORICALLY:
            return all(args[0][then] for then in past)
        case Op.SINCE:
            return _comes(args[0], args[1], past)
        case _:
            return boolean_value(node.op.name, [arg[now] for arg in args])


def _comes(left: list[bool], right: list[bool], order: range) -> bool:
    """Walking along `order`, `right` comes true, and `left` holds at every step before that."""
    return any(
        right[then] and all(left[between] for between in order[:distance]) for distance, then in enumerate(order)
    )


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names (the paper's section on groundability, "DFAs").

    `exclusive` says whether exactly one symbol, or any subset of the atoms, holds at each step. The atoms come in no
    particular order; compiling over an alphabet fixes it. Raises `LimitError` instead of filling the memory.
    """
    return translated(parse(formula), closure, exclusive, limits)


Pair = tuple[int, int]
"""The nodes of a formula and of its negation."""
_ALL: Pair = (TRUE, FALSE)


def closure(formula: Formula) -> Nodes:
    """The nodes of a formula."""
    nodes = Nodes()
    nodes.root = formula.folded(partial(_pair, nodes))[0]
    return nodes


def _pair(nodes: Nodes, node: Formula, args: list[Pair]) -> Pair:
    """The nodes of a formula and of its negation, given those of its arguments."""
    op = node.op
    if op in PAST:
        return _past(nodes, node, args)
    match op:
        case Op.END:
            return FALSE, TRUE
        case Op.LAST:
            return nodes.weak_next(FALSE), nodes.next(TRUE)
        case Op.ATOM:
            return nodes.atom(node.name)
        case Op.NEXT:
            return nodes.next(args[0][0]), nodes.weak_next(args[0][1])
        case Op.WEAK_NEXT:
            return nodes.weak_next(args[0][0]), nodes.next(args[0][1])
        case Op.EVENTUALLY:
            return _until(nodes, _ALL, args[0])
        case Op.ALWAYS:
            return _not(_until(nodes, _ALL, _not(args[0])))
        case Op.UNTIL:
            return _until(nodes, *args)
        case Op.RELEASE:
            return _not(_until(nodes, *map(_not, args)))
        case Op.WEAK_UNTIL:  # a W b = !(!b U !(a | b))
            return _not(_until(nodes, _not(args[1]), _not(nodes.boolean("OR", args))))
        case Op.STRONG_RELEASE:  # a M b = b U (a & b)
            return _until(nodes, args[1], nodes.boolean("AND", args))
        case _:
            return nodes.boolean(op.name, args)


def _not(pair: Pair) -> Pair:
    return pair[::-1]


def _until(nodes: Nodes, left: Pair, right: Pair) -> Pair:
    return nodes.until(left[0], right[0]), nodes.release(left[1], right[1])


def _past(nodes: Nodes, node: Formula, args: list[Pair]) -> Pair:
    if any(part.op in FUTURE for part in node.postorder()):
        raise FormulaError(
            f"not supported: the past operator '{node.op.value}' over a future operator in '{node}'; "
            "past operators may stand inside future ones, but not the other way round"
        )
    match node.op:
        case Op.YESTERDAY:
            before = nodes.bit()
            nodes.tracked.append(args[0])
            return before
        case Op.ONCE:
            return _since(nodes, _ALL, args[0])
        case Op.HISTORICALLY:  # the bit starts false, so it remembers the negation, "it failed once"
            return _not(_since(nodes, _ALL, _not(args[0])))
        case _:
            return _since(nodes, *args)


def _since(nodes: Nodes, left: Pair, right: Pair) -> Pair:
    was, was_not = nodes.bit()
    (a, not_a), (b, not_b) = left, right
    pair = nodes.or_(b, nodes.and_(a, was)), nodes.and_(not_b, nodes.or_(not_a, was_not))
    nodes.tracked.append(pair)
    return pair
