"""Letters that are sometimes wrong: what was probably read, how probable episodes are in a machine, and which it is.

One wrong letter leaves a machine in a wrong state for the rest of an episode, so what is followed is a belief: the
machine with letters as they may have been is an input-output hidden Markov model (Bengio and Frasconi, 1995).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.inference.merging import Candidate
from nrm.inference.search import MAX_TRIED, Fit, Search, with_ends

Floats = NDArray[np.float64]

MIN_NOISE = 1e-3
"""How probable it is at least that a state shows another potential, so that wrong machines can be compared."""


@dataclass(frozen=True, eq=False)
class LetterModel:
    """A Markov chain of letters, seen through noise."""

    first: Floats
    """(letters,) how probable each is at the beginning."""
    follows: Floats
    """(letters, letters) how probable each is after another."""
    noise: Floats
    """(true, observed) how probable it is that a letter is observed as another."""

    @classmethod
    def of(cls, pairs: Floats, label_noise: float) -> LetterModel:
        """From what was observed (`observed_pairs`), with this probability of a wrong letter."""
        count = pairs.shape[1]
        noise = np.full((count, count), label_noise / max(1, count - 1))
        np.fill_diagonal(noise, 1 - label_noise if count > 1 else 1.0)
        # Those observed are the true ones, mixed by slips: undone, of pairs on both sides.
        back = np.linalg.inv(noise)
        # A quarter of what is observed counts as true at least, lest a letter be lost that is as seldom as slips are.
        rates = np.maximum(pairs.sum(0) @ back, 0.25 * pairs.sum(0)) / max(1.0, pairs.sum())
        rates = np.maximum(rates, 1e-4)
        undone = np.concatenate([pairs[:1], back.T @ pairs[1:]]) @ back
        # Beside the steps seen from each letter, two as if letters did not depend on each other.
        chain = np.maximum(undone, 0.25 * pairs) + 2.0 * rates
        chain /= chain.sum(1, keepdims=True)
        return cls(chain[0], chain[1:], noise)

    def letters(self, observed: NDArray[np.int64], present: NDArray[np.bool_]) -> Floats:
        """(time, episodes, letters) how probable each is to have been read, given all `observed` (time, episodes)."""
        seen = self.noise.T[observed]
        result = np.empty((*observed.shape, len(self.first)))
        belief = np.broadcast_to(self.first, result.shape[1:])
        for time in range(len(observed)):
            belief = belief * seen[time]
            belief = result[time] = belief / belief.sum(1, keepdims=True)
            belief = belief @ self.follows
        later = np.ones(result.shape[1:])
        for time in range(len(observed) - 1, -1, -1):
            result[time] *= later
            result[time] /= result[time].sum(1, keepdims=True)
            later = np.where(present[time][:, None], (later * seen[time]) @ self.follows.T, 1.0)
            later /= later.sum(1, keepdims=True)
        return result


def observed_pairs(evidence: Evidence) -> Floats:
    """(letters + 1, letters) how often each was observed after each other one; in the first row, at the beginning."""
    result = np.zeros((evidence.letter_count + 1, evidence.letter_count))
    np.add.at(result, (evidence.before(evidence.letters + 1, 0), evidence.letters), 1.0)
    return result


def leads_of(table: Ints) -> Floats:
    """(letters, states, states) whether a letter leads from a state to another one."""
    result = np.zeros((table.shape[1], len(table), len(table)))
    np.put_along_axis(result, table.T[:, :, None], 1.0, 2)
    return result


class Forward(NamedTuple):
    """How episodes go through a machine."""

    before: Floats
    """(time, episodes, states) the belief before each step, given all that was observed and shown until then."""
    chances: Floats
    """(time, episodes) how probable the potential was that each step showed, given the same; 1 past the end."""


class ForwardBackward:
    """Episodes whose letters may be wrong, side by side. The longest one is the first."""

    def __init__(self, evidence: Evidence, model: LetterModel | None = None) -> None:
        """`model`: which letters are probable; by default what these episodes say of it."""
        begun, self._going = evidence.by_length
        steps = begun + np.arange(len(self._going))[:, None]
        self.present = np.arange(len(begun)) < np.array(self._going)[:, None]
        """(time, episodes) whether the episode still goes on."""
        self.steps = np.where(self.present, steps, 0)
        """(time, episodes) the number of the step in the evidence."""
        self.letters, self.levels = evidence.letters[self.steps], evidence.levels[self.steps]
        """(time, episodes)"""
        model = model or LetterModel.of(observed_pairs(evidence), evidence.label_noise)
        letters = model.letters(self.letters, self.present)
        self.likely = np.where(self.present[..., None], letters, 0.0)
        """(time, episodes, letters) how probable each is to have been read."""
        count, slip = evidence.level_count, max(evidence.reward_noise, MIN_NOISE)
        self.shown = np.full((count, count), slip / max(1, count - 1))
        """(shown, potential) how probable it is that a state of a potential shows another one."""
        np.fill_diagonal(self.shown, 1 - slip if count > 1 else 1.0)

    def forward(self, table: Ints, levels: Ints) -> Forward:
        """Go through a machine: (states, letters) the next states, and (states,) potentials."""
        states = len(levels)
        flat = leads_of(table).transpose(1, 0, 2).reshape(states, -1)
        shown = self.shown[:, levels]
        before, chances = np.zeros((*self.letters.shape, states)), np.ones(self.letters.shape)
        belief = np.zeros((self._going[0], states))
        belief[:, 0] = 1.0
        for time, going in enumerate(self._going):
            belief = before[time, :going] = belief[:going]
            # For all letters at once: one product of matrices is faster than many small ones.
            each = (belief @ flat).reshape(going, -1, states)
            after = (self.likely[time, :going, None] @ each)[:, 0] * shown[self.levels[time, :going]]
            chances[time, :going] = after.sum(1)
            belief = after / chances[time, :going, None]
        return Forward(before, chances)

    def backward(self, table: Ints, levels: Ints, chances: Floats) -> Floats:
        """(time, episodes, states) how probable all potentials from a step on are, were it to lead to a state."""
        states = len(levels)
        flat = leads_of(table).transpose(2, 0, 1).reshape(states, -1)
        shown = self.shown[:, levels]
        result = np.zeros((*self.letters.shape, states))
        for time in range(len(self._going) - 1, -1, -1):
            going = self._going[time]
            result[time, :going] = shown[self.levels[time, :going]] / chances[time, :going, None]
            later = self._going[time + 1] if time + 1 < len(self._going) else 0
            if later:
                each = (result[time + 1, :later] @ flat).reshape(later, -1, states)
                result[time, :later] *= (self.likely[time + 1, :later, None] @ each)[:, 0]
        return result

    def counts(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(states, letters) how often each transition was probably taken, given what was shown until then."""
        steps = np.moveaxis(forward.before, 2, 0) / forward.chances
        sums = np.stack(
            [steps[:, self.levels == level] @ self.likely[self.levels == level] for level in range(len(self.shown))]
        )
        result: Floats = (sums * self.shown[:, levels[table]]).sum(0)
        return result

    def slips(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(time, episodes, states) how probable it is that a step was taken in a state and went wrong."""
        observed = np.take_along_axis(self.likely, self.letters[..., None], 2)
        after = levels[table[:, self.letters]].transpose(1, 2, 0)
        right = np.where(after == self.levels[..., None], np.diag(self.shown)[after], 0.0)
        every = np.zeros_like(forward.before)
        for level, shown in enumerate(self.shown[:, levels[table]]):
            mine = self.levels == level
            every[mine] = self.likely[mine] @ shown.T
        result: Floats = forward.before * (every - observed * right) / forward.chances[..., None]
        return result

    def after(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(steps of the evidence, states) the belief after each step, before its potential is looked at."""
        leads = leads_of(table)
        result = np.zeros((int(self.present.sum()), len(levels)))
        for letter in range(table.shape[1]):
            chances = forward.before * self.likely[:, :, letter, None]
            result[self.steps[self.present]] += chances[self.present] @ leads[letter]
        return result


class LabelNoiseSearch(Search):
    """Changes of machines, judged by how probable they make the potentials; a path is `Forward`."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        super().__init__(evidence, max_states)
        self._through = ForwardBackward(evidence)

    def fit(self, candidate: Candidate) -> Fit:
        """By letters as they may have been. States that cannot be reached are dropped."""
        candidate = candidate.reachable()
        forward = self._through.forward(candidate.table, candidate.levels)
        seen = np.rint(self._through.counts(candidate.table, candidate.levels, forward)).astype(np.int64)
        moves = (candidate.table != np.arange(candidate.states)[:, None]) & (seen > 0)
        length = self.structure(moves, seen) - float(np.log(forward.chances).sum())
        return Fit(candidate, seen, moves, length, forward)

    def pairs(self, candidate: Candidate) -> list[tuple[int, int]]:
        """Those of one potential: potentials are shown."""
        every = itertools.permutations(range(candidate.states), 2)
        return [(one, other) for one, other in every if candidate.levels[one] == candidate.levels[other]]

    def gains(self, fit: Fit, candidate: Candidate) -> Floats:
        """To first order in each episode."""
        to_come = self._through.backward(candidate.table, candidate.levels, fit.path.chances)
        return self._gains(fit.path, to_come, fit.candidate.table)

    def grown(self, fit: Fit) -> Iterator[Fit]:
        """Those first whose own transitions, were they free to lead elsewhere, would save most."""
        tagged = by_entry(fit)
        candidate = with_ends(fit.candidate, self.evidence.level_count)
        table, levels = fit.candidate.table[tagged.of], fit.candidate.levels[tagged.of]
        forward = self._through.forward(tagged.table, levels)
        gains = self._gains(forward, self._through.backward(candidate.table, candidate.levels, forward.chances), table)
        saved = np.maximum(gains.max(2), 0.0).sum(1)
        # The initial state is there already, and so is one with a single way in.
        saved[(np.bincount(tagged.of)[tagged.of] < 2) | (np.arange(len(saved)) == 0)] = 0.0
        for entry in np.argsort(-saved, kind="stable")[:MAX_TRIED].tolist():
            if not saved[entry]:
                break
            # Nats that a transition of the new state must save to differ from that of the state it comes from: 1.
            stays = table[entry] == tagged.of[entry]
            leads = np.where(gains[entry].max(1) > 1.0, gains[entry].argmax(1), table[entry])
            leads = np.where(stays & (leads == tagged.of[entry]), candidate.states, leads)
            larger = np.concatenate([candidate.table, leads[None]])
            larger[tagged.edges[entry - 1]] = candidate.states
            yield self.fit(Candidate(larger, np.append(candidate.levels, levels[entry])))

    def _gains(self, forward: Forward, to_come: Floats, table: Ints) -> Floats:
        """(states, letters, targets) nats saved, about, by a transition that leads elsewhere than `table` says."""
        through = self._through
        before, after = forward.before.transpose(1, 2, 0), to_come.transpose(1, 0, 2)
        result = np.empty((*table.shape, to_come.shape[2]))
        for letter, column in enumerate(table.T):
            taken = (before * through.likely[:, :, letter].T[:, None]) @ after
            now = np.take_along_axis(taken, np.broadcast_to(column[:, None], (*taken.shape[:2], 1)), 2)
            rest = np.exp(-now)
            logs = np.log(np.maximum(rest + taken, 1e-12)).sum(0)
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


def by_entry(fit: Fit) -> Tagged:
    """A copy of a state for each transition that leads to it and was taken."""
    table, here = fit.candidate.table, np.arange(fit.candidate.states)
    edges = list(zip(*(part.tolist() for part in np.nonzero(fit.moves)), strict=True))
    of = np.array([0, *(int(table[edge]) for edge in edges)])
    # A way in that was not taken leads to any copy.
    into = np.array([int(np.flatnonzero(of == state)[0]) if (of == state).any() else 0 for state in here])[table]
    into[fit.moves] = np.arange(1, len(of))
    stays = (table == here[:, None])[of]
    return Tagged(np.where(stays, np.arange(len(of))[:, None], into[of]), of, edges)
