"""Machines that read a trace from its end, and the automata that read it from the front.

Reversed and made deterministic, a deterministic machine of which every state is reachable gives the minimal automaton
at once (Brzozowski's theorem).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nrm.aliases import BoolArray, IntArray
from nrm.automata import Dfa, Limits, Table
from nrm.errors import LimitError

MAX_LETTERS = 64
"""Letters up to which they are read one by one."""
_SLICE = 1 << 22
"""Values that are computed at a time."""


@dataclass(frozen=True, eq=False)
class BackwardMachine:
    """The value of a subformula at each step of a trace that is read from its end."""

    atoms: tuple[str, ...]
    """Those of the letters, which all machines of one translation share."""
    moves: IntArray
    """(states, letters) the state once one more letter, further to the front, is read; state 0 has read nothing."""
    values: BoolArray
    """(states,) whether the subformula holds at the step that was read last."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.values)

    def complement(self) -> BackwardMachine:
        """That of the negation, with the same moves."""
        return BackwardMachine(self.atoms, self.moves, ~self.values)


def letters_of(atoms: tuple[str, ...], exclusive: bool) -> BoolArray | None:
    """(atoms, letters) whether an atom holds at a letter, letters numbered as in `Dfa`; None where they are many."""
    count = len(atoms) + 1 if exclusive else 1 << min(len(atoms), MAX_LETTERS)
    if count > MAX_LETTERS:
        return None
    places, letters = np.arange(len(atoms))[:, None], np.arange(count)
    holds: BoolArray = places == letters if exclusive else (letters >> places & 1).astype(bool)
    return holds


def reversed_dfa(machine: BackwardMachine, exclusive: bool, limits: Limits) -> Dfa:
    """The minimal automaton of the traces at whose first step the subformula holds.

    A state says for each state b of the backward machine whether what was read so far may be followed by what brings b
    about. After one more letter p, that is what it said for the state to which p leads from b.
    """
    merged = Table(np.arange(machine.moves.shape[1], dtype=np.int32), machine.moves).merged()
    behind = np.ascontiguousarray(merged.columns.T)
    classes = len(behind)
    numbers = {np.packbits(machine.values).tobytes(): 0}
    frontiers, rows = [machine.values[None]], []
    for frontier in frontiers:
        if len(numbers) * machine.states > limits.cells:
            raise LimitError(f"{len(numbers):,} states over {machine.states:,} backward ones pass the limit")
        limits.check(len(numbers), classes)
        for start in range(0, len(frontier), step := max(1, _SLICE // behind.size)):
            following = frontier[start : start + step, behind].reshape(-1, machine.states)
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
    return Dfa.of_classes(machine.atoms, exclusive, merged.letter_class, columns, accepting).minimal()
