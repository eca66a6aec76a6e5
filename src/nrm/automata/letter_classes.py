"""Letters that move every state alike, from the decision diagrams of all states' moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from nrm.aliases import IntArray
from nrm.automata.tables import Limits


class Diagram(Protocol):
    """Nodes by number, as `Bdd` and `Mtbdd` have them."""

    var: list[int]
    low: list[int]
    high: list[int]


def letter_classes(
    diagram: Diagram, roots: Sequence[int], variables: int, limits: Limits
) -> tuple[IntArray, list[tuple[int, ...]]]:
    """The class of each of the 2^variables letters, and for each class the node that it leads to from each root.

    Walks all diagrams down together; what lies below the last variable is where a letter leads.
    """
    distinct = list(dict.fromkeys(roots))
    columns: dict[tuple[int, ...], int] = {}
    # Level by level: the tuples of nodes that some choice of the first atoms leads to, and for each choice which.
    tuples: list[tuple[int, ...]] = [tuple(distinct)]
    choice = np.zeros(1, dtype=np.int64)
    var, below_low, below_high = diagram.var, diagram.low, diagram.high
    for level in range(variables):
        following: dict[tuple[int, ...], int] = {}
        lows, highs = [], []
        for nodes in tuples:
            low = tuple(below_low[n] if var[n] == level else n for n in nodes)
            high = tuple(below_high[n] if var[n] == level else n for n in nodes)
            lows.append(following.setdefault(low, len(following)))
            highs.append(following.setdefault(high, len(following)))
        choice = np.concatenate([np.array(lows)[choice], np.array(highs)[choice]])
        tuples = list(following)
        limits.check(len(distinct), len(tuples))
    for nodes in tuples:
        columns.setdefault(nodes, len(columns))
    place = {root: index for index, root in enumerate(distinct)}
    return choice.astype(np.int32), [tuple(nodes[place[root]] for root in roots) for nodes in columns]
