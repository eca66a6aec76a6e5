"""A formula in negation normal form, as a table of small integer nodes.

Negation stands only before atoms, and the temporal operators are strong and weak next, until and release. Past
operators become Boolean formulas over *memory bits*: bit k is the value, one step ago, of the k-th tracked formula.
Nodes are shared, so `<->` and `^` cost no more than their arguments. Subformulas whose automata are known already can
be left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from nrm.automata import Dfa
from nrm.errors import FormulaError
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op


class NodeKind(IntEnum):
    """What a node is; the meaning of `first` and `second` follows it."""

    TRUE = 0
    FALSE = 1
    ATOM = 2  # first: index of the atom, second: 1 when positive
    BIT = 3  # first: index of the memory bit, second: 1 when positive
    AND = 4  # parts
    OR = 5  # parts
    NEXT = 6  # first: node that must hold at the next step, which must exist
    WEAK_NEXT = 7  # first: node that must hold at the next step, if there is one
    UNTIL = 8  # first U second
    RELEASE = 9  # first R second
    AUTOMATON = 10  # first: index of the automaton that stands for a subformula


TRUE = 0
FALSE = 1


class Closure:
    """The nodes of one formula. `root` is the formula itself; children have smaller numbers than parents."""

    def __init__(self, formula: Formula, known: Mapping[Formula, Dfa]) -> None:
        self.kinds: list[NodeKind] = []
        self.firsts: list[int] = []
        self.seconds: list[int] = []
        self.parts: list[tuple[int, ...]] = []
        self.atoms: list[str] = []
        self.tracked: list[tuple[int, int]] = []
        """For each memory bit: the node whose value it remembers, and that node's negation."""
        self.automata: list[Dfa] = []
        self._numbers: dict[tuple[NodeKind, int, int, tuple[int, ...]], int] = {}
        self._node(NodeKind.TRUE)
        self._node(NodeKind.FALSE)
        # Each formula gets a pair: the node for it and the node for its negation.
        pairs: dict[Formula, tuple[int, int]] = {}
        for node in formula.postorder(leaves=known):
            if node in known:
                pairs[node] = self._automaton(known[node]), self._automaton(known[node].complement())
            else:
                pairs[node] = self._pair(node, [pairs[arg] for arg in node.args])
        self.root = pairs[formula][0]

    def _node(self, kind: NodeKind, first: int = 0, second: int = 0, parts: tuple[int, ...] = ()) -> int:
        key = (kind, first, second, parts)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.kinds)
            self.kinds.append(kind)
            self.firsts.append(first)
            self.seconds.append(second)
            self.parts.append(parts)
        return number

    def _atom(self, name: str) -> int:
        if name not in self.atoms:
            self.atoms.append(name)
        return self.atoms.index(name)

    def _automaton(self, automaton: Dfa) -> int:
        for name in automaton.atoms:
            self._atom(name)
        self.automata.append(automaton)
        return self._node(NodeKind.AUTOMATON, len(self.automata) - 1)

    def _pair(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        """The nodes of a formula and of its negation, given those of its arguments."""
        op = node.op
        if op in PAST:
            return self._past(node, args)
        match op:
            case Op.TRUE:
                return TRUE, FALSE
            case Op.FALSE | Op.END:
                return FALSE, TRUE
            case Op.LAST:
                return self._weak_next(FALSE), self._next(TRUE)
            case Op.ATOM:
                index = self._atom(node.name)
                return self._node(NodeKind.ATOM, index, 1), self._node(NodeKind.ATOM, index, 0)
            case Op.NOT:
                return args[0][1], args[0][0]
            case Op.AND:
                return self._and(*(yes for yes, _ in args)), self._or(*(no for _, no in args))
            case Op.OR:
                return self._or(*(yes for yes, _ in args)), self._and(*(no for _, no in args))
            case Op.NEXT:
                return self._next(args[0][0]), self._weak_next(args[0][1])
            case Op.WEAK_NEXT:
                return self._weak_next(args[0][0]), self._next(args[0][1])
            case Op.EVENTUALLY:
                return self._until(TRUE, args[0][0]), self._release(FALSE, args[0][1])
            case Op.ALWAYS:
                return self._release(FALSE, args[0][0]), self._until(TRUE, args[0][1])
            case _:
                return self._binary(op, *args)

    def _binary(self, op: Op, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        (a, not_a), (b, not_b) = left, right
        match op:
            case Op.IMPLIES:
                return self._or(not_a, b), self._and(a, not_b)
            case Op.IFF | Op.XOR:
                same = self._or(self._and(a, b), self._and(not_a, not_b))
                differ = self._or(self._and(a, not_b), self._and(not_a, b))
                return (same, differ) if op is Op.IFF else (differ, same)
            case Op.UNTIL:
                return self._until(a, b), self._release(not_a, not_b)
            case Op.RELEASE:
                return self._release(a, b), self._until(not_a, not_b)
            case Op.WEAK_UNTIL:  # a W b = b R (a | b)
                return self._release(b, self._or(a, b)), self._until(not_b, self._and(not_a, not_b))
            case Op.STRONG_RELEASE:  # a M b = b U (a & b)
                return self._until(b, self._and(a, b)), self._release(not_b, self._or(not_a, not_b))
            case _:
                raise AssertionError(op)

    def _past(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        if any(part.op in FUTURE for part in node.postorder()):
            raise FormulaError(
                f"not supported: the past operator '{node.op.value}' over a future operator in '{node}'; "
                "past operators may stand inside future ones, but not the other way round"
            )
        bit = len(self.tracked)
        was, was_not = self._node(NodeKind.BIT, bit, 1), self._node(NodeKind.BIT, bit, 0)
        match node.op:
            case Op.YESTERDAY:
                self.tracked.append(args[0])
                return was, was_not
            case Op.ONCE:
                pair = self._or(args[0][0], was), self._and(args[0][1], was_not)
            case Op.HISTORICALLY:
                # The bit starts false, so it remembers the negation, "it failed once".
                pair = self._and(args[0][0], was_not), self._or(args[0][1], was)
                self.tracked.append((pair[1], pair[0]))
                return pair
            case _:
                (a, not_a), (b, not_b) = args
                pair = self._or(b, self._and(a, was)), self._and(not_b, self._or(not_a, was_not))
        self.tracked.append(pair)
        return pair

    def _and(self, *nodes: int) -> int:
        return self._join(NodeKind.AND, TRUE, FALSE, nodes)

    def _or(self, *nodes: int) -> int:
        return self._join(NodeKind.OR, FALSE, TRUE, nodes)

    def _join(self, kind: NodeKind, neutral: int, absorbing: int, nodes: tuple[int, ...]) -> int:
        parts: set[int] = set()
        for node in nodes:
            parts.update(self.parts[node] if self.kinds[node] is kind else (node,))
        parts.discard(neutral)
        if absorbing in parts:
            return absorbing
        for node in parts:
            if self.kinds[node] in (NodeKind.ATOM, NodeKind.BIT) and self.seconds[node]:
                opposite = self._numbers.get((self.kinds[node], self.firsts[node], 0, ()))
                if opposite in parts:
                    return absorbing
        if not parts:
            return neutral
        return parts.pop() if len(parts) == 1 else self._node(kind, parts=tuple(sorted(parts)))

    def _next(self, node: int) -> int:
        return FALSE if node == FALSE else self._node(NodeKind.NEXT, node)

    def _weak_next(self, node: int) -> int:
        return TRUE if node == TRUE else self._node(NodeKind.WEAK_NEXT, node)

    def _until(self, left: int, right: int) -> int:
        if right in (TRUE, FALSE) or left == FALSE:
            return right
        if self.kinds[right] is NodeKind.UNTIL and self.firsts[right] == left:
            return right
        return self._node(NodeKind.UNTIL, left, right)

    def _release(self, left: int, right: int) -> int:
        if right in (TRUE, FALSE) or left == TRUE:
            return right
        if self.kinds[right] is NodeKind.RELEASE and self.firsts[right] == left:
            return right
        return self._node(NodeKind.RELEASE, left, right)
