"""Machines where letters are sometimes wrong: judged by how probable they make the potentials.

What a transition that leads elsewhere would change is estimated for all of them at once, by going through the episodes
forwards and backwards, as expectation-maximisation does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nrm.inference.drafts import Draft, Run, structure, with_ends
from nrm.inference.evidence import Evidence
from nrm.inference.letter_model import Floats
from nrm.inference.misreading import Forward, Ints, Misreader
from nrm.inference.searching import TRIED, Search

LEAST = 1e-12
"""What a change leaves at least of the probability of an episode, as far as is estimated."""
TELLING = 1.0
"""Nats that a transition of a new state must save to differ from that of the state it comes from."""


@dataclass(frozen=True, eq=False)
class Belief(Run):
    """A draft, and what is believed of the states that episodes were in. All of its states can be reached."""

    forward: Forward


class MisreadRefinement(Search[Belief]):
    """Changes of machines, judged by how probable they make the potentials."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        super().__init__(evidence, max_states)
        self._reader = Misreader(evidence)

    def run(self, draft: Draft) -> Belief:
        """By letters as they may have been. States that cannot be reached are dropped."""
        draft = reachable(draft)
        forward = self._reader.forward(draft.table, draft.levels)
        seen = np.rint(self._reader.counts(draft.table, draft.levels, forward)).astype(np.int64)
        moves = (draft.table != np.arange(draft.states)[:, None]) & (seen > 0)
        length = structure(moves, seen, self.evidence.level_count) - float(np.log(forward.chances).sum())
        return Belief(draft, seen, moves, length, forward)

    def pairs(self, draft: Draft) -> list[tuple[int, int]]:
        """Those of one potential: potentials are told."""
        every = itertools.permutations(range(draft.states), 2)
        return [(one, other) for one, other in every if draft.levels[one] == draft.levels[other]]

    def gains(self, run: Belief, draft: Draft) -> Floats:
        """To first order in each episode."""
        to_come = self._reader.backward(draft.table, draft.levels, run.forward.chances)
        return self._gains(run.forward, to_come, run.draft.table)

    def grown(self, run: Belief) -> Iterator[Belief]:
        """Those first whose own transitions, were they free to lead elsewhere, would save most."""
        tagged = by_entry(run)
        draft = with_ends(run.draft, self.evidence.level_count)
        table, levels = run.draft.table[tagged.of], run.draft.levels[tagged.of]
        forward = self._reader.forward(tagged.table, levels)
        gains = self._gains(forward, self._reader.backward(draft.table, draft.levels, forward.chances), table)
        saved = np.maximum(gains.max(2), 0.0).sum(1)
        # The initial state is there already, and so is one with a single way in.
        saved[(np.bincount(tagged.of)[tagged.of] < 2) | (np.arange(len(saved)) == 0)] = 0.0
        for entry in np.argsort(-saved, kind="stable")[:TRIED].tolist():
            if not saved[entry]:
                break
            stays = table[entry] == tagged.of[entry]
            leads = np.where(gains[entry].max(1) > TELLING, gains[entry].argmax(1), table[entry])
            leads = np.where(stays & (leads == tagged.of[entry]), draft.states, leads)
            larger = np.concatenate([draft.table, leads[None]])
            larger[tagged.edges[entry - 1]] = draft.states
            yield self.run(Draft(larger, np.append(draft.levels, levels[entry])))

    def _gains(self, forward: Forward, to_come: Floats, table: Ints) -> Floats:
        """(states, letters, targets) nats saved, about, by a transition that leads elsewhere than `table` says.

        Of the paths through an episode some do not take the transition (as many as if they took it by chance,
        independently of each other); all others go on as the target does.
        """
        reader = self._reader
        before, after = forward.before.transpose(1, 2, 0), to_come.transpose(1, 0, 2)
        result = np.empty((*table.shape, to_come.shape[2]))
        for letter, column in enumerate(table.T):
            taken = (before * reader.likely[:, :, letter].T[:, None]) @ after
            now = np.take_along_axis(taken, np.broadcast_to(column[:, None], (*taken.shape[:2], 1)), 2)
            rest = np.exp(-now)
            logs = np.log(np.maximum(rest + taken, LEAST)).sum(0)
            result[:, letter] = logs - np.log(rest + now).sum(0)
        return result


@dataclass(frozen=True, eq=False)
class Tagged:
    """A machine that remembers by which transition it came into its state: the same, with a copy for each way in."""

    table: Ints
    """(copies, letters) the next copy. The first is the initial state."""
    of: Ints
    """(copies,) the state that each is a copy of."""
    edges: list[tuple[int, int]]
    """State and letter of the way into each copy but the first."""


def by_entry(run: Run) -> Tagged:
    """A copy of a state for each transition that leads to it and was taken."""
    table, here = run.draft.table, np.arange(run.draft.states)
    edges = list(zip(*(part.tolist() for part in np.nonzero(run.moves)), strict=True))
    of = np.array([0, *(int(table[edge]) for edge in edges)])
    # A way in that was not taken leads to any copy.
    into = np.array([int(np.flatnonzero(of == state)[0]) if (of == state).any() else 0 for state in here])[table]
    into[run.moves] = np.arange(1, len(of))
    stays = (table == here[:, None])[of]
    return Tagged(np.where(stays, np.arange(len(of))[:, None], into[of]), of, edges)


def reachable(draft: Draft) -> Draft:
    """The part of a machine that its initial state leads to."""
    order = [0]
    for state in order:
        order += [after for after in dict.fromkeys(draft.table[state].tolist()) if after not in order]
    place = np.empty(draft.states, dtype=np.int64)
    place[order] = np.arange(len(order))
    return Draft(place[draft.table[order]], draft.levels[order])
