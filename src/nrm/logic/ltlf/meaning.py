"""What LTLf formulas mean: on a trace, spelled out, which is slow and obvious; and as a minimal DFA, its twin."""

from __future__ import annotations

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


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names (the paper's section on groundability, "DFAs").

    `exclusive` says whether exactly one symbol, or any subset of the atoms, holds at each step. The atoms come in no
    particular order; compiling over an alphabet fixes it. Raises `LimitError` instead of filling the memory.
    """
    return translated(parse(formula), closure, exclusive, limits)


def closure(formula: Formula) -> Nodes:
    """The nodes of a formula."""
    return _Closure(formula).nodes


class _Closure:
    """Builds the nodes."""

    def __init__(self, formula: Formula) -> None:
        self.nodes = Nodes()
        # Each formula gets a pair: the node for it and the node for its negation.
        self.nodes.root = formula.folded(self._pair)[0]

    def _pair(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        """The nodes of a formula and of its negation, given those of its arguments."""
        nodes, op = self.nodes, node.op
        if op in PAST:
            return self._past(node, args)
        match op:
            case Op.END:
                return FALSE, TRUE
            case Op.LAST:
                return nodes.weak_next(FALSE), nodes.next(TRUE)
            case Op.ATOM:
                return nodes.atom(node.name)
            case Op.TRUE | Op.FALSE | Op.NOT | Op.AND | Op.OR | Op.XOR | Op.IMPLIES | Op.IFF:
                return nodes.boolean(op.name, args)
            case Op.NEXT:
                return nodes.next(args[0][0]), nodes.weak_next(args[0][1])
            case Op.WEAK_NEXT:
                return nodes.weak_next(args[0][0]), nodes.next(args[0][1])
            case Op.EVENTUALLY:
                return nodes.until(TRUE, args[0][0]), nodes.release(FALSE, args[0][1])
            case Op.ALWAYS:
                return nodes.release(FALSE, args[0][0]), nodes.until(TRUE, args[0][1])
            case _:
                return self._binary(op, *args)

    def _binary(self, op: Op, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        nodes = self.nodes
        (a, not_a), (b, not_b) = left, right
        match op:
            case Op.UNTIL:
                return nodes.until(a, b), nodes.release(not_a, not_b)
            case Op.RELEASE:
                return nodes.release(a, b), nodes.until(not_a, not_b)
            case Op.WEAK_UNTIL:  # a W b = b R (a | b)
                return nodes.release(b, nodes.or_(a, b)), nodes.until(not_b, nodes.and_(not_a, not_b))
            case Op.STRONG_RELEASE:  # a M b = b U (a & b)
                return nodes.until(b, nodes.and_(a, b)), nodes.release(not_b, nodes.or_(not_a, not_b))
            case _:
                raise AssertionError(op)

    def _past(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        if any(part.op in FUTURE for part in node.postorder()):
            raise FormulaError(
                f"not supported: the past operator '{node.op.value}' over a future operator in '{node}'; "
                "past operators may stand inside future ones, but not the other way round"
            )
        nodes = self.nodes
        was, was_not = nodes.bit()
        match node.op:
            case Op.YESTERDAY:
                nodes.tracked.append(args[0])
                return was, was_not
            case Op.ONCE:
                pair = nodes.or_(args[0][0], was), nodes.and_(args[0][1], was_not)
            case Op.HISTORICALLY:
                # The bit starts false, so it remembers the negation, "it failed once".
                pair = nodes.and_(args[0][0], was_not), nodes.or_(args[0][1], was)
                nodes.tracked.append((pair[1], pair[0]))
                return pair
            case _:
                (a, not_a), (b, not_b) = args
                pair = (
                    nodes.or_(b, nodes.and_(a, was)),
                    nodes.and_(not_b, nodes.or_(not_a, was_not)),
                )
        nodes.tracked.append(pair)
        return pair
