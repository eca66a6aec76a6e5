"""Transition tables as integer arrays: what a DFA and a Moore machine have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, State
from nrm.automata.letter_diagram import LetterDiagram, diagram_of_table
from nrm.errors import LimitError

Letters: TypeAlias = IntArray | LetterDiagram
"""From letters to their classes."""


class Table(NamedTuple):
    """Moves by letter *class*: letters that move every state alike share a column.

    So a thousand symbols of which a formula names two cost three columns.
    """

    letters: Letters
    """(letters,) the class of each letter; where propositions are many, the diagram that leads letters to classes."""
    columns: IntArray
    """(states, classes) the next state."""
    initial: State = 0

    @property
    def letter_class(self) -> IntArray:
        """(letters,) the class of each letter, where these can be listed."""
        return listed(self.letters)


@dataclass(frozen=True)
class Limits:
    """How much work a translation may do before it stops with a `LimitError`."""

    states: int = 100_000
    """Most states of any automaton on the way."""
    cells: int = 50_000_000
    """Most entries of any transition table on the way (states times letter classes)."""
    nodes: int = 2_000_000
    """Most nodes of a decision diagram."""

    def check(self, states: int, classes: int) -> None:
        """Raise `LimitError` when an automaton of this size is too large."""
        if states > self.states or states * classes > self.cells:
            raise LimitError(
                f"the automaton passes the limit at {states:,} states and {classes:,} letter classes "
                f"(limits: {self.states:,} states, {self.cells:,} table entries); simplify the formula, split it "
                "into several tasks, or raise the limit (--max-states, Limits(...))"
            )

    def check_nodes(self, nodes: int) -> None:
        """Raise `LimitError` when a decision diagram of so many nodes is too large."""
        if nodes > self.nodes:
            raise LimitError(
                f"the formula needs more than {self.nodes:,} decision diagram nodes; "
                "simplify it, split it into several tasks, or raise the limit (Limits(nodes=...))"
            )


DEFAULT_LIMITS = Limits()
_FEW = 150
"""Values up to which plain Python is faster than sorting arrays."""


def by_first_occurrence(values: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each value its number in order of first occurrence, and where each distinct value occurs first."""
    if len(values) <= _FEW:
        firsts: dict[int, int] = {}
        given = values.tolist()
        for at, value in enumerate(given):
            firsts.setdefault(value, at)
        numbers = {value: number for number, value in enumerate(firsts)}
        return (
            np.array([numbers[value] for value in given], dtype=np.int64),
            np.array(list(firsts.values()), dtype=np.int64),
        )
    _, first, ranks = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[ranks], first[order]


def bfs_order(columns: IntArray, initial: int) -> IntArray:
    """The states reachable from `initial`, in breadth-first order (by parent, then by column)."""
    seen = np.zeros(len(columns), dtype=bool)
    seen[initial] = True
    first = np.empty(len(columns), dtype=np.int64)
    frontier = np.array([initial], dtype=np.int32)
    levels = [frontier]
    while frontier.size and not seen.all():
        targets = columns[frontier].ravel()
        targets = targets[~seen[targets]]
        # Written back to front, so that the first occurrence of each target is what stays.
        first[targets[::-1]] = np.arange(len(targets) - 1, -1, -1)
        seen[targets] = True
        found = targets[first[targets] == np.arange(len(targets))]
        levels.append(found)
        frontier = found
    return np.concatenate(levels)


def renumber(columns: IntArray, order: IntArray) -> IntArray:
    """The table restricted to the states in `order` (closed under transitions), numbered by their place in it."""
    if len(order) == len(columns) and (order[1:] > order[:-1]).all():
        return columns
    place = np.full(len(columns), -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    renumbered: IntArray = place[columns[order]]
    return renumbered


def absorbing_states(columns: IntArray) -> BoolArray:
    """The states that no letter leaves."""
    result: BoolArray = (columns == np.arange(len(columns), dtype=np.int32)[:, None]).all(axis=1)
    return result


def distances(columns: IntArray, goals: BoolArray) -> IntArray:
    """For each state the least number of steps to a goal state, and -1 where none can be reached."""
    result = np.where(goals, 0, -1).astype(np.int32)
    steps = 0
    while True:
        steps += 1
        arriving = (result < 0) & (result[columns] == steps - 1).any(axis=1)
        if not arriving.any():
            return result
        result[arriving] = steps


def as_diagram(letters: Letters, propositions: int) -> LetterDiagram:
    """The diagram of letter classes over so many propositions."""
    return letters if isinstance(letters, LetterDiagram) else diagram_of_table(letters.tolist(), propositions)


def classes_at(letters: Letters, numbers: NDArray[np.int64]) -> IntArray:
    """(…) the classes of the letters with these numbers (…), however many letters there are."""
    return letters.take(numbers).astype(np.int32) if isinstance(letters, LetterDiagram) else letters[numbers]


def listed(letters: Letters) -> IntArray:
    """(letters,) the class of each letter; an error where propositions are too many to list letters."""
    return letters.table() if isinstance(letters, LetterDiagram) else letters
