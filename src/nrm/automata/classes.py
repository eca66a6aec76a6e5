"""Letters that move every state alike, from the decision diagrams of all states' moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nrm.aliases import IntArray
from nrm.automata.diagram import Diagram
from nrm.automata.letters import MAX_LISTED, LetterClasses, LetterDiagram, ListedLetters, is_wide
from nrm.automata.mtbdd import LEAF, Limits
from nrm.automata.table import Table, equal_columns
from nrm.errors import LimitError

MAX_CELLS = 4_000_000
"""States times letter classes up to which the classes of a diagram are made."""

Tuples = list[tuple[int, ...]]
Edges = list[list[tuple[int, int]]]


class NodeTable(Protocol):
    """Nodes by number, as `Mtbdd` has them."""

    var: list[int]
    low: list[int]
    high: list[int]


def letter_classes(
    diagram: NodeTable, roots: Sequence[int], variables: int, limits: Limits
) -> tuple[LetterClasses, list[tuple[int, ...]]]:
    """The class of each of the 2^variables letters, and for each class the node that it leads to from each root.

    Walks all diagrams down together; what lies below the last variable is where a letter leads.
    """
    distinct = list(dict.fromkeys(roots))
    tuples, edges = _levels(diagram, distinct, variables, limits)
    columns: dict[tuple[int, ...], int] = {}
    for nodes in tuples:
        columns.setdefault(nodes, len(columns))
    place = {root: index for index, root in enumerate(distinct)}
    moves = [tuple(nodes[place[root]] for root in roots) for nodes in columns]
    # Where few letters share a class, an array is smaller than a diagram.
    if not is_wide(variables) or (variables <= MAX_LISTED and len(columns) * 16 >= 1 << variables):
        choice = np.zeros(1, dtype=np.int64)
        for pairs in edges:
            below = np.array(pairs)
            choice = np.concatenate([below[choice, 0], below[choice, 1]])
        return ListedLetters(choice.astype(np.int32)), moves
    return LetterDiagram.of_levels(list(map(np.array, edges)), np.arange(len(columns)), variables), moves


def _levels(diagram: NodeTable, distinct: list[int], variables: int, limits: Limits) -> tuple[Tuples, Edges]:
    """The tuples of nodes that letters lead to from some roots, and for each level where its tuples lead."""
    # Level by level: the tuples of nodes that some choice of the first atoms leads to, and where each leads.
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


def classes_of_diagram(moves: Diagram) -> tuple[LetterClasses, IntArray]:
    """The letter classes of moves, numbered by their first letter, and (states, classes) the next state."""
    states = len(moves.roots)
    low, high, roots = (array.tolist() for array in moves.places)
    leaves = list(range(states))
    nodes = _Nodes([LEAF] * states + moves.levels.tolist(), leaves + low, leaves + high)
    try:
        limits = Limits(states=states, cells=max(MAX_CELLS, states))
        letters, found = letter_classes(nodes, roots, len(moves.order), limits)
    except LimitError:
        raise LimitError(
            f"the letters of this machine fall into too many classes to be listed: {states:,} states over "
            f"{moves.propositions} propositions, and more than {MAX_CELLS:,} moves by class. Stepping, drawing, files "
            "and comparisons do without classes; what asks for them, as neural machines and shortcuts do, is for "
            "smaller tasks: split this one"
        ) from None
    columns = np.ascontiguousarray(np.array(found, dtype=np.int32).T)
    if isinstance(letters, LetterDiagram) or moves.order != tuple(range(moves.propositions)):
        letters = letters.function(len(moves.order)).placed(moves.order, moves.propositions)
    return merged_classes(letters, columns)


def merged_classes(letters: LetterClasses, columns: IntArray) -> tuple[LetterClasses, IntArray]:
    """Equal columns as one, those without a letter dropped, and classes numbered by their first letter."""
    if isinstance(letters, ListedLetters):
        table = Table(letters.numbers, columns).merged()
        return ListedLetters(table.letter_class), table.columns
    function = letters.function(0)
    groups = equal_columns(columns).tolist()
    kept: dict[int, int] = {}
    for number in function.first_letters():
        kept.setdefault(groups[number], number)
    rank = {group: place for place, group in enumerate(kept)}
    numbers = np.array([rank.get(group, 0) for group in groups])
    return function.relabelled(numbers), np.ascontiguousarray(columns[:, list(kept.values())])
