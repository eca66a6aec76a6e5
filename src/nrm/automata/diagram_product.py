"""The product of two move diagrams: both read the same letters side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.letter_diagram import merged_order
from nrm.automata.move_building import diagram_of_nodes, reduced, reordered
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.mtbdd import LEAF
from nrm.automata.product import Numbers
from nrm.automata.tables import Limits

SMALL = 4_000
"""Pairs of nodes up to which plain Python is faster than arrays."""
DEEPEST = 300
"""Levels up to which the walk may call itself."""


class _LargeError(Exception):
    """The product is not small."""


def diagram_product(
    left: MoveDiagram, right: MoveDiagram, limits: Limits, starts: tuple[int, int] = (0, 0)
) -> tuple[MoveDiagram, IntArray, IntArray]:
    """The reachable pairs of states as a diagram, the pair of both starts first, and both states of each pair."""
    both = (left.order, right.order)
    if all(list(order) == sorted(order) for order in both):
        order = tuple(sorted({proposition for order in both for proposition in order}))
    else:
        order = merged_order(*both)
    left, right = reordered(left, order), reordered(right, order)
    found = _walked(left, right, limits, starts) if len(order) <= DEEPEST else None
    return found or _by_arrays(left, right, limits, starts)


def _walked(
    left: MoveDiagram, right: MoveDiagram, limits: Limits, starts: tuple[int, int]
) -> tuple[MoveDiagram, IntArray, IntArray] | None:
    """The product node by node; None where it is large."""
    f_levels, f_low, f_high, f_roots = left.lists
    g_levels, g_low, g_high, g_roots = right.lists
    numbers = {starts: 0}
    pairs = [starts]
    # Own nodes by number; states are found by -1 - number.
    var: list[int] = []
    low: list[int] = []
    high: list[int] = []
    unique: dict[tuple[int, int, int], int] = {}
    done: dict[tuple[int, int], int] = {}

    def walk(f: int, g: int) -> int:
        key = (f, g)
        result = done.get(key)
        if result is not None:
            return result
        if f < 0 and g < 0:
            pair = (-1 - f, -1 - g)
            number = numbers.setdefault(pair, len(pairs))
            if number == len(pairs):
                pairs.append(pair)
            result = -1 - number
        else:
            u = f_levels[f] if f >= 0 else LEAF
            v = g_levels[g] if g >= 0 else LEAF
            if u < v:
                one, two, level = walk(f_low[f], g), walk(f_high[f], g), u
            elif v < u:
                one, two, level = walk(f, g_low[g]), walk(f, g_high[g]), v
            else:
                one, two, level = walk(f_low[f], g_low[g]), walk(f_high[f], g_high[g]), u
            if one == two:
                result = one
            else:
                result = unique.setdefault((level, one, two), len(var))
                if result == len(var):
                    var.append(level)
                    low.append(one)
                    high.append(two)
        done[key] = result
        if len(done) > SMALL:
            raise _LargeError
        return result

    roots = []
    try:
        for a, b in pairs:
            roots.append(walk(f_roots[a], g_roots[b]))
            limits.check(len(pairs), 1)
    except _LargeError:
        return None
    diagram = diagram_of_nodes(
        var, low, high, roots, lambda node: -1 - node if node < 0 else None, left.order, left.propositions
    )
    a, b = np.array(pairs, dtype=np.int32).T
    return diagram, a, b


def _by_arrays(
    left: MoveDiagram, right: MoveDiagram, limits: Limits, starts: tuple[int, int]
) -> tuple[MoveDiagram, IntArray, IntArray]:
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
    diagram = reduced(top[nodes_at], low, high, reference[below[states_at, 0]], left.order, left.propositions)
    a, b = np.divmod(codes[states_at], two.width)
    return diagram, a.astype(np.int32), b.astype(np.int32)


class _Side:
    """One diagram as places: states first, then nodes. What lies below a state is its root."""

    def __init__(self, diagram: MoveDiagram) -> None:
        low, high, roots = diagram.places
        self.width = diagram.states + diagram.nodes
        levels = np.concatenate([np.full(diagram.states, LEAF), diagram.levels])
        self.levels: NDArray[np.int64] = levels.astype(np.int64)
        self.low = np.concatenate([roots, low])
        self.high = np.concatenate([roots, high])
