"""A learned machine: its moves, how often each was seen, and which letters mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence
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

    table: NDArray[np.int64]
    """(states, letters) the next state."""
    levels: NDArray[np.int64]
    """(states,) the index of the potential of each."""
    seen: NDArray[np.int64]
    """(states, letters) how often each transition was taken in what was learned from."""
    symbols: NDArray[np.int64]
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

    def table_over(self, letters: int) -> NDArray[np.int64]:
        """(states, letters) the next states by so many letters. Those that it does not know do nothing."""
        unknown = np.repeat(np.arange(self.states)[:, None], max(0, letters - self.letters), 1)
        return np.concatenate([self.table[:, :letters], unknown], 1)

    def follow(self, evidence: Evidence) -> NDArray[np.int64]:
        """(steps,) the state after each step of some episodes, by the letters that were told."""
        table = self.table_over(evidence.letter_count)
        result = np.zeros(len(evidence.letters), dtype=np.int64)
        # Long episodes first, so that those that still go on are the first rows.
        order = np.argsort(-evidence.lengths, kind="stable")
        begun, lengths = evidence.begun[order], evidence.lengths[order]
        state = np.zeros(len(order), dtype=np.int64)
        for time in range(int(lengths[0])):
            active = int(np.searchsorted(-lengths, -time, side="left"))
            steps = begun[:active] + time
            state[:active] = table[state[:active], evidence.letters[steps]]
            result[steps] = state[:active]
        return result

    def symbol_table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
        """As a machine over its symbols, or over all letters where their `names` are given.

        `values`: (potentials,) what the indices stand for. Rewards do not show acceptance: the best potential counts
        as it.
        """
        outputs = values[self.levels]
        table = self.symbol_table()[0] if names is None else self.table
        known = names or ("idle", *(f"s{number}" for number in range(1, self.symbol_count)))
        accepting = outputs == outputs.max()
        return MooreMachine.from_table(Alphabet.exclusive(known), table.astype(np.int32), accepting, outputs)


def states_before(after: NDArray[np.int64], evidence: Evidence) -> NDArray[np.int64]:
    """(steps,) the states in which steps were taken, from those that they led to."""
    before = np.empty_like(after)
    before[1:] = after[:-1]
    before[evidence.begun] = 0
    return before
