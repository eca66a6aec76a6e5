"""Deterministic automata over the atoms that a formula names, with letters grouped into classes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from nrm.aliases import BoolArray, IntArray
from nrm.automata.letter_diagram import DENSE, LetterDiagram
from nrm.automata.minimisation import canonical, coarsest_congruence, quotient
from nrm.automata.product import product
from nrm.automata.tables import Letters, Limits, Table, as_diagram, listed

Combine = Callable[[BoolArray, BoolArray], BoolArray]


@dataclass(frozen=True, eq=False)
class Dfa:
    """An automaton over `atoms`; state 0 is initial.

    Exclusive: the letters are the atoms in order, then one more for "none of these". Otherwise the letters are all
    2^n subsets, and bit i of a letter's number says whether atom i holds.
    """

    atoms: tuple[str, ...]
    exclusive: bool
    letters: Letters
    """(letters,) the class of each letter; where propositions are many, the diagram that leads letters to classes."""
    columns: IntArray
    """(states, classes) the next state."""
    accepting: BoolArray
    """(states,) whether a trace may end here. For the initial state: see `minimal`."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.columns)

    @property
    def letter_class(self) -> IntArray:
        """(letters,) the class of each letter, where these can be listed."""
        return listed(self.letters)

    def complement(self) -> Dfa:
        """Accepts exactly the non-empty traces that this one rejects."""
        return Dfa(self.atoms, self.exclusive, self.letters, self.columns, ~self.accepting)

    def lifted(self, atoms: tuple[str, ...]) -> Letters:
        """The class of each letter over a larger set of atoms."""
        if atoms == self.atoms:
            return self.letters
        place = {name: index for index, name in enumerate(self.atoms)}
        if len(atoms) > DENSE and not self.exclusive:
            bits = [atoms.index(name) for name in self.atoms]
            return as_diagram(self.letters, len(self.atoms)).placed(bits, len(atoms))
        assert not isinstance(self.letters, LetterDiagram)
        if self.exclusive:
            outside = len(self.atoms)
            letters = [place.get(name, outside) for name in atoms]
            return self.letters[[*letters, outside]]
        larger = np.arange(1 << len(atoms), dtype=np.int64)
        letters_here = np.zeros_like(larger)
        for bit, name in enumerate(atoms):
            if name in place:
                letters_here |= ((larger >> bit) & 1) << place[name]
        return self.letters[letters_here]

    def minimal(self) -> Dfa:
        """The least automaton with the same non-empty traces, numbered canonically.

        LTLf speaks of non-empty traces only, so whether the initial state accepts is free as long as no step leads
        back to it. It is then identified with a state of the same future, if there is one, and rejects otherwise.
        Every state must be reachable, which all the constructions here see to.
        """
        columns, accepting, initial = self.columns, self.accepting, 0
        if not (columns == initial).any():
            accepting = accepting.copy()
            accepting[initial] = False
        blocks = coarsest_congruence(columns, accepting)
        if int(blocks.max()) + 1 < len(columns):
            columns, kept = quotient(columns, blocks)
            accepting, initial = accepting[kept], int(blocks[initial])
        if not (columns == initial).any():
            twins = np.flatnonzero((columns == columns[initial]).all(axis=1))
            initial = next((int(twin) for twin in twins if twin != initial), initial)
        return Dfa(self.atoms, self.exclusive, self.letters, columns, accepting).trimmed(initial)

    def trimmed(self, initial: int = 0) -> Dfa:
        """What is reachable from `initial`, in canonical form."""
        table, kept = canonical(Table(self.letters, self.columns, initial))
        return Dfa(self.atoms, self.exclusive, table.letters, table.columns, self.accepting[kept])

    def combined(self, other: Dfa, combine: Combine, limits: Limits) -> Dfa:
        """The reachable product, accepting where `combine` of the two acceptances says so."""
        atoms = self.atoms + tuple(name for name in other.atoms if name not in self.atoms)
        one, two = (Table(dfa.lifted(atoms), dfa.columns) for dfa in (self, other))
        table, a, b = product(one, two, limits)
        return Dfa(atoms, self.exclusive, *table[:2], combine(self.accepting[a], other.accepting[b]))


def combined_all(parts: Iterable[Dfa], combine: Combine, limits: Limits) -> Dfa:
    """Combine many automata, always the two smallest first, and minimise after each product."""
    heap = [(part.states, index, part) for index, part in enumerate(parts)]
    heapq.heapify(heap)
    ticket = len(heap)
    while len(heap) > 1:
        _, _, left = heapq.heappop(heap)
        _, _, right = heapq.heappop(heap)
        joined = left.combined(right, combine, limits).minimal()
        heapq.heappush(heap, (joined.states, ticket, joined))
        ticket += 1
    return heap[0][2]


def after_one_step(dfa: Dfa, weak: bool) -> Dfa:
    """The automaton of `X f` (or `WX f`, when `weak`) from that of f."""
    # State 0 reads any letter; state 1 is f's initial state, where a trace of one step ends.
    shifted = dfa.columns + 2
    columns = np.concatenate([np.ones((1, dfa.columns.shape[1]), dtype=np.int32), shifted[:1], shifted])
    accepting = np.concatenate([np.array([False, weak]), dfa.accepting])
    return Dfa(dfa.atoms, dfa.exclusive, dfa.letters, columns.astype(np.int32), accepting).trimmed()
