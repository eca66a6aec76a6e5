"""Formulas read from the end of a trace, where they are deterministic.

Whether a formula holds at a step follows from the letter there and from what holds at the step behind it. So a machine
that reads the trace backwards needs no guessing: its state is the value of each obligation, one bit each. It is small
after minimisation, which large nests of operators are not on the way forwards. Reversed and made deterministic, such a
machine is the minimal automaton at once (Brzozowski's theorem): a state is then the set of those states of the
backward machine from which what was read so far is satisfied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray
from nrm.automata import Dfa, Limits, Numbers, Table
from nrm.errors import LimitError
from nrm.logic.nodes import NodeKind, Nodes


def by_reversal(nodes: Nodes, atoms: tuple[str, ...], exclusive: bool, limits: Limits) -> Dfa | None:
    """The minimal automaton of a formula by way of its backward machine; None where this way is long."""
    letters = len(atoms) + 1 if exclusive else 1 << len(atoms)
    if letters > 64 or nodes.tracked:  # they are read one by one
        return None
    try:
        return reversed_dfa(read_backwards(nodes, atoms, exclusive), limits)
    except LimitError:
        return None


def letters_of(atoms: tuple[str, ...], exclusive: bool) -> BoolArray:
    """(atoms, letters) whether an atom holds at a letter, letters numbered as in `Dfa`."""
    places, letters = np.arange(len(atoms))[:, None], np.arange(len(atoms) + 1 if exclusive else 1 << len(atoms))
    holds: BoolArray = places == letters if exclusive else (letters >> places & 1).astype(bool)
    return holds


def reversed_dfa(backward: Dfa, limits: Limits) -> Dfa:
    """The minimal automaton of the traces that another one accepts when it reads them from their end.

    A state says for each state b of the other one whether what was read so far may be followed by what brings b
    about. After one more letter p, that is what it said for the state to which p leads from b.
    """
    values, states = backward.accepting, backward.states
    behind = np.ascontiguousarray(backward.columns.T)
    classes = len(behind)
    numbers = {np.packbits(values).tobytes(): 0}
    frontiers, rows = [values[None]], []
    for frontier in frontiers:
        if len(numbers) * states > limits.cells:
            raise LimitError(f"{len(numbers):,} states over {states:,} backward ones pass the limit")
        limits.check(len(numbers), classes)
        step = max(1, (1 << 22) // behind.size)  # so many values at a time that no array grows large
        for start in range(0, len(frontier), step):
            following = frontier[start : start + step, behind].reshape(-1, states)
            row, fresh = [], []
            for place, packed in enumerate(np.packbits(following, axis=1)):
                known = len(numbers)
                row.append(numbers.setdefault(packed.tobytes(), known))
                if row[-1] == known:
                    fresh.append(place)
            rows.append(np.array(row, dtype=np.int32).reshape(-1, classes))
            if fresh:
                frontiers.append(following[fresh])
    # A trace may end where nothing may follow.
    accepting = np.concatenate(frontiers)[:, 0]
    columns = np.concatenate(rows)
    return Dfa.of_classes(backward.atoms, backward.exclusive, backward.letter_class, columns, accepting).minimal()


MAX_CELLS = 600_000
"""States times letters of a backward machine, before minimisation, up to which this way is gone."""


def read_backwards(nodes: Nodes, atoms: tuple[str, ...], exclusive: bool) -> Dfa:
    """The minimal automaton that reads traces from their end: it accepts where the formula holds at the last step read.

    State 0 has read nothing. `LimitError` where it is large.
    """
    moves, values = _Reader(nodes, atoms, letters_of(atoms, exclusive)).explored()
    whole = Table(np.arange(moves.shape[1], dtype=np.int32), moves)
    blocks = whole.congruence(values)
    # What has read nothing comes first.
    table, kept = whole.quotient(np.unique(np.where(blocks == blocks[0], -1, blocks), return_inverse=True)[1])
    return Dfa(atoms, exclusive, table.merged(), values[kept])


class _Reader:
    """All values of a formula's obligations that traces from the end can bring about, and the moves between them."""

    def __init__(self, nodes: Nodes, atoms: tuple[str, ...], holds: BoolArray) -> None:
        self.nodes = nodes
        self.holds = [holds[atoms.index(name)] for name in nodes.atoms]
        self.letters = holds.shape[1]
        self.used = self._used()
        # Bits: the value at the step behind of each node that is put off; the root is one, for its value is asked for.
        self.bits: dict[tuple[int, bool], int] = {(nodes.root, False): 0}
        for node in self.used:
            if (put_off := nodes.put_off(node)) is not None:
                self.bits.setdefault(put_off, len(self.bits))
        if len(self.bits) >= 62:
            raise LimitError(f"{len(self.bits)} obligations are too many to be read backwards")
        self.numbers = Numbers(1 << len(self.bits) if len(self.bits) <= 14 else 1 << 62)  # an array for few

    def _used(self) -> list[int]:
        nodes, seen, pending = self.nodes, set[int](), [self.nodes.root]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                kind = nodes.kinds[node]
                pending.extend(nodes.parts[node])
                if nodes.put_off(node) is not None:
                    pending.append(nodes.firsts[node])
                if kind in (NodeKind.UNTIL, NodeKind.RELEASE):
                    pending.append(nodes.seconds[node])
        return sorted(seen)

    def explored(self) -> tuple[IntArray, BoolArray]:
        """(states, letters) the moves, and (states,) the value of the root."""
        begin = sum(1 << bit for (_, met), bit in self.bits.items() if met)
        start = np.array([begin], dtype=np.int64)
        codes, rows = self.numbers.explored(start, self._after, self._check)
        return rows, (codes & 1).astype(bool)

    def _check(self, states: int) -> None:
        if states * self.letters > MAX_CELLS:
            raise LimitError(f"read backwards, the formula has more than {MAX_CELLS:,} moves")

    def _after(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """(states, letters) the codes of what follows some states (states,) by each letter."""
        nodes = self.nodes
        # Values have the shape (states or 1, letters or 1): what follows from the letter alone is computed once.
        values: dict[int, BoolArray] = {}
        behind: dict[tuple[int, bool] | None, BoolArray] = {
            key: (codes >> bit & 1).astype(bool)[:, None] for key, bit in self.bits.items()
        }
        nothing = np.zeros((1, 1), dtype=bool)
        for node in self.used:
            kind, first, second = nodes.kinds[node], nodes.firsts[node], nodes.seconds[node]
            later = behind.get(nodes.put_off(node), nothing)
            match kind:
                case NodeKind.TRUE | NodeKind.FALSE:
                    value = np.array([[kind is NodeKind.TRUE]])
                case NodeKind.ATOM:
                    value = (self.holds[first] == bool(second))[None]
                case NodeKind.AND | NodeKind.OR:
                    join = np.logical_and if kind is NodeKind.AND else np.logical_or
                    value = values[nodes.parts[node][0]]
                    for part in nodes.parts[node][1:]:
                        value = join(value, values[part])
                case NodeKind.NEXT | NodeKind.WEAK_NEXT:
                    value = later
                case NodeKind.UNTIL:
                    value = values[second] | (values[first] & later)
                case NodeKind.RELEASE:
                    value = values[second] & (values[first] | later)
            values[node] = value
        following = np.zeros((len(codes), self.letters), dtype=np.int64)
        for (source, _), bit in self.bits.items():
            following += values[source].astype(np.int64) << bit
        return following
