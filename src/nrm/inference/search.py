"""Machines by description length, where rewards or letters are sometimes wrong: found by changes that shorten it.

Whole machines are judged by all episodes: the description length of their moves, and of what they say wrongly (minimum
description length). A subclass says how episodes go through a machine, and so what is wrong. Merging decides node by
node, and with many nodes chance refuses some that are one and joins some that are not.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.inference.merging import Candidate, Folding

SLIGHT = 1e-6
"""Nats that are no improvement."""
MAX_TRIED = 6
"""Candidates of a kind that are looked at in full, the most promising first."""


def blank(evidence: Evidence) -> Candidate:
    """One state in which nothing ever happens."""
    return Candidate(np.zeros((1, evidence.letter_count), dtype=np.int64), np.array([evidence.initial]))


def by_level(evidence: Evidence) -> Candidate:
    """A state for each potential; each letter leads from a potential to where it led most often, or nowhere."""
    count = evidence.level_count
    order = np.array([evidence.initial, *(level for level in range(count) if level != evidence.initial)])
    led = np.zeros((count, evidence.letter_count, count), dtype=np.int64)
    np.add.at(led, (evidence.levels_before, evidence.letters, evidence.levels), 1)
    after = np.where(led.any(2), led.argmax(2), np.arange(count)[:, None])
    return Candidate(np.argsort(order)[after[order]], order)


def with_ends(candidate: Candidate, level_count: int) -> Candidate:
    """With a state of each potential that is never left, for transitions to lead to."""
    ends = np.arange(candidate.states, candidate.states + level_count)
    table = np.concatenate([candidate.table, np.repeat(ends[:, None], candidate.table.shape[1], 1)])
    return Candidate(table, np.append(candidate.levels, np.arange(level_count)))


@dataclass(frozen=True, eq=False)
class Fit:
    """A candidate that episodes went through."""

    candidate: Candidate
    seen: Ints
    """(states, letters) how often each transition was taken."""
    moves: NDArray[np.bool_]
    """(states, letters) the transitions that were taken and lead elsewhere."""
    length: float
    """Description length in nats, of what differs between machines."""
    path: Any
    """How episodes went through it, as the search knows it."""

    def folded(self, one: int, other: int) -> Candidate:
        """The machine in which two states are one, and all that must then be one; what was never taken is open."""
        table, states = self.candidate.table, self.candidate.states
        taken = [
            {letter: int(row[letter]) for letter in np.flatnonzero(seen).tolist()}
            for row, seen in zip(table, self.seen, strict=True)
        ]
        folding = Folding(taken, [None] * states, [0] * states)
        folding.join(one, other)
        first: dict[int, int] = {}
        for state in range(states):
            first.setdefault(folding.find(state), state)
        place = {root: number for number, root in enumerate(first)}
        result = np.repeat(np.arange(len(first))[:, None], table.shape[1], 1)
        for root, number in place.items():
            for letter, target in folding.children[root].items():
                result[number, letter] = place[folding.find(target)]
        return Candidate(result, self.candidate.levels[list(first.values())])


class Search(ABC):
    """Changes of machines, judged by some episodes."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        self.evidence = evidence
        self.max_states = max_states

    @classmethod
    def shortest(cls, evidence: Evidence, max_states: int, also: Sequence[Candidate] = ()) -> Fit:
        """The machine with the shortest description that is found, from several beginnings."""
        # Descent ends where no single change helps, and where that is depends on what it began with.
        few = 250  # episodes of a first search; all of them then mend what it found
        episodes, nothing, shown = len(evidence.lengths), blank(evidence), by_level(evidence)
        part = cls(evidence.pick(range(min(few, -(-episodes // 2)))), max_states).descend(nothing).candidate
        search = cls(evidence, max_states)
        beginnings = [part, *([] if episodes > 2 * few else [nothing]), *also]
        beginnings += [shown] if shown.states <= max_states else []
        found = [search.descend(candidate) for candidate in beginnings]
        return search.with_shared_moves(min(found, key=lambda fit: fit.length))

    @abstractmethod
    def fit(self, candidate: Candidate) -> Fit:
        """Let the episodes go through a machine."""

    @abstractmethod
    def gains(self, fit: Fit, candidate: Candidate) -> NDArray[np.float64]:
        """(states, letters, states of the candidate) nats of what is said wrongly that each transition saves, about."""

    @abstractmethod
    def grown(self, fit: Fit) -> Iterator[Fit]:
        """With a new state behind one transition, the most promising first."""

    def pairs(self, candidate: Candidate) -> list[tuple[int, int]]:
        """Pairs of states that may be one."""
        return list(itertools.permutations(range(candidate.states), 2))

    def structure(self, moves: NDArray[np.bool_], seen: Ints) -> float:
        """Nats of a machine: a potential for each state, which letters count, and where each of these leads."""
        active = moves.any(0)
        leads = int((seen[:, active] > 0).sum()) * _price(len(moves))
        letters = int(active.sum()) * _price(moves.shape[1])
        return len(moves) * _price(self.evidence.level_count) + letters + leads

    def descend(self, candidate: Candidate) -> Fit:
        """To where no change shortens the description."""
        fit = self.fit(candidate)
        for _ in range(300):
            better = self.retargeted(fit) or self.merged(fit) or self.split(fit) or self.without_letter(fit)
            if better is None:
                break
            fit = better
        return fit

    def retargeted(self, fit: Fit) -> Fit | None:
        """With one transition that leads elsewhere."""
        candidate = with_ends(fit.candidate, self.evidence.level_count)
        states, here = candidate.states, np.arange(fit.candidate.states)
        # A letter that did nothing so far has to be described where it leads from all states.
        new = _price(self.evidence.letter_count) + (fit.seen > 0).sum(0) * _price(fit.candidate.states)
        idle = np.where(fit.moves.any(0), 0.0, new)
        gains = self.gains(fit, candidate) - idle[None, :, None] * (np.arange(states) != here[:, None, None])
        gains[fit.seen == 0] = -np.inf
        for place in np.argsort(-gains, axis=None, kind="stable")[:MAX_TRIED].tolist():
            if gains.flat[place] <= 0:
                break
            table = candidate.table.copy()
            table.flat[place // states] = place % states
            found = self.fit(Candidate(table, candidate.levels))
            if self._better(found, fit):
                return found
        return None

    def merged(self, fit: Fit) -> Fit | None:
        """With fewer states: two made one, or one no longer led to."""
        table, levels = fit.candidate.table, fit.candidate.levels
        pairs = self.pairs(fit.candidate)
        smaller = [fit.folded(one, other) for one, other in pairs if one < other]
        smaller += [Candidate(np.where(table == one, other, table), levels) for one, other in pairs if one]
        found = sorted(map(self.fit, smaller), key=lambda fit: fit.length)[:MAX_TRIED]
        return found[0] if found and found[0].length < fit.length - SLIGHT else self._settled(found, fit)

    def split(self, fit: Fit) -> Fit | None:
        """With one more state, to which one transition leads that led elsewhere."""
        return self._settled(self.grown(fit), fit)

    def without_letter(self, fit: Fit) -> Fit | None:
        """With a letter that does nothing any more."""
        candidates = []
        for letter in np.flatnonzero(fit.moves.any(0)).tolist():
            table = fit.candidate.table.copy()
            table[:, letter] = np.arange(len(table))
            candidates.append(Candidate(table, fit.candidate.levels))
        return self._settled(map(self.fit, candidates), fit)

    def with_shared_moves(self, fit: Fit) -> Fit:
        """With the same moves for letters that are then described once, as long as this is shorter."""
        group = np.arange(self.evidence.letter_count)

        def shared(found: Fit, group: Ints) -> float:
            """The length of a description that says moves of a group once."""
            saved = 0.0
            for mine in (group == one for one in np.unique(group)):
                if mine.sum() > 1:
                    taken = found.seen[:, mine & found.moves.any(0)] > 0
                    saved += (taken.sum() - taken.any(1).sum()) * _price(found.candidate.states)
            return found.length - saved

        while True:
            now, best = shared(fit, group), None
            moving = [one for one in np.unique(group).tolist() if fit.moves[:, group == one].any()]
            for one, other in itertools.permutations(moving, 2):
                both = np.where(group == other, one, group)
                seen = fit.seen[:, group == one].any(1)
                of_one, of_other = (
                    fit.candidate.table[:, np.flatnonzero(group == member)[0]] for member in (one, other)
                )
                table = fit.candidate.table.copy()
                table[:, both == one] = np.where(seen, of_one, of_other)[:, None]
                found = self.fit(Candidate(table, fit.candidate.levels))
                same = found.candidate.states == fit.candidate.states
                if same and (length := shared(found, both)) < now - SLIGHT:
                    now, best = length, (found, both)
            if best is None:
                return fit
            fit, group = best

    def _settled(self, changed: Iterable[Fit], fit: Fit) -> Fit | None:
        """The first of some changed machines that is better than what it comes from once its transitions are set."""
        for found in changed:
            better: Fit | None = found
            while better is not None:
                found, better = better, self.retargeted(better)
            if self._better(found, fit):
                return found
        return None

    def _better(self, found: Fit, fit: Fit) -> bool:
        return found.length < fit.length - SLIGHT and found.candidate.states <= self.max_states


class RewardNoiseSearch(Search):
    """Steps are ordered by time: the first steps of all episodes, the longest episode first, then their second ones.

    So all that happens at one time is one slice, and what an episode would show, were a step to lead elsewhere, is
    known for all states at once by going through it backwards. A path is (steps,) the state before each, by time.
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

    def fit(self, candidate: Candidate) -> Fit:
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
        counts, before = counts[met], place[before]
        levels = counts.argmax(1)
        levels[0] = self.evidence.initial
        here = np.arange(len(table))
        slips = int(counts.sum() - counts[here, levels].sum())
        seen = np.bincount(before * width + self.letters, minlength=table.size).reshape(table.shape)
        moves = (table != here[:, None]) & (seen > 0)
        length = self.wrong * slips + self.structure(moves, seen)
        return Fit(Candidate(table, levels), seen, moves, length, before)

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

    def gains(self, fit: Fit, candidate: Candidate) -> NDArray[np.float64]:
        """Exact but for transitions that are taken twice in an episode."""
        to_come = self.to_come(candidate)
        table = fit.candidate.table
        group = fit.path * table.shape[1] + self.letters
        costs = np.stack([np.bincount(group, column, minlength=table.size) for column in to_come.T], 1)
        gains = costs[np.arange(table.size), table.ravel()][:, None] - costs
        result: NDArray[np.float64] = self.wrong * gains.reshape(*table.shape, -1).astype(np.float64)
        return result

    def grown(self, fit: Fit) -> Iterator[Fit]:
        """Those first after which the episodes go wrong least."""
        candidate = with_ends(fit.candidate, self.evidence.level_count)
        states, letters = candidate.table.shape
        to_come = self.to_come(candidate)
        active = np.asarray(fit.moves.any(0))
        group = fit.path * letters + self.letters
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


def _price(choices: int) -> float:
    """Nats of saying one of several things."""
    return math.log(max(2, choices))
