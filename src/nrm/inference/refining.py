"""Machines where levels are sometimes wrong: found by changes that shorten the description, one after the other.

Merging decides node by node, and with many nodes chance refuses some that are one and joins some that are not. Here
whole machines are judged by all episodes: the description length of their moves, and of the levels that they say
wrongly (minimum description length; of deterministic machines this is hard expectation-maximisation). What an episode
would show, were a step to lead elsewhere, is known for all states at once by going through it backwards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nrm.inference.drafts import Draft, Draftsman, Run, folded, redirected
from nrm.inference.evidence import Evidence

MOST_CHANGES = 300
"""Changes of a machine, at most."""
SLIGHT = 1e-6
"""Nats that are no improvement."""
TRIED = 6
"""Candidates of a kind that are looked at in full, the most promising first."""
FIRST = 250
"""Episodes of a first search, at most; all of them then mend what it found."""


def refine(evidence: Evidence, most_states: int) -> Run:
    """The machine with the shortest description that is found, from one state in which nothing happens."""
    # Descent ends where no single change helps, and where that is depends on what it began with.
    episodes, blank = len(evidence.lengths), Draft.blank(evidence)
    part = _descend(_Search(evidence.first(min(FIRST, -(-episodes // 2))), most_states), blank).draft
    search = _Search(evidence, most_states)
    found = [_descend(search, draft) for draft in ((part,) if episodes > 2 * FIRST else (part, blank))]
    return search.with_shared_moves(min(found, key=lambda run: run.length))


def _descend(search: _Search, draft: Draft) -> Run:
    """To where no change shortens the description."""
    run = search.run(draft)
    for _ in range(MOST_CHANGES):
        better = search.retargeted(run) or search.merged(run) or search.split(run) or search.without_letter(run)
        if better is None:
            break
        run = better
    return run


class _Search(Draftsman):
    """Changes of machines, judged by some episodes."""

    def retargeted(self, run: Run) -> Run | None:
        """With one transition that leads elsewhere."""
        draft = self.with_ends(run.draft)
        states, letters = draft.table.shape
        to_come = self.to_come(draft)
        group = run.before * letters + self.letters
        size = run.draft.table.size
        costs = np.stack([np.bincount(group, to_come[:, state], minlength=size) for state in range(states)], 1)
        here, target = np.repeat(np.arange(run.draft.states), letters), run.draft.table.ravel()
        gains = self.wrong * (costs[np.arange(size), target][:, None] - costs)
        # A letter that did nothing so far has to be described where it leads from all states.
        new = self.letter_price + (run.seen > 0).sum(0) * math.log(max(2, run.draft.states))
        idle = np.tile(~run.moves.any(0), run.draft.states)
        gains -= np.where(idle, np.tile(new, run.draft.states), 0.0)[:, None] * (np.arange(states) != here[:, None])
        gains[run.seen.ravel() == 0] = -np.inf
        for place in np.argsort(-gains, axis=None, kind="stable")[:TRIED].tolist():
            if gains.flat[place] <= 0:
                break
            table = draft.table.copy()
            table.flat[place // states] = place % states
            found = self.run(Draft(table, draft.levels))
            if found.length < run.length - SLIGHT and found.draft.states <= self.most_states:
                return found
        return None

    def merged(self, run: Run) -> Run | None:
        """With fewer states: two made one, or one no longer led to."""
        pairs = list(itertools.permutations(range(run.draft.states), 2))
        drafts = [folded(run, one, other) for one, other in pairs if one < other]
        drafts += [redirected(run.draft, one, other) for one, other in pairs if one]
        smaller = sorted(map(self.run, drafts), key=lambda found: found.length)[:TRIED]
        return smaller[0] if smaller and smaller[0].length < run.length - SLIGHT else self._settled(smaller, run)

    def split(self, run: Run) -> Run | None:
        """With one more state, to which one transition leads that led elsewhere."""
        return self._settled(self._grown(run), run)

    def without_letter(self, run: Run) -> Run | None:
        """With a letter that does nothing any more."""
        here = np.arange(run.draft.states)
        drafts = []
        for letter in np.flatnonzero(run.moves.any(0)).tolist():
            table = run.draft.table.copy()
            table[:, letter] = here
            drafts.append(Draft(table, run.draft.levels))
        return self._settled(map(self.run, drafts), run)

    def with_shared_moves(self, run: Run) -> Run:
        """With the same moves for letters that are then described once, as long as this is shorter.

        Where one of the letters was hardly ever read, the other one says where it leads.
        """
        group = np.arange(self.letter_count)

        def shared(found: Run, group: NDArray[np.int64]) -> float:
            """The length of a description that says moves of a group once."""
            target, saved = math.log(max(2, found.draft.states)), 0.0
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

    def _settled(self, changed: Iterable[Run], run: Run) -> Run | None:
        """The first of some changed machines that is better than what it comes from once its transitions are set."""
        for found in changed:
            better: Run | None = found
            while better is not None:
                found, better = better, self.retargeted(better)
            if found.length < run.length - SLIGHT and found.draft.states <= self.most_states:
                return found
        return None

    def _grown(self, run: Run) -> Iterator[Run]:
        """With a new state behind one transition, those first after which the episodes go wrong least."""
        draft = self.with_ends(run.draft)
        states, letters = draft.table.shape
        to_come = self.to_come(draft)
        active = np.asarray(run.moves.any(0))
        group = run.before * letters + self.letters
        found: list[tuple[int, int, int, dict[int, int]]] = []
        for edge in np.flatnonzero(run.seen.ravel()).tolist():
            steps = np.flatnonzero(group == edge)
            now = int(to_come[steps, draft.table.flat[edge]].sum())
            best = self.new_state(steps, active, to_come)
            # Letters that had better do nothing in the new state, one after the other.
            moves = active.copy()
            for letter in np.flatnonzero(active).tolist():
                moves[letter] = False
                other = self.new_state(steps, moves, to_come)
                moves[letter] = other[0] > best[0]
                best = min(best, other, key=lambda one: one[0])
            found.append((best[0] - now, edge, *best[1:]))
        for _, edge, level, leads in sorted(found, key=lambda one: one[:3])[:TRIED]:
            table = np.concatenate([draft.table, np.full((1, letters), states)])
            for letter, target in leads.items():
                table[states, letter] = target
            table.flat[edge] = states
            yield self.run(Draft(table, np.append(draft.levels, level)))
