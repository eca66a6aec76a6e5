"""Deterministic automata over the atoms that a formula names."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.aliases import BoolArray, IntArray
from nrm.automata import moves as moving
from nrm.automata.letter_diagram import is_wide
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.moves import Moves, Moving
from nrm.automata.tables import Letters, Limits, Table, listed

Combine = Callable[[BoolArray, BoolArray], BoolArray]


@dataclass(frozen=True, eq=False, init=False)
class Dfa(Moving):
    """An automaton over `atoms`; state 0 is initial.

    Exclusive: the letters are the atoms in order, then one more for "none of these". Otherwise the letters are all
    2^n subsets, and bit i of a letter's number says whether atom i holds.
    """

    atoms: tuple[str, ...]
    exclusive: bool
    moves: Moves
    """By letter classes; where propositions are many, by a diagram for each state."""
    accepting: BoolArray
    """(states,) whether a trace may end here. For the initial state: see `minimal`."""

    def __init__(
        self, atoms: tuple[str, ...], exclusive: bool, letters: Letters, columns: IntArray, accepting: BoolArray
    ) -> None:
        """From letter classes: `letters` (letters,), or a diagram, leads to `columns` (states, classes)."""
        self._set(atoms, exclusive, Table(letters, columns), accepting)

    @classmethod
    def of_moves(cls, atoms: tuple[str, ...], exclusive: bool, moves: Moves, accepting: BoolArray) -> Dfa:
        """The automaton of moves in either form."""
        made = cls.__new__(cls)
        made._set(atoms, exclusive, moves, accepting)
        return made

    def _set(self, *values: object) -> None:
        for name, value in zip(("atoms", "exclusive", "moves", "accepting"), values, strict=True):
            object.__setattr__(self, name, value)

    def complement(self) -> Dfa:
        """Accepts exactly the non-empty traces that this one rejects."""
        return Dfa.of_moves(self.atoms, self.exclusive, self.moves, ~self.accepting)

    def lifted(self, atoms: tuple[str, ...]) -> Moves:
        """The moves over a larger set of atoms."""
        if atoms == self.atoms:
            return self.moves
        place = {name: index for index, name in enumerate(self.atoms)}
        if isinstance(self.moves, MoveDiagram) or (is_wide(len(atoms)) and not self.exclusive):
            bits = [atoms.index(name) for name in self.atoms]
            return moving.by_states(self.moves, len(self.atoms)).placed(bits, len(atoms))
        letters = listed(self.moves.letters)
        if self.exclusive:
            outside = len(self.atoms)
            return Table(letters[[*(place.get(name, outside) for name in atoms), outside]], self.moves.columns)
        larger = np.arange(1 << len(atoms), dtype=np.int64)
        letters_here = np.zeros_like(larger)
        for bit, name in enumerate(atoms):
            if name in place:
                letters_here |= ((larger >> bit) & 1) << place[name]
        return Table(letters[letters_here], self.moves.columns)

    def minimal(self) -> Dfa:
        """The least automaton with the same non-empty traces, numbered canonically.

        LTLf speaks of non-empty traces only, so whether the initial state accepts is free as long as no step leads
        back to it. It is then identified with a state of the same future, if there is one, and rejects otherwise.
        Every state must be reachable, which all the constructions here see to.
        """
        moves, accepting, initial = self.moves, self.accepting, 0
        if not moving.entered(moves, initial):
            accepting = accepting.copy()
            accepting[initial] = False
        blocks = moving.congruence(moves, accepting)
        if int(blocks.max()) + 1 < len(accepting):
            moves, kept = moving.quotient(moves, blocks)
            accepting, initial = accepting[kept], int(blocks[initial])
        if not moving.entered(moves, initial):
            twins = moving.moving_alike(moves, initial)
            initial = next((int(twin) for twin in twins if twin != initial), initial)
        return Dfa.of_moves(self.atoms, self.exclusive, moves, accepting).trimmed(initial)

    def trimmed(self, initial: int = 0) -> Dfa:
        """What is reachable from `initial`, in canonical form."""
        moves, kept = moving.canonical(self.moves, initial)
        if isinstance(moves, Table):
            moves = Table(moves.letters, moves.columns)
        return Dfa.of_moves(self.atoms, self.exclusive, moves, self.accepting[kept])

    def combined(self, other: Dfa, combine: Combine, limits: Limits, order: Sequence[str] = ()) -> Dfa:
        """The reachable product, accepting where `combine` of the two acceptances says so.

        `order`: of the atoms, as far as it names them; diagrams ask for them in this order.
        """
        rank = {name: place for place, name in enumerate(order)}
        named = dict.fromkeys(self.atoms + other.atoms)
        atoms = tuple(sorted(named, key=lambda name: rank.get(name, len(rank))))
        count = None if self.exclusive else len(atoms)
        moves, a, b = moving.product(self.lifted(atoms), other.lifted(atoms), count, limits)
        return Dfa.of_moves(atoms, self.exclusive, moves, combine(self.accepting[a], other.accepting[b]))


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


def after_one_step(dfa: Dfa, weak: bool) -> Dfa:
    """The automaton of `X f` (or `WX f`, when `weak`) from that of f."""
    # State 0 reads any letter; state 1 is f's initial state, where a trace of one step ends.
    accepting = np.concatenate([np.array([False, weak]), dfa.accepting])
    if isinstance(dfa.moves, MoveDiagram):
        low, high, roots = (np.where(a < 0, a - 2, a) for a in (dfa.moves.low, dfa.moves.high, dfa.moves.roots))
        tops = np.concatenate([np.array([-2]), roots[:1], roots]).astype(np.int32)
        given = dfa.moves
        shifted = MoveDiagram(given.propositions, given.order, given.levels, low, high, tops)
        return Dfa.of_moves(dfa.atoms, dfa.exclusive, shifted, accepting).trimmed()
    later = dfa.columns + 2
    columns = np.concatenate([np.ones((1, dfa.columns.shape[1]), dtype=np.int32), later[:1], later])
    return Dfa(dfa.atoms, dfa.exclusive, dfa.letters, columns.astype(np.int32), accepting).trimmed()
