"""Moves of automata, from states and letters to states; the one place where their form is chosen.

`Table` has a column for each class of letters, and serves symbols of which one holds and few propositions.
`MoveDiagram` has a decision diagram for each state, and serves many propositions. Both have the same methods, so what
stands on moves need not ask which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, State
from nrm.automata.letters import Classes, LetterClasses, in_columns
from nrm.automata.move_diagram import MoveDiagram, unpacked_diagrams
from nrm.automata.mtbdd import Limits, Mtbdd
from nrm.automata.partition import letter_classes
from nrm.automata.table import Table, unpacked_tables

Moves: TypeAlias = Table | MoveDiagram
"""From states and letters to states; `Table` says what each method is."""


class Moving:
    """What automata and machines tell of their moves; classes are made when asked for."""

    moves: Moves

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.moves.states

    @cached_property
    def _by_class(self) -> Classes:
        return self.moves.classes()

    @property
    def letters(self) -> LetterClasses:
        """From letters to their classes (columns)."""
        return self._by_class.letters

    @property
    def columns(self) -> IntArray:
        """(states, classes) the next state."""
        return self._by_class.columns

    @cached_property
    def letter_class(self) -> IntArray:
        """(letters,) the class (column) of each letter; an error where propositions are too many to list letters."""
        return self.letters.listed()

    @cached_property
    def absorbing(self) -> BoolArray:
        """(states,) the states that no letter leaves."""
        return self.moves.absorbing()


def moves_of_classes(letters: LetterClasses, columns: IntArray, propositions: int | None) -> Moves:
    """The moves (states, classes) of letter classes; `propositions`: None where letters are no subsets of some."""
    if propositions is not None and not in_columns(propositions):
        return MoveDiagram.of_classes(letters.function(propositions), columns)
    return Table(letters.listed(), columns)


def moves_of_nodes(
    table: Mtbdd[Any], roots: Sequence[int], state: Callable[[int], State], propositions: int, limits: Limits
) -> Moves:
    """The moves of states whose decision diagrams stand in a table of nodes.

    `state`: that of a node below the variables 0 to `propositions` - 1.
    """
    if not in_columns(propositions):

        def leaf(node: int) -> State | None:
            return state(node) if table.var[node] >= propositions else None

        return MoveDiagram.of_nodes(table, roots, leaf, tuple(range(propositions)), propositions)
    letters, targets = letter_classes(table, roots, propositions, limits)
    columns = np.array([[state(node) for node in nodes] for nodes in targets], dtype=np.int32)
    return Table(letters.listed(), np.ascontiguousarray(columns.T))


def placed(moves: Moves, bits: Sequence[int], propositions: int) -> Moves:
    """Moves over more propositions: proposition i becomes number `bits[i]` of so many."""
    if not in_columns(propositions) and in_columns(len(bits)):
        letters, columns = moves.classes()
        moves = MoveDiagram.of_classes(letters.function(len(bits)), columns)
    return moves.placed(bits, propositions)


def read_diagram(propositions: int, parts: dict[str, Any]) -> Moves:
    """The moves that `Moves.described` wrote as a `diagram`; `MachineError` where they are none."""
    return MoveDiagram.read(propositions, **parts)


def unpacked(sizes: NDArray[np.int64], arrays: dict[str, NDArray[Any]], propositions: int) -> Sequence[Moves]:
    """The moves that `Moves.packed` wrote, of which each has so many states; `ValueError` where they do not fit."""
    return unpacked_diagrams(sizes, arrays, propositions) if "nodes" in arrays else unpacked_tables(sizes, arrays)
