"""LTLf to a minimal DFA."""

from __future__ import annotations

from nrm.automata import DEFAULT_LIMITS, FALSE, TRUE, Dfa, Limits
from nrm.errors import FormulaError
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op
from nrm.logic.ltlf.parser import parse
from nrm.logic.nodes import Nodes
from nrm.logic.progression import translated


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
