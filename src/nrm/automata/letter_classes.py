"""Letters that move every state alike, from the decision diagrams of all states' moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nrm.aliases import IntArray
from nrm.automata.letter_diagram import MAX_LISTED, LetterDiagram, diagram_of_levels, is_wide
from nrm.automata.minimisation import merge_columns
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.mtbdd import LEAF
from nrm.automata.tables import Letters, Limits, as_diagram
from nrm.errors import LimitError

CROWDED = 16
"""Letters in a class on average up to which all letters are listed, while they can be."""
MANY = 48
"""Roots from which on arrays are faster than tuples."""
MAX_CELLS = 4_000_000
"""States times letter classes up to which the classes of a diagram are made."""

Tuples = list[tuple[int, ...]]
Edges = list[list[tuple[int, int]]]


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
    if len(distinct) > MANY:
        tuples, edges = _levels_by_arrays(diagram, distinct, variables, limits)
    else:
        tuples, edges = _levels(diagram, distinct, variables, limits)
    columns: dict[tuple[int, ...], int] = {}
    for nodes in tuples:
        columns.setdefault(nodes, len(columns))
    place = {root: index for index, root in enumerate(distinct)}
    moves = [tuple(nodes[place[root]] for root in roots) for nodes in columns]
    # Where most letters are a class of their own, an array is smaller than a diagram.
    if not is_wide(variables) or (variables <= MAX_LISTED and len(columns) * CROWDED >= 1 << variables):
        choice = np.zeros(1, dtype=np.int64)
        for pairs in edges:
            below = np.array(pairs)
            choice = np.concatenate([below[choice, 0], below[choice, 1]])
        return choice.astype(np.int32), moves
    numbers = range(len(columns))
    return diagram_of_levels(edges, numbers, tuple(range(variables)), variables), moves


def _levels(diagram: Diagram, distinct: list[int], variables: int, limits: Limits) -> tuple[Tuples, Edges]:
    """The tuples of nodes that letters lead to from some roots, and for each level where its tuples lead."""
    # Level by level: the tuples of nodes that some choice of the first atoms leads to, and where each leads.
    tuples: Tuples = [tuple(distinct)]
    edges: Edges = []
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
    return tuples, edges


def _levels_by_arrays(diagram: Diagram, distinct: list[int], variables: int, limits: Limits) -> tuple[Tuples, Edges]:
    """As `_levels`, for many roots."""
    var, low, high = (np.array(values, dtype=np.int32) for values in (diagram.var, diagram.low, diagram.high))
    tuples = np.array([distinct], dtype=np.int32)
    edges: Edges = []
    for level in range(variables):
        following: dict[bytes, int] = {}
        places: list[list[int]] = []
        kept: list[IntArray] = []
        asking = var[tuples] == level
        for children in (low, high):
            rows = np.where(asking, children[tuples], tuples)
            numbers = []
            for row in rows:
                number = following.setdefault(row.tobytes(), len(following))
                if number == len(kept):
                    kept.append(row)
                numbers.append(number)
            places.append(numbers)
        edges.append(list(zip(*places, strict=True)))
        tuples = np.stack(kept)
        limits.check(len(distinct), len(tuples))
    return list(map(tuple, tuples.tolist())), edges


@dataclass
class _Nodes:
    """The nodes of move diagrams behind their states, which are leaves."""

    var: list[int]
    low: list[int]
    high: list[int]


def classes_of_moves(moves: MoveDiagram) -> tuple[Letters, IntArray]:
    """The letter classes of moves, numbered by their first letter, and (states, classes) the next state."""
    low, high, roots = (array.tolist() for array in moves.places)
    leaves = list(range(moves.states))
    nodes = _Nodes([LEAF] * moves.states + moves.levels.tolist(), leaves + low, leaves + high)
    limits = Limits(states=moves.states, cells=max(MAX_CELLS, moves.states))
    try:
        letters, columns = letter_classes(nodes, roots, len(moves.order), limits)
    except LimitError:
        raise LimitError(
            f"the letters of this machine fall into too many classes to be listed: {moves.states:,} states over "
            f"{moves.propositions} propositions, and more than {MAX_CELLS:,} moves by class. Stepping, drawing, files "
            "and comparisons do without classes; what asks for them, as neural machines and shortcuts do, is for "
            "smaller tasks: split this one"
        ) from None
    if isinstance(letters, LetterDiagram) or moves.order != tuple(range(moves.propositions)):
        letters = as_diagram(letters, len(moves.order)).placed(moves.order, moves.propositions)
    table, merged = merge_columns(np.ascontiguousarray(np.array(columns, dtype=np.int32).T), letters)
    return merged, table
