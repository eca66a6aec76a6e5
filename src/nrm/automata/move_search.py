"""Searches through move diagrams: the plainest letters that lead somewhere, and strings that tell automata apart."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from nrm.aliases import Letter, State
from nrm.automata.equivalence import Pair, path_to
from nrm.automata.letter_diagram import merged_order
from nrm.automata.move_building import reordered
from nrm.automata.move_diagram import MoveDiagram

Node = TypeVar("Node", bound=Hashable)


def plainest_moves(moves: MoveDiagram, state: State) -> Mapping[State, Letter]:
    """For each state that one leads to a letter at which as few propositions hold as possible; such letters first."""
    levels, low, high, roots = moves.lists
    order = moves.order

    def ask(node: int) -> tuple[int, int, int, int] | None:
        return None if node < 0 else (levels[node], order[levels[node]], low[node], high[node])

    return {-1 - leaf: letter for leaf, letter in _plainest(roots[state], ask, moves.propositions).items()}


def _plainest(
    root: Node, ask: Callable[[Node], tuple[int, int, Node, Node] | None], propositions: int
) -> dict[Node, Letter]:
    """For each leaf below a root the plainest letter that leads there.

    That is the one at which least holds, then the one with the least number.
    `ask`: the level and proposition of a node, and where it leads for false and true; None for a leaf.
    """
    many = 1 << propositions
    waiting: dict[int, dict[Node, int]] = {}
    questions: dict[Node, tuple[int, int, Node, Node]] = {}
    leaves: dict[Node, int] = {}
    pending: list[int] = []

    def reach(node: Node, weight: int) -> None:
        asked = questions.get(node) or ask(node)
        if asked is None:
            leaves[node] = min(leaves.get(node, weight), weight)
            return
        questions[node] = asked
        if asked[0] not in waiting:
            waiting[asked[0]] = {}
            heapq.heappush(pending, asked[0])
        here = waiting[asked[0]]
        here[node] = min(here.get(node, weight), weight)

    reach(root, 0)
    while pending:  # level by level, so every way to a node is known before it is left
        for node, weight in waiting.pop(heapq.heappop(pending)).items():
            _, proposition, low, high = questions[node]
            reach(low, weight)
            reach(high, weight + many + (1 << proposition))
    return {leaf: weight % many for leaf, weight in sorted(leaves.items(), key=lambda item: item[1])}


def distinguishing_letters(
    left: MoveDiagram, right: MoveDiagram, start: Pair, differ: Callable[[State, State], bool]
) -> tuple[list[Letter], Pair] | None:
    """A shortest string after which the states of two automata `differ`, and these states; None if there is none."""
    order = merged_order(left.order, right.order)
    left, right = reordered(left, order), reordered(right, order)
    (f_levels, f_low, f_high, f_roots), (g_levels, g_low, g_high, g_roots) = left.lists, right.lists
    below = len(order)

    def ask(pair: tuple[int, int]) -> tuple[int, int, tuple[int, int], tuple[int, int]] | None:
        f, g = pair
        if f < 0 and g < 0:
            return None
        u, v = f_levels[f] if f >= 0 else below, g_levels[g] if g >= 0 else below
        level = min(u, v)
        lows = f_low[f] if u == level else f, g_low[g] if v == level else g
        highs = f_high[f] if u == level else f, g_high[g] if v == level else g
        return level, order[level], lows, highs

    if differ(*start):
        return [], start
    parents: dict[Pair, tuple[Pair, Letter] | None] = {start: None}
    for pair in (frontier := [start]):
        found = _plainest((f_roots[pair[0]], g_roots[pair[1]]), ask, left.propositions)
        for (f, g), letter in found.items():
            target = -1 - f, -1 - g
            if target not in parents:
                parents[target] = pair, letter
                if differ(*target):
                    return path_to(target, parents), target
                frontier.append(target)
    return None
