"""A machine over letters that are not quite sure: what episodes say of it, those that are misread set aside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.errors import ContradictionError
from nrm.inference import IDLE, Evidence, Hypothesis, LetterTrace, TooManyStatesError, learn_machine, prefix_tree

MAX_MISREAD = 0.2
"""Share of the episodes that may be misread; letters of which more are tell nothing."""
HELD_OUT = 5
"""Every so manieth episode is held out, to see whether a machine learned from the others explains it."""


class Read(NamedTuple):
    """A machine over letters."""

    hypothesis: Hypothesis
    explained: float
    """The share of all episodes whose potentials it says."""
    held_out: float
    """The share of held-out episodes that a machine learned from the others explains."""


class LetteredEpisodes:
    """Episodes of frames, to be read with one alphabet of letters after another."""

    def __init__(self, traces: Sequence[LetterTrace], levels: int) -> None:
        """`traces`: with numbers of frames in place of letters; `levels`: how many there are."""
        self.traces = traces
        self._levels = levels

    def evidence(self, letters: NDArray[np.int64], count: int, rows: Sequence[int] | None = None) -> Evidence:
        """Some episodes, read with the letters (frames,) of an alphabet of `count`."""
        chosen = self.traces if rows is None else [self.traces[row] for row in rows]
        read = [LetterTrace(letters[trace.letters], trace.levels) for trace in chosen]
        return Evidence.of(read, count, self._levels, 0)

    def explained(self, known: Hypothesis, letters: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(episodes,) whether a machine says all of an episode's potentials."""
        evidence = self.evidence(letters, known.letters)
        return _all_right(known, evidence)

    def machine(self, letters: NDArray[np.int64], count: int, states: int) -> Read | None:
        """The machine over some letters, of which 0 does nothing; None where it has too many states, or none is found.

        Episodes that show more than the letters tell are set aside as misread.
        """
        clear = self._clear(letters, count)
        if clear is None:
            return None
        held = [row for row in clear if row % HELD_OUT == 0]
        rest = [row for row in clear if row % HELD_OUT]
        if not rest or not held:
            held = rest = clear
        try:
            part = learn_machine(self.evidence(letters, count, rest), states)
            whole = learn_machine(self.evidence(letters, count, clear), states)
        except (TooManyStatesError, ContradictionError):
            return None
        share = float(_all_right(part, self.evidence(letters, count, held)).mean())
        return Read(whole, float(self.explained(whole, letters).mean()), share)

    def _clear(self, letters: NDArray[np.int64], count: int) -> list[int] | None:
        """The episodes in which nothing happens at the idle letter, and equal histories show equal potentials."""
        rows = list(range(len(self.traces)))
        active = tuple(range(IDLE + 1, count))
        while rows:
            evidence = self.evidence(letters, count, rows)
            before = np.concatenate([[0], evidence.levels[:-1]])
            before[evidence.begun] = evidence.initial
            odd = (before != evidence.levels) & (evidence.letters == IDLE)
            tree = prefix_tree(evidence, active)
            odd |= tree.counts.argmax(1)[tree.of_step] != evidence.levels
            if not odd.any():
                return rows
            wrong = np.logical_or.reduceat(odd, evidence.begun)
            rows = [row for row, label_noise in zip(rows, wrong.tolist(), strict=True) if not label_noise]
            if len(rows) < (1 - MAX_MISREAD) * len(self.traces):
                return None
        return None


def _all_right(known: Hypothesis, evidence: Evidence) -> NDArray[np.bool_]:
    wrong = known.levels[known.follow(evidence)] != evidence.levels
    result: NDArray[np.bool_] = np.add.reduceat(wrong, evidence.begun) == 0
    return result
