"""Which obligations follow from which, as far as that is plain to see.

`F(a & X F b)` says that `F b` holds, now and at every step before the last. So where both are owed as alternatives the
first is superfluous: without that, a chain of n tasks has states for all sets of links, and not just n.
"""

from __future__ import annotations

from functools import reduce

from nrm.logic.progression.nodes import FALSE, TRUE, NodeKind, Nodes

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
