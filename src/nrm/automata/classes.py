"""Letters that move every state alike, from the decision diagrams of all states' moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.diagram import Diagram, NodeArrays
from nrm.automata.letters import MAX_LISTED, LetterClasses, LetterDiagram, ListedLetters, in_columns
from nrm.automata.mtbdd import Limits, Mtbdd
from nrm.automata.table import Table, equal_columns
from nrm.errors import LimitError

MAX_CELLS = 4_000_000
"""States times letter classes up to which the classes of a diagram are made."""


def letter_classes(
    diagram: Mtbdd[Any] | NodeArrays, roots: Sequence[int], variables: int, limits: Limits
) -> tuple[LetterClasses, list[list[int]]]:
    """The class of each of the 2^variables letters, and for each class the node that it leads to from each root.

    Walks all diagrams down together; what lies below the last variable is where a letter leads.
    """
    distinct, place = np.unique(np.array(roots, dtype=np.int32), return_inverse=True)
    tuples, edges = _levels(diagram, distinct, variables, limits)
    targets = tuples[:, place].tolist()
    # Where few letters share a class, an array is smaller than a diagram.
    if in_columns(variables) or (variables <= MAX_LISTED and len(tuples) * 16 >= 1 << variables):
        choice = np.zeros(1, dtype=np.int64)
        for below in edges:
            choice = np.concatenate([below[choice, 0], below[choice, 1]])
        return ListedLetters(choice.astype(np.int32)), targets
    return LetterDiagram.of_levels(edges, np.arange(len(tuples)), variables), targets


def _levels(
    diagram: Mtbdd[Any] | NodeArrays, distinct: IntArray, variables: int, limits: Limits
) -> tuple[IntArray, list[NDArray[np.int64]]]:
    """The tuples of nodes that letters lead to from some roots, and for each level (tuples, 2) where these lead."""
    var, low, high = (np.asarray(values, dtype=np.int32) for values in (diagram.var, diagram.low, diagram.high))
    tuples = distinct[None]
    edges = []
    for level in range(variables):
        # The tuples of nodes that some choice of the first variables leads to, and where each leads.
        asking = var[tuples] == level
        following: dict[bytes, int] = {}
        sides: list[list[int]] = []
        kept: list[IntArray] = []
        for children in (low, high):
            numbers = []
            for row in np.where(asking, children[tuples], tuples):
                numbers.append(following.setdefault(row.tobytes(), len(kept)))
                if numbers[-1] == len(kept):
                    kept.append(row)
            sides.append(numbers)
        edges.append(np.array(sides).T)
        tuples = np.stack(kept)
        limits.check(len(distinct), len(tuples))
    return tuples, edges


def classes_of_diagram(moves: Diagram) -> tuple[LetterClasses, IntArray]:
    """The letter classes of moves, numbered by their first letter, and (states, classes) the next state."""
    states = len(moves.roots)
    try:
        limits = Limits(states=states, cells=max(MAX_CELLS, states))
        letters, found = letter_classes(moves.arrays, moves.arrays.low[:states].tolist(), len(moves.order), limits)
    except LimitError:
        raise LimitError(
            f"the letters of this machine, {states:,} states over {moves.propositions} propositions, fall into too many "
            f"classes to be listed (more than {MAX_CELLS:,} moves), as neural machines and shortcuts need; split the task"
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
