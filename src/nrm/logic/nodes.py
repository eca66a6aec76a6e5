"""What a formula demands of a trace, as a table of small integer nodes, whatever language it was written in.

Negation stands only before atoms, and the temporal operators are strong and weak next, until and release. What was
read before this step is known by *memory bits*: bit k is the value, one step ago, of the k-th tracked node. Nodes are
shared, so `<->` and `^` cost no more than their arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import reduce

from nrm.automata import FALSE, TRUE


class NodeKind(IntEnum):
    """What a node is; the meaning of `first` and `second` follows it."""

    FALSE = 0
    TRUE = 1
    ATOM = 2  # first: index of the atom, second: 1 when positive
    BIT = 3  # first: index of the memory bit, second: 1 when positive
    AND = 4  # parts
    OR = 5  # parts
    NEXT = 6  # first: node that must hold at the next step, which must exist
    WEAK_NEXT = 7  # first: node that must hold at the next step, if there is one
    UNTIL = 8  # first U second
    RELEASE = 9  # first R second


class Nodes:
    """The nodes of one formula. Children have smaller numbers than parents, except below next operators."""

    def __init__(self) -> None:
        self.kinds: list[NodeKind] = []
        self.firsts: list[int] = []
        self.seconds: list[int] = []
        self.parts: list[tuple[int, ...]] = []
        self.atoms: list[str] = []
        self.tracked: list[tuple[int, int]] = []
        """For each memory bit: the node whose value it remembers, and that node's negation."""
        self.root = 0
        """The formula itself."""
        self._numbers: dict[tuple[NodeKind, int, int, tuple[int, ...]], int] = {}
        self._node(NodeKind.FALSE)
        self._node(NodeKind.TRUE)

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

    def atom(self, name: str) -> tuple[int, int]:
        """The nodes of an atom and of its negation."""
        index = self._atom(name)
        return self._node(NodeKind.ATOM, index, 1), self._node(NodeKind.ATOM, index, 0)

    def boolean(self, op: str, args: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """The nodes of a Boolean operator, by its name, and of its negation, given those of its arguments."""
        match op:
            case "TRUE":
                return TRUE, FALSE
            case "FALSE":
                return FALSE, TRUE
            case "NOT":
                return args[0][1], args[0][0]
            case "AND":
                return self.and_(*(yes for yes, _ in args)), self.or_(*(no for _, no in args))
            case "OR":
                return self.or_(*(yes for yes, _ in args)), self.and_(*(no for _, no in args))
        (a, not_a), (b, not_b) = args
        if op == "IMPLIES":
            return self.or_(not_a, b), self.and_(a, not_b)
        same = self.or_(self.and_(a, b), self.and_(not_a, not_b))
        differ = self.or_(self.and_(a, not_b), self.and_(not_a, b))
        return (same, differ) if op == "IFF" else (differ, same)

    def put_off(self, node: int) -> tuple[int, bool] | None:
        """What a temporal node puts off to the next step, and whether that is met when there is none."""
        kind = self.kinds[node]
        if kind not in (NodeKind.NEXT, NodeKind.WEAK_NEXT, NodeKind.UNTIL, NodeKind.RELEASE):
            return None
        source = self.firsts[node] if kind in (NodeKind.NEXT, NodeKind.WEAK_NEXT) else node
        return source, kind in (NodeKind.WEAK_NEXT, NodeKind.RELEASE)

    def bit(self) -> tuple[int, int]:
        """The nodes of a new memory bit and of its negation; what it remembers is to be added to `tracked`."""
        index = len(self.tracked)
        return self._node(NodeKind.BIT, index, 1), self._node(NodeKind.BIT, index, 0)

    def and_(self, *nodes: int) -> int:
        """The conjunction of nodes."""
        return self._join(NodeKind.AND, TRUE, FALSE, nodes)

    def or_(self, *nodes: int) -> int:
        """The disjunction of nodes."""
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

    def next(self, node: int) -> int:
        """There is a next step, and the node holds there."""
        return FALSE if node == FALSE else self._node(NodeKind.NEXT, node)

    def weak_next(self, node: int) -> int:
        """The node holds at the next step, if there is one."""
        return TRUE if node == TRUE else self._node(NodeKind.WEAK_NEXT, node)

    def until(self, left: int, right: int) -> int:
        """`right` comes to hold, and `left` holds at every step before."""
        if right in (TRUE, FALSE) or left == FALSE:
            return right
        if self.kinds[right] is NodeKind.UNTIL and self.firsts[right] == left:
            return right
        return self._node(NodeKind.UNTIL, left, right)

    def release(self, left: int, right: int) -> int:
        """The dual of `until`."""
        if right in (TRUE, FALSE) or left == TRUE:
            return right
        if self.kinds[right] is NodeKind.RELEASE and self.firsts[right] == left:
            return right
        return self._node(NodeKind.RELEASE, left, right)


Sets = list[frozenset[int]]


def eventualities(nodes: Nodes) -> Sets:
    """For each node the nodes `true U f` that hold wherever it does."""
    return _followed(nodes, NodeKind.AND, NodeKind.OR, NodeKind.NEXT, NodeKind.UNTIL, TRUE)


def invariants(nodes: Nodes) -> Sets:
    """For each node the nodes `false R f` that it holds wherever they do: the dual of `eventualities`."""
    return _followed(nodes, NodeKind.OR, NodeKind.AND, NodeKind.WEAK_NEXT, NodeKind.RELEASE, FALSE)


def _followed(
    nodes: Nodes, joining: NodeKind, meeting: NodeKind, later: NodeKind, lasting: NodeKind, trivial: int
) -> Sets:
    found: Sets = [frozenset()] * len(nodes.kinds)
    for node, kind in enumerate(nodes.kinds):
        first, second = nodes.firsts[node], nodes.seconds[node]
        if kind is joining:
            found[node] = frozenset().union(*(found[part] for part in nodes.parts[node]))
        elif kind is meeting:
            found[node] = reduce(frozenset.intersection, (found[part] for part in nodes.parts[node]))
        elif kind is later:
            found[node] = found[first] if first < node else frozenset()
        elif kind in (NodeKind.UNTIL, NodeKind.RELEASE):
            own = frozenset((node,)) if kind is lasting and first == trivial else frozenset()
            found[node] = found[second] | own
    return found
