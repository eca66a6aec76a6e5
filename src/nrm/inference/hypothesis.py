"""A learned machine: its moves, how often each was seen, and which letters mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.machines import Alphabet, MooreMachine

IDLE = 0
"""The symbol of all letters at which nothing was ever seen to happen."""


class Certainty(NamedTuple):
    """How much of a machine was seen."""

    seen: int
    """Transitions that some episode took."""
    rare: int
    """Those of them that were taken only once."""
    assumed: int
    """Transitions of its symbols that nobody took. They are those of a letter alike, or do nothing."""

    def __str__(self) -> str:
        rest = f", {self.assumed} assumed" if self.assumed else ""
        return f"{self.seen} transitions seen ({self.rare} once){rest}"


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A complete machine over letters. State 0 is the initial one."""

    table: Ints
    """(states, letters) the next state."""
    levels: Ints
    """(states,) the index of the potential of each."""
    seen: Ints
    """(states, letters) how often each transition was taken in what was learned from."""
    symbols: Ints
    """(letters,) the symbol of each: letters that the machine treats alike share one, and `IDLE` ones do nothing."""

    @classmethod
    def blank(cls, letters: int, initial: int) -> Hypothesis:
        """One state in which nothing ever happens: what is believed before anything was seen."""
        shape = (1, letters)
        zeros = np.zeros(letters, dtype=np.int64)
        return cls(np.zeros(shape, dtype=np.int64), np.array([initial]), np.zeros(shape, dtype=np.int64), zeros)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.levels)

    @property
    def letters(self) -> int:
        """How many letters there are."""
        return int(self.table.shape[1])

    @property
    def symbol_count(self) -> int:
        """How many symbols there are, the idle one included."""
        return int(self.symbols.max(initial=0)) + 1

    def same_as(self, other: Hypothesis) -> bool:
        """Whether it says the same: letters that one does not know yet do nothing."""
        known = min(self.letters, other.letters)
        if self.states != other.states or (self.symbols[known:] != IDLE).any() or (other.symbols[known:] != IDLE).any():
            return False
        pairs = ((self.table, other.table), (self.symbols[None], other.symbols[None]))
        same = all(np.array_equal(mine[:, :known], theirs[:, :known]) for mine, theirs in pairs)
        return same and np.array_equal(self.levels, other.levels)

    def table_over(self, letters: int) -> Ints:
        """(states, letters) the next states by so many letters. Those that it does not know do nothing."""
        unknown = np.repeat(np.arange(self.states)[:, None], max(0, letters - self.letters), 1)
        return np.concatenate([self.table[:, :letters], unknown], 1)

    def follow(self, evidence: Evidence) -> Ints:
        """(steps,) the state after each step of some episodes, by the letters that were observed."""
        table = self.table_over(evidence.letter_count)
        result = np.zeros(len(evidence.letters), dtype=np.int64)
        begun, going = evidence.by_length
        state = np.zeros(len(begun), dtype=np.int64)
        for time, active in enumerate(going):
            steps = begun[:active] + time
            state[:active] = table[state[:active], evidence.letters[steps]]
            result[steps] = state[:active]
        return result

    def symbol_table(self) -> tuple[Ints, Ints]:
        """(states, symbols) the next states, and how often each was seen, over all letters of a symbol."""
        count = self.symbol_count
        table = np.repeat(np.arange(self.states)[:, None], count, 1)
        seen = np.zeros((self.states, count), dtype=np.int64)
        for symbol in range(count):
            mine = np.flatnonzero(self.symbols == symbol)
            if len(mine):
                table[:, symbol] = self.table[:, mine[0]]
                seen[:, symbol] = self.seen[:, mine].sum(1)
        return table, seen

    def certainty(self) -> Certainty:
        """What was seen of it, over symbols. Where episodes end nothing can be seen, and nothing is assumed."""
        _, seen = self.symbol_table()
        left = seen.any(1)
        return Certainty(int((seen > 0).sum()), int((seen == 1).sum()), int((seen[left] == 0).sum()))

    def machine(self, values: NDArray[np.float64], names: tuple[str, ...] | None = None) -> MooreMachine:
        """As a machine over its symbols, or over all letters where their `names` are given."""
        outputs = values[self.levels]
        table = self.symbol_table()[0] if names is None else self.table
        known = names or ("idle", *(f"s{number}" for number in range(1, self.symbol_count)))
        accepting = outputs == outputs.max()
        return MooreMachine.from_table(Alphabet.exclusive(known), table.astype(np.int32), accepting, outputs)


def agreement(before: Ints, after: Ints, old_states: int, new_states: int) -> Ints:
    """(new states, old states) at how many steps two machines are in both."""
    shared = np.zeros((new_states, old_states), dtype=np.int64)
    np.add.at(shared, (after, before), 1)
    return shared


def renumbered(shared: Ints, old: Ints, room: int) -> Ints:
    """(new states,) their numbers below `room`, given those of the old states (old states,)."""
    count = len(shared)
    result = np.full(count, -1, dtype=np.int64)
    result[0] = old[0]
    taken = {0}
    order = np.argsort(-shared, axis=None, kind="stable")
    for new, known in zip(*(part.tolist() for part in np.unravel_index(order, shared.shape)), strict=True):
        if shared[new, known] and result[new] < 0 and known not in taken:
            result[new] = old[known]
            taken.add(known)
    used = set(result.tolist())
    fresh = [number for number in range(room) if number not in set(old.tolist())]
    free = iter([*fresh, *(number for number in old.tolist() if number not in used)])
    for state in range(count):
        if result[state] < 0:
            result[state] = next(free)
    return result
