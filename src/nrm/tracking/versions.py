"""The machines that were learned one after the other, and what refuted each: for files and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.errors import FileError
from nrm.inference import Episode, Hypothesis, Refutation
from nrm.machines import MooreMachine


@dataclass(frozen=True)
class Refuting:
    """The episode that refuted the machine before."""

    letters: tuple[int, ...]
    """What it read, up to the step that refuted."""
    levels: tuple[float, ...]
    """The potentials that it showed."""
    step: int
    """The step that was impossible, counting from 0."""
    expected: float
    """The potential that the machine said there."""
    shown: float


@dataclass(frozen=True)
class Version:
    """One machine, as it was learned. All by symbol: those of letters alike, 0 of those that do nothing."""

    episode: int
    """How many episodes were done."""
    levels: tuple[float, ...]
    """(states,) the potential of each state, from 0 at the beginning of an episode."""
    table: tuple[tuple[int, ...], ...]
    """(states, symbols) the next state."""
    seen: tuple[tuple[int, ...], ...]
    """(states, symbols) how often each transition was seen; those never seen are assumed."""
    symbols: tuple[int, ...]
    """(letters,) the symbol of each letter."""
    numbers: tuple[int, ...]
    """(states,) the numbers by which the policy knows them."""
    refuted_by: Refuting | None
    """What refuted the machine before; None where it was only looked at anew."""
    right: bool | None
    """Whether it is the task's, as far as episodes can show; None where nobody knows."""

    @classmethod
    def of(
        cls,
        episode: int,
        known: Hypothesis,
        numbers: NDArray[np.int64],
        values: NDArray[np.float64],
        refuted: tuple[Episode, Refutation] | None,
        right: bool | None,
    ) -> Version:
        """From a machine that was just learned."""
        table, seen = known.symbol_table()
        why = None
        if refuted is not None:
            trace, found = refuted
            rows = slice(0, found.step + 1)
            shown = tuple(values[trace.levels[rows]].tolist())
            said = float(values[found.expected])
            why = Refuting(tuple(trace.seen[rows].tolist()), shown, found.step, said, float(values[found.shown]))
        return cls(
            episode,
            tuple(values[known.levels].tolist()),
            tuple(map(tuple, table.tolist())),
            tuple(map(tuple, seen.tolist())),
            tuple(known.symbols.tolist()),
            tuple(numbers.tolist()),
            why,
            right,
        )

    def machine(self) -> MooreMachine:
        """As a machine over its symbols."""
        levels = np.array(self.levels)
        zeros = np.zeros_like(np.array(self.table))
        known = Hypothesis(np.array(self.table), np.arange(len(levels)), zeros, np.arange(len(self.table[0])))
        return known.machine(levels)

    def to_json(self) -> Json:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> Version:
        """What `to_json` wrote."""
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise FileError(f"a learned machine is damaged: {error}") from None


def found_at(versions: Sequence[Version]) -> int | None:
    """The episode from which on all machines were right; None where the last one is not, or nobody knows."""
    episode = None
    for version in reversed(versions):
        if not version.right:
            break
        episode = version.episode
    return episode
