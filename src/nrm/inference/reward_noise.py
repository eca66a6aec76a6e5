"""Machines where potentials are sometimes wrong: judged by how many they say wrongly.

Merging decides node by node, and with many nodes chance refuses some that are one and joins some that are not. Here
whole machines are judged by all episodes (of deterministic machines this is hard expectation-maximisation). What an
episode would show, were a step to lead elsewhere, is known for all states at once by going through it backwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.inference.search import MAX_TRIED, Candidate, Fit, Search


@dataclass(frozen=True, eq=False)
class Walk(Fit):
    """With the state at every step. All states of the candidate are met."""

    before: Ints
    """(steps,) the state in which each was taken, by time."""
    after: Ints
    """(steps,) the state that each led to, by time."""


class RewardNoiseSearch(Search[Walk]):
    """Steps are ordered by time: the first steps of all episodes, the longest episode first, then their second ones.

    So all that happens at one time is one slice.
    """

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        super().__init__(evidence, max_states)
        self.wrong = math.log((1 - evidence.reward_noise) * max(1, evidence.level_count - 1) / evidence.reward_noise)
        """Nats of a potential that is said wrongly."""
        begun, self._going = evidence.by_length
        self._bounds = np.concatenate([[0], np.cumsum(self._going)]).tolist()
        self._step = np.concatenate([begun[:going] + time for time, going in enumerate(self._going)])
        """(steps,) by time: the number of each in the evidence."""
        self._place = np.argsort(self._step)
        """(steps,) of the evidence: the place of each by time."""
        self.letters, self.levels = evidence.letters[self._step], evidence.levels[self._step]
        """(steps,) by time."""
        self._last = np.repeat(evidence.begun + evidence.lengths, evidence.lengths)
        """(steps,) of the evidence: the step after the last one of the same episode."""
        differs = np.ones((evidence.level_count, len(evidence.levels)), dtype=np.int32)
        differs[evidence.levels, np.arange(len(evidence.levels))] = 0
        self._differs = np.concatenate([np.zeros((len(differs), 1), np.int32), differs.cumsum(1)], 1)
        """(potentials, steps + 1) of the evidence: how many steps before each show another potential."""

    def fit(self, candidate: Candidate) -> Walk:
        """By the letters that were read. Potentials are those shown most often; what is not met is dropped."""
        after, before = np.empty_like(self.letters), np.empty_like(self.letters)
        state = np.zeros(self._going[0], dtype=np.int64)
        flat, width = candidate.table.ravel(), candidate.table.shape[1]
        for time, going in enumerate(self._going):
            rows = slice(self._bounds[time], self._bounds[time] + going)
            before[rows] = state[:going]
            after[rows] = state = flat.take(state[:going] * width + self.letters[rows])
        shape = (candidate.states, self.evidence.level_count)
        counts = np.bincount(after * shape[1] + self.levels, minlength=shape[0] * shape[1]).reshape(shape)
        counts[0, self.evidence.initial] += self._going[0]
        met = np.asarray(counts.any(1))
        place = np.cumsum(met) - 1
        table = np.where(met[candidate.table], place[candidate.table], place[:, None])[met]
        counts, before, after = counts[met], place[before], place[after]
        levels = counts.argmax(1)
        levels[0] = self.evidence.initial
        here = np.arange(len(table))
        slips = int(counts.sum() - counts[here, levels].sum())
        seen = np.bincount(before * width + self.letters, minlength=table.size).reshape(table.shape)
        moves = (table != here[:, None]) & (seen > 0)
        length = self.wrong * slips + self.structure(moves, seen)
        return Walk(Candidate(table, levels), seen, moves, length, before, after)

    def to_come(self, candidate: Candidate) -> NDArray[np.int32]:
        """(steps, states) by time: how many potentials would be wrong from a step on, were it to lead to a state."""
        result: NDArray[np.int32] = (self.levels[:, None] != candidate.levels).astype(np.int32)
        follows = np.ascontiguousarray(candidate.table.T)
        for time in range(len(self._going) - 2, -1, -1):
            going, first = self._going[time + 1], self._bounds[time + 1]
            later = result[first : first + going]
            offsets = follows[self.letters[first : first + going]] + (np.arange(going) * candidate.states)[:, None]
            result[self._bounds[time] : self._bounds[time] + going] += later.ravel().take(offsets)
        return result

    def gains(self, fit: Walk, candidate: Candidate) -> NDArray[np.float64]:
        """Exact but for transitions that are taken twice in an episode."""
        to_come = self.to_come(candidate)
        table = fit.candidate.table
        group = fit.before * table.shape[1] + self.letters
        costs = np.stack([np.bincount(group, column, minlength=table.size) for column in to_come.T], 1)
        gains = costs[np.arange(table.size), table.ravel()][:, None] - costs
        result: NDArray[np.float64] = self.wrong * gains.reshape(*table.shape, -1).astype(np.float64)
        return result

    def grown(self, fit: Walk) -> Iterator[Walk]:
        """Those first after which the episodes go wrong least."""
        candidate = fit.candidate.with_ends(self.evidence.level_count)
        states, letters = candidate.table.shape
        to_come = self.to_come(candidate)
        active = np.asarray(fit.moves.any(0))
        group = fit.before * letters + self.letters
        found: list[tuple[int, int, int, dict[int, int]]] = []
        for edge in np.flatnonzero(fit.seen.ravel()).tolist():
            steps = np.flatnonzero(group == edge)
            now = int(to_come[steps, candidate.table.flat[edge]].sum())
            best = self._new_state(steps, active, to_come)
            # Letters that had better do nothing in the new state, one after the other.
            moves = active.copy()
            for letter in np.flatnonzero(active).tolist():
                moves[letter] = False
                other = self._new_state(steps, moves, to_come)
                moves[letter] = other[0] > best[0]
                best = min(best, other, key=lambda one: one[0])
            found.append((best[0] - now, edge, *best[1:]))
        for _, edge, level, leads in sorted(found, key=lambda one: one[:3])[:MAX_TRIED]:
            table = np.concatenate([candidate.table, np.full((1, letters), states)])
            for letter, target in leads.items():
                table[states, letter] = target
            table.flat[edge] = states
            yield self.fit(Candidate(table, np.append(candidate.levels, level)))

    def _new_state(
        self, steps: Ints, moves: NDArray[np.bool_], to_come: NDArray[np.int32]
    ) -> tuple[int, int, dict[int, int]]:
        """The best state that some steps (by time) could lead to, which is left at the letters (letters,) that move it.

        Potentials that are then wrong, its potential, and where each letter leads.
        """
        steps, read = self._step[steps], self.evidence.letters
        last = self._last[steps]
        places = np.append(np.flatnonzero(moves[read]), len(read))
        until = np.minimum(places[np.searchsorted(places, steps, side="right")], last)
        stays = (self._differs[:, until] - self._differs[:, steps]).sum(1)
        cost, leads = int(stays.min()), dict[int, int]()
        later = until[until < last]
        for letter in np.unique(read[later]).tolist():
            sums = to_come[self._place[later[read[later] == letter]]].sum(0)
            leads[letter] = int(sums.argmin())
            cost += int(sums.min())
        return cost, int(stays.argmin()), leads
