"""Machines by description length: found by changes that shorten it, one after the other.

Whole machines are judged by all episodes: the description length of their moves, and of what they say wrongly (minimum
description length). How episodes go through a machine, and so what is wrong, is a matter of what may be wrong in them.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nrm.inference.drafts import Draft, Run, folded, letter_price, redirected, target_price, with_ends
from nrm.inference.evidence import Evidence

MAX_CHANGES = 300
"""Changes of a machine, at most."""
SLIGHT = 1e-6
"""Nats that are no improvement."""
TRIED = 6
"""Candidates of a kind that are looked at in full, the most promising first."""
FIRST = 250
"""Episodes of a first search, at most; all of them then mend what it found."""

R = TypeVar("R", bound=Run)


class Search(ABC, Generic[R]):
    """Changes of machines, judged by some episodes."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        self.evidence = evidence
        self.max_states = max_states

    @classmethod
    def shortest(cls, evidence: Evidence, max_states: int, also: Sequence[Draft] = ()) -> R:
        """The machine with the shortest description that is found, from several beginnings.

        From one state in which nothing happens, by some of the episodes and by all; from a state for each potential;
        and from what is given `also`.
        """
        # Descent ends where no single change helps, and where that is depends on what it began with.
        episodes, blank, by_level = len(evidence.lengths), Draft.blank(evidence), Draft.by_level(evidence)
        part = cls(evidence.first(min(FIRST, -(-episodes // 2))), max_states).descend(blank).draft
        search = cls(evidence, max_states)
        beginnings = [part, *([] if episodes > 2 * FIRST else [blank]), *also]
        beginnings += [by_level] if by_level.states <= max_states else []
        found = [search.descend(draft) for draft in beginnings]
        return search.with_shared_moves(min(found, key=lambda run: run.length))

    @abstractmethod
    def run(self, draft: Draft) -> R:
        """Let the episodes go through a machine."""

    @abstractmethod
    def gains(self, run: R, draft: Draft) -> NDArray[np.float64]:
        """(states, letters, states of the draft) nats of what is said wrongly that each transition saves, about.

        If it leads to each state of `draft`: the machine of the run, and more states.
        """

    @abstractmethod
    def grown(self, run: R) -> Iterator[R]:
        """With a new state behind one transition, the most promising first."""

    def pairs(self, draft: Draft) -> list[tuple[int, int]]:
        """Pairs of states that may be one."""
        return list(itertools.permutations(range(draft.states), 2))

    def descend(self, draft: Draft) -> R:
        """To where no change shortens the description."""
        run = self.run(draft)
        for _ in range(MAX_CHANGES):
            better = self.retargeted(run) or self.merged(run) or self.split(run) or self.without_letter(run)
            if better is None:
                break
            run = better
        return run

    def retargeted(self, run: R) -> R | None:
        """With one transition that leads elsewhere."""
        draft = with_ends(run.draft, self.evidence.level_count)
        states, here = draft.states, np.arange(run.draft.states)
        # A letter that did nothing so far has to be described where it leads from all states.
        new = letter_price(self.evidence.letter_count) + (run.seen > 0).sum(0) * target_price(run.draft.states)
        idle = np.where(run.moves.any(0), 0.0, new)
        gains = self.gains(run, draft) - idle[None, :, None] * (np.arange(states) != here[:, None, None])
        gains[run.seen == 0] = -np.inf
        for place in np.argsort(-gains, axis=None, kind="stable")[:TRIED].tolist():
            if gains.flat[place] <= 0:
                break
            table = draft.table.copy()
            table.flat[place // states] = place % states
            found = self.run(Draft(table, draft.levels))
            if found.length < run.length - SLIGHT and found.draft.states <= self.max_states:
                return found
        return None

    def merged(self, run: R) -> R | None:
        """With fewer states: two made one, or one no longer led to."""
        pairs = self.pairs(run.draft)
        drafts = [folded(run, one, other) for one, other in pairs if one < other]
        drafts += [redirected(run.draft, one, other) for one, other in pairs if one]
        smaller = sorted(map(self.run, drafts), key=lambda found: found.length)[:TRIED]
        return smaller[0] if smaller and smaller[0].length < run.length - SLIGHT else self._settled(smaller, run)

    def split(self, run: R) -> R | None:
        """With one more state, to which one transition leads that led elsewhere."""
        return self._settled(self.grown(run), run)

    def without_letter(self, run: R) -> R | None:
        """With a letter that does nothing any more."""
        here = np.arange(run.draft.states)
        drafts = []
        for letter in np.flatnonzero(run.moves.any(0)).tolist():
            table = run.draft.table.copy()
            table[:, letter] = here
            drafts.append(Draft(table, run.draft.levels))
        return self._settled(map(self.run, drafts), run)

    def with_shared_moves(self, run: R) -> R:
        """With the same moves for letters that are then described once, as long as this is shorter.

        Where one of the letters was hardly ever read, the other one says where it leads.
        """
        group = np.arange(self.evidence.letter_count)

        def shared(found: R, group: NDArray[np.int64]) -> float:
            """The length of a description that says moves of a group once."""
            target, saved = target_price(found.draft.states), 0.0
            for mine in (group == one for one in np.unique(group)):
                if mine.sum() > 1:
                    taken = found.seen[:, mine & found.moves.any(0)] > 0
                    saved += (taken.sum() - taken.any(1).sum()) * target
            return found.length - saved

        while True:
            now, best = shared(run, group), None
            moving = [one for one in np.unique(group).tolist() if run.moves[:, group == one].any()]
            for one, other in itertools.permutations(moving, 2):
                both = np.where(group == other, one, group)
                seen = run.seen[:, group == one].any(1)
                of_one = run.draft.table[:, np.flatnonzero(group == one)[0]]
                of_other = run.draft.table[:, np.flatnonzero(group == other)[0]]
                table = run.draft.table.copy()
                table[:, both == one] = np.where(seen, of_one, of_other)[:, None]
                found = self.run(Draft(table, run.draft.levels))
                if found.draft.states == run.draft.states and (length := shared(found, both)) < now - SLIGHT:
                    now, best = length, (found, both)
            if best is None:
                return run
            run, group = best

    def _settled(self, changed: Iterable[R], run: R) -> R | None:
        """The first of some changed machines that is better than what it comes from once its transitions are set."""
        for found in changed:
            better: R | None = found
            while better is not None:
                found, better = better, self.retargeted(better)
            if found.length < run.length - SLIGHT and found.draft.states <= self.max_states:
                return found
        return None
