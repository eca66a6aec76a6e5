"""Deterministic automata over the atoms that a formula names."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.aliases import BoolArray, IntArray
from nrm.automata.diagram import Cube
from nrm.automata.letters import ListedLetters, shortest_cubes
from nrm.automata.moves import Moves, Moving, moves_of_classes, placed
from nrm.automata.mtbdd import Limits

Combine = Callable[[BoolArray, BoolArray], BoolArray]


@dataclass(frozen=True, eq=False)
class Dfa(Moving):
    """An automaton over `atoms`; state 0 is initial.

    Exclusive: the letters are the atoms in order, then one more for "none of these". Otherwise the letters are all
    2^n subsets, and bit i of a letter's number says whether atom i holds.
    """

    atoms: tuple[str, ...]
    exclusive: bool
    moves: Moves
    accepting: BoolArray
    """(states,) whether a trace may end here. For the initial state: see `minimal`."""

    @classmethod
    def of_classes(
        cls, atoms: tuple[str, ...], exclusive: bool, letter_class: IntArray, columns: IntArray, accepting: BoolArray
    ) -> Dfa:
        """From the class of each letter (letters,) and the next states (states, classes)."""
        moves = moves_of_classes(ListedLetters(letter_class), columns, None if exclusive else len(atoms))
        return cls(atoms, exclusive, moves, accepting)

    def accepts(self, steps: Iterable[Container[str]]) -> bool:
        """Whether a trace is accepted, from what holds at each step. Not for exclusive letters."""
        state = 0
        for step in steps:
            state = self.moves.next_state(state, sum(1 << bit for bit, name in enumerate(self.atoms) if name in step))
        return bool(self.accepting[state])

    def complement(self) -> Dfa:
        """Accepts exactly the non-empty traces that this one rejects."""
        return Dfa(self.atoms, self.exclusive, self.moves, ~self.accepting)

    def lifted(self, atoms: tuple[str, ...]) -> Moves:
        """The moves over a larger set of atoms."""
        if atoms == self.atoms:
            return self.moves
        if not self.exclusive:
            return placed(self.moves, [atoms.index(name) for name in self.atoms], len(atoms))
        place, outside = {name: index for index, name in enumerate(self.atoms)}, len(self.atoms)
        return self.moves.relettered([*(place.get(name, outside) for name in atoms), outside])

    def cubes(self, letters: BoolArray) -> Sequence[Cube]:
        """Conjunctions of literals that together hold at exactly these letters (letters,)."""
        if not self.exclusive:
            return shortest_cubes(letters.astype(np.int32), len(self.atoms))
        named = np.flatnonzero(letters[:-1] != letters[-1]).tolist()  # the last letter is that of no atom
        return [tuple((place, False) for place in named)] if letters[-1] else [((place, True),) for place in named]

    def minimal(self) -> Dfa:
        """The least automaton with the same non-empty traces, numbered canonically.

        LTLf speaks of non-empty traces only, so whether the initial state accepts is free as long as no step leads
        back to it. It is then identified with a state of the same future, if there is one, and rejects otherwise.
        Every state must be reachable, which all the constructions here see to.
        """
        moves, accepting, initial = self.moves, self.accepting, 0
        if not moves.entered(initial):
            accepting = accepting.copy()
            accepting[initial] = False
        blocks = moves.congruence(accepting)
        if int(blocks.max()) + 1 < len(accepting):
            moves, kept = moves.quotient(blocks)
            accepting, initial = accepting[kept], int(blocks[initial])
        if not moves.entered(initial):
            twins = moves.alike(initial)
            initial = next((int(twin) for twin in twins if twin != initial), initial)
        return Dfa(self.atoms, self.exclusive, moves, accepting).trimmed(initial)

    def trimmed(self, initial: int = 0) -> Dfa:
        """What is reachable from `initial`, in canonical form."""
        moves, kept = self.moves.canonical(initial)
        return Dfa(self.atoms, self.exclusive, moves, self.accepting[kept])

    def combined(self, other: Dfa, combine: Combine, limits: Limits, order: Sequence[str] = ()) -> Dfa:
        """The reachable product, accepting where `combine` of the two acceptances says so.

        `order`: of the atoms, as far as it names them; diagrams ask for them in this order.
        """
        rank = {name: place for place, name in enumerate(order)}
        named = dict.fromkeys(self.atoms + other.atoms)
        atoms = tuple(sorted(named, key=lambda name: rank.get(name, len(rank))))
        moves, a, b = self.lifted(atoms).product(other.lifted(atoms), limits)
        return Dfa(atoms, self.exclusive, moves, combine(self.accepting[a], other.accepting[b]))


def combined_all(parts: Iterable[Dfa], combine: Combine, limits: Limits, order: Sequence[str] = ()) -> Dfa:
    """Combine many automata, always the two smallest first, and minimise after each product.

    `order`: of the atoms; see `Dfa.combined`.
    """
    heap = [(part.states, index, part) for index, part in enumerate(parts)]
    heapq.heapify(heap)
    ticket = len(heap)
    while len(heap) > 1:
        _, _, left = heapq.heappop(heap)
        _, _, right = heapq.heappop(heap)
        joined = left.combined(right, combine, limits, order).minimal()
        heapq.heappush(heap, (joined.states, ticket, joined))
        ticket += 1
    return heap[0][2]
