"""The product of two move diagrams: both read the same letters side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.diagram import Diagram, OwnKind
from nrm.automata.mtbdd import LEAF, Limits
from nrm.automata.partition import Numbers


def diagram_product(
    left: OwnKind, right: OwnKind, limits: Limits, starts: tuple[int, int] = (0, 0)
) -> tuple[OwnKind, IntArray, IntArray]:
    """The reachable pairs of states as a diagram, the pair of both starts first, and both states of each pair.

    All pairs of places that are found at a time are followed, until none is new.
    """
    order = tuple(sorted({*left.order, *right.order}))
    left, right = left.reordered(order), right.reordered(order)
    one, two = _Side(left), _Side(right)
    numbers = Numbers(one.width * two.width)
    first = np.array([starts[0] * two.width + starts[1]], dtype=np.int64)
    numbers.of(first)
    found, steps, states = [first], [], 1
    for frontier in found:
        f, g = np.divmod(frontier, two.width)
        u, v = one.levels[f], two.levels[g]
        top = np.minimum(u, v)
        leaves = top == LEAF
        lows, highs = (
            np.where(u <= v, a[f], f) * two.width + np.where(v <= u, b[g], g)
            for a, b in ((one.low, two.low), (one.high, two.high))
        )
        fresh, places = numbers.of(np.stack([lows, highs], axis=1).ravel())
        steps.append((top, places.reshape(-1, 2)))
        states += int(leaves.sum())
        limits.check(states, 1)
        limits.check_nodes(numbers.count)
        if fresh.size:
            found.append(fresh)
    codes = np.concatenate(found)
    top = np.concatenate([part for part, _ in steps])
    below = np.concatenate([part for _, part in steps]).astype(np.int64)
    states_at = np.flatnonzero(top == LEAF)
    nodes_at = np.flatnonzero(top != LEAF)
    nodes_at = nodes_at[np.argsort(-top[nodes_at], kind="stable")]
    reference = np.empty(len(codes), dtype=np.int64)
    reference[states_at] = -1 - np.arange(len(states_at))
    reference[nodes_at] = np.arange(len(nodes_at))
    low, high = reference[below[nodes_at]].T
    diagram = type(left).reduced(
        top[nodes_at], low, high, reference[below[states_at, 0]], left.order, left.propositions
    )
    a, b = np.divmod(codes[states_at], two.width)
    return diagram, a.astype(np.int32), b.astype(np.int32)


class _Side:
    """One diagram as places: states first, then nodes. What lies below a state is its root."""

    def __init__(self, diagram: Diagram) -> None:
        low, high, roots = diagram.places
        self.width = len(diagram.roots) + diagram.nodes
        levels = np.concatenate([np.full(len(diagram.roots), LEAF), diagram.levels])
        self.levels: NDArray[np.int64] = levels.astype(np.int64)
        self.low = np.concatenate([roots, low])
        self.high = np.concatenate([roots, high])
