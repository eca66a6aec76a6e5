"""Machines where potentials are sometimes wrong.

Merging decides node by node, and with many nodes chance refuses some that are one and joins some that are not. Here
whole machines are judged by all episodes, and by the potentials that they say wrongly (of deterministic machines this
is hard expectation-maximisation). What an episode would show, were a step to lead elsewhere, is known for all states at
once by going through it backwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nrm.inference.drafts import Draft, Draftsman, Walk, with_ends
from nrm.inference.evidence import Evidence
from nrm.inference.searching import TRIED, Search


class Refinement(Search[Walk]):
    """Changes of machines, judged by how many potentials they say wrongly."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        super().__init__(evidence, max_states)
        self._man = Draftsman(evidence)

    def run(self, draft: Draft) -> Walk:
        """By the letters that were read. Potentials are those shown most often."""
        return self._man.run(draft)

    def gains(self, run: Walk, draft: Draft) -> NDArray[np.float64]:
        """Exact but for transitions that are taken twice in an episode."""
        to_come = self._man.to_come(draft)
        size = run.draft.table.size
        group = run.before * run.draft.table.shape[1] + self._man.letters
        costs = np.stack([np.bincount(group, column, minlength=size) for column in to_come.T], 1)
        gains = costs[np.arange(size), run.draft.table.ravel()][:, None] - costs
        result: NDArray[np.float64] = self._man.wrong * gains.reshape(*run.draft.table.shape, -1).astype(np.float64)
        return result

    def grown(self, run: Walk) -> Iterator[Walk]:
        """Those first after which the episodes go wrong least."""
        draft = with_ends(run.draft, self.evidence.level_count)
        states, letters = draft.table.shape
        to_come = self._man.to_come(draft)
        active = np.asarray(run.moves.any(0))
        group = run.before * letters + self._man.letters
        found: list[tuple[int, int, int, dict[int, int]]] = []
        for edge in np.flatnonzero(run.seen.ravel()).tolist():
            steps = np.flatnonzero(group == edge)
            now = int(to_come[steps, draft.table.flat[edge]].sum())
            best = self._man.new_state(steps, active, to_come)
            # Letters that had better do nothing in the new state, one after the other.
            moves = active.copy()
            for letter in np.flatnonzero(active).tolist():
                moves[letter] = False
                other = self._man.new_state(steps, moves, to_come)
                moves[letter] = other[0] > best[0]
                best = min(best, other, key=lambda one: one[0])
            found.append((best[0] - now, edge, *best[1:]))
        for _, edge, level, leads in sorted(found, key=lambda one: one[:3])[:TRIED]:
            table = np.concatenate([draft.table, np.full((1, letters), states)])
            for letter, target in leads.items():
                table[states, letter] = target
            table.flat[edge] = states
            yield self.run(Draft(table, np.append(draft.levels, level)))
