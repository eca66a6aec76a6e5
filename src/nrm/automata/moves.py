"""Moves of automata in either form: a table by letter classes, or a diagram state by state.

Tables serve exclusive alphabets and few propositions; past that every construction works on diagrams. Both have the
same operations here, so what stands on them need not ask which it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, State
from nrm.automata import minimisation, tables
from nrm.automata.diagram_minimisation import diagram_congruence, diagram_quotient, renumbered
from nrm.automata.diagram_product import diagram_product
from nrm.automata.letter_classes import classes_of_moves
from nrm.automata.letter_diagram import LetterDiagram
from nrm.automata.minimisation import Blocks
from nrm.automata.move_building import ascending, moves_of_classes
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.product import product as table_product
from nrm.automata.tables import Letters, Limits, Table, as_diagram, listed

Moves: TypeAlias = Table | MoveDiagram
"""From states and letters to states."""


class Moving:
    """What automata and machines tell of their moves, whichever form these have; classes are made when asked for."""

    moves: Moves

    @property
    def states(self) -> int:
        """How many states there are."""
        return states_of(self.moves)

    @cached_property
    def table(self) -> Table:
        """The moves by letter classes; an error where these are too many."""
        return by_classes(self.moves)

    @property
    def letters(self) -> Letters:
        """(letters,) the class (column) of each letter; where propositions are many, the diagram that leads there."""
        return self.table.letters

    @property
    def columns(self) -> IntArray:
        """(states, classes) the next state."""
        return self.table.columns

    @cached_property
    def letter_class(self) -> IntArray:
        """(letters,) the class (column) of each letter; an error where propositions are too many to list letters."""
        return listed(self.letters)

    @cached_property
    def absorbing(self) -> BoolArray:
        """(states,) the states that no letter leaves."""
        return absorbing(self.moves)


def states_of(moves: Moves) -> int:
    """How many states there are."""
    return moves.states if isinstance(moves, MoveDiagram) else len(moves.columns)


def in_diagrams(moves: Moves) -> bool:
    """Whether letters stand in a diagram, for there are too many for an array."""
    return isinstance(moves, MoveDiagram) or isinstance(moves.letters, LetterDiagram)


def by_classes(moves: Moves) -> Table:
    """The moves by letter classes; an error where these are too many."""
    return Table(*classes_of_moves(moves)) if isinstance(moves, MoveDiagram) else moves


def by_states(moves: Moves, propositions: int) -> MoveDiagram:
    """The moves over propositions as a diagram state by state."""
    if isinstance(moves, MoveDiagram):
        return moves
    return moves_of_classes(as_diagram(moves.letters, propositions), moves.columns)


def absorbing(moves: Moves) -> BoolArray:
    """(states,) the states that no letter leaves."""
    return moves.absorbing() if isinstance(moves, MoveDiagram) else tables.absorbing_states(moves.columns)


def entered(moves: Moves, state: State) -> bool:
    """Whether some state moves to this one."""
    return moves.entered(state) if isinstance(moves, MoveDiagram) else bool((moves.columns == state).any())


def moving_alike(moves: Moves, state: State) -> IntArray:
    """The states that every letter leads where it leads from this one, itself among them."""
    if isinstance(moves, MoveDiagram):
        return np.flatnonzero(moves.roots == moves.roots[state]).astype(np.int32)
    return np.flatnonzero((moves.columns == moves.columns[state]).all(axis=1)).astype(np.int32)


def distances(moves: Moves, goals: BoolArray) -> IntArray:
    """For each state the least number of steps to a goal state, and -1 where none can be reached."""
    return moves.distances(goals) if isinstance(moves, MoveDiagram) else tables.distances(moves.columns, goals)


def congruence(moves: Moves, labels: NDArray[np.generic]) -> Blocks:
    """The coarsest partition of states that respects `labels` (states,) and every letter."""
    if isinstance(moves, MoveDiagram):
        return diagram_congruence(moves, labels)
    return minimisation.coarsest_congruence(moves.columns, labels)


def quotient(moves: Moves, blocks: Blocks) -> tuple[Moves, IntArray]:
    """The moves over blocks, and for each block one state that stands for it."""
    if isinstance(moves, MoveDiagram):
        return diagram_quotient(moves, blocks)
    columns, kept = minimisation.quotient(moves.columns, blocks)
    return Table(moves.letters, columns), kept


def halted(moves: Moves, states: IntArray) -> Moves:
    """The moves, but for some states, which no letter leaves any more."""
    if isinstance(moves, MoveDiagram):
        roots = moves.roots.copy()
        roots[states] = -1 - states
        return renumbered(replace(moves, roots=roots), np.arange(moves.states, dtype=np.int32))
    columns = moves.columns.copy()
    columns[states] = states[:, None]
    return Table(moves.letters, columns)


def canonical(moves: Moves, initial: State) -> tuple[Moves, IntArray]:
    """The reachable part in breadth-first order by letter, and the old number of each state."""
    if isinstance(moves, MoveDiagram):
        moves = ascending(moves)
        kept = np.array(moves.reached(initial), dtype=np.int32)
        if np.array_equal(kept, np.arange(moves.states)):
            return moves, kept
        return renumbered(moves, kept), kept
    return minimisation.canonical(Table(moves.letters, moves.columns, initial))


def product(
    left: Moves, right: Moves, propositions: int | None, limits: Limits, starts: tuple[State, State] = (0, 0)
) -> tuple[Moves, IntArray, IntArray]:
    """The reachable pairs of states, the pair of both starts first, and both states of each pair.

    `propositions`: how many both are over; None where symbols exclude each other.
    """
    if propositions is not None and any(in_diagrams(moves) for moves in (left, right)):
        return diagram_product(by_states(left, propositions), by_states(right, propositions), limits, starts)
    one, two = (
        Table(moves.letters, moves.columns, start)
        for moves, start in zip(map(by_classes, (left, right)), starts, strict=True)
    )
    return table_product(one, two, limits)
