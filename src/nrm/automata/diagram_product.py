"""The product of two move diagrams: both read the same letters side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.diagram import Diagram, OwnKind, merged_order
from nrm.automata.mtbdd import LEAF, Limits, Mtbdd
from nrm.automata.partition import Numbers

SMALL = 4_000
"""Pairs of nodes up to which plain Python is faster than arrays."""
DEEPEST = 300
"""Levels up to which the walk may call itself."""


class _LargeError(Exception):
    """The product is not small."""


def diagram_product(
    left: OwnKind, right: OwnKind, limits: Limits, starts: tuple[int, int] = (0, 0)
) -> tuple[OwnKind, IntArray, IntArray]:
    """The reachable pairs of states as a diagram, the pair of both starts first, and both states of each pair."""
    both = (left.order, right.order)
    if all(list(order) == sorted(order) for order in both):
        order = tuple(sorted({proposition for order in both for proposition in order}))
    else:
        order = merged_order(*both)
    left, right = left.reordered(order), right.reordered(order)
    found = _walked(left, right, limits, starts) if len(order) <= DEEPEST else None
    return found or _by_arrays(left, right, limits, starts)


def _walked(
    left: OwnKind, right: OwnKind, limits: Limits, starts: tuple[int, int]
) -> tuple[OwnKind, IntArray, IntArray] | None:
    """The product node by node; None where it is large."""
    f_levels, f_low, f_high, f_roots = left.lists
    g_levels, g_low, g_high, g_roots = right.lists
    work: Mtbdd[tuple[int, int]] = Mtbdd(limits.nodes)
    work.leaf(starts)
    done: dict[tuple[int, int], int] = {}

    def walk(f: int, g: int) -> int:
        key = (f, g)
        result = done.get(key)
        if result is not None:
            return result
        if f < 0 and g < 0:
            result = work.leaf((-1 - f, -1 - g))
        else:
            u = f_levels[f] if f >= 0 else LEAF
            v = g_levels[g] if g >= 0 else LEAF
            if u < v:
                result = work.node(u, walk(f_low[f], g), walk(f_high[f], g))
            elif v < u:
                result = work.node(v, walk(f, g_low[g]), walk(f, g_high[g]))
            else:
                result = work.node(u, walk(f_low[f], g_low[g]), walk(f_high[f], g_high[g]))
        done[key] = result
        if len(done) > SMALL:
            raise _LargeError
        return result

    roots = []
    try:
        for a, b in work.values:  # more of them are found on the way
            roots.append(walk(f_roots[a], g_roots[b]))
            limits.check(len(work.values), 1)
    except _LargeError:
        return None

    def state(node: int) -> int | None:
        return work.low[node] if work.is_leaf(node) else None

    found = type(left).of_nodes(work, roots, state, left.order, left.propositions)
    one, two = np.array(work.values, dtype=np.int32).T
    return found, one, two


def _by_arrays(
    left: OwnKind, right: OwnKind, limits: Limits, starts: tuple[int, int]
) -> tuple[OwnKind, IntArray, IntArray]:
    """The product by arrays: all pairs of places that are found at a time, until none is new."""
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
