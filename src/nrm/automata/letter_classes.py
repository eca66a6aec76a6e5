"""Letters that move every state alike, from the decision diagrams of all states' moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from nrm.aliases import IntArray
from nrm.automata.letter_diagram import DENSE, MOST_LISTED, LetterDiagram, diagram_of_levels
from nrm.automata.tables import Limits

CROWDED = 16
"""Letters in a class on average up to which all letters are listed, while they can be."""


class Diagram(Protocol):
    """Nodes by number, as `Bdd` and `Mtbdd` have them."""

    var: list[int]
    low: list[int]
    high: list[int]


def letter_classes(
    diagram: Diagram, roots: Sequence[int], variables: int, limits: Limits
) -> tuple[IntArray | LetterDiagram, list[tuple[int, ...]]]:
    """The class of each of the 2^variables letters, and for each class the node that it leads to from each root.

    Walks all diagrams down together; what lies below the last variable is where a letter leads.
    """
    distinct = list(dict.fromkeys(roots))
    columns: dict[tuple[int, ...], int] = {}
    # Level by level: the tuples of nodes that some choice of the first atoms leads to, and where each leads.
    tuples: list[tuple[int, ...]] = [tuple(distinct)]
    edges: list[list[tuple[int, int]]] = []
    var, below_low, below_high = diagram.var, diagram.low, diagram.high
    for level in range(variables):
        following: dict[tuple[int, ...], int] = {}
        lows, highs = [], []
        for nodes in tuples:
            low = tuple(below_low[n] if var[n] == level else n for n in nodes)
            high = tuple(below_high[n] if var[n] == level else n for n in nodes)
            lows.append(following.setdefault(low, len(following)))
            highs.append(following.setdefault(high, len(following)))
        edges.append(list(zip(lows, highs, strict=True)))
        tuples = list(following)
        limits.check(len(distinct), len(tuples))
    for nodes in tuples:
        columns.setdefault(nodes, len(columns))
    place = {root: index for index, root in enumerate(distinct)}
    moves = [tuple(nodes[place[root]] for root in roots) for nodes in columns]
    # Where most letters are a class of their own, an array is smaller than a diagram.
    if variables <= DENSE or (variables <= MOST_LISTED and len(columns) * CROWDED >= 1 << variables):
        choice = np.zeros(1, dtype=np.int64)
        for pairs in edges:
            below = np.array(pairs)
            choice = np.concatenate([below[choice, 0], below[choice, 1]])
        return choice.astype(np.int32), moves
    numbers = range(len(columns))
    return diagram_of_levels(edges, numbers, tuple(range(variables)), variables), moves
