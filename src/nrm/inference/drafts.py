"""Machines as drafts: how long it takes to describe them together with all that they say wrongly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draft:
    """A machine over all letters. State 0 is the initial one."""

    table: Ints
    """(states, letters) the next state."""
    levels: Ints
    """(states,) the index of the potential of each."""

    @classmethod
    def blank(cls, evidence: Evidence) -> Draft:
        """One state in which nothing ever happens."""
        return cls(np.zeros((1, evidence.letter_count), dtype=np.int64), np.array([evidence.initial]))

    @classmethod
    def by_level(cls, evidence: Evidence) -> Draft:
        """A state for each potential; each letter leads from a potential to where it led most often, or nowhere."""
        count = evidence.level_count
        order = np.array([evidence.initial, *(level for level in range(count) if level != evidence.initial)])
        led = np.zeros((count, evidence.letter_count, count), dtype=np.int64)
        np.add.at(led, (evidence.levels_before, evidence.letters, evidence.levels), 1)
        after = np.where(led.any(2), led.argmax(2), np.arange(count)[:, None])
        return cls(np.argsort(order)[after[order]], order)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class Run:
    """A draft that episodes went through."""

    draft: Draft
    seen: Ints
    """(states, letters) how often each transition was taken."""
    moves: NDArray[np.bool_]
    """(states, letters) the transitions that were taken and lead elsewhere."""
    length: float
    """Description length in nats, of what differs between machines."""


@dataclass(frozen=True, eq=False)
class Walk(Run):
    """The same with the state at every step. All states of the draft are met."""

    before: Ints
    """(steps,) the state in which each was taken, by time."""
    after: Ints
    """(steps,) the state that each led to, by time."""


class Draftsman:
    """Lets episodes run through drafts.

    Steps are ordered by time: first the first steps of all episodes, the longest episode first, then their second
    steps, and so on, so that all that happens at one time is one slice.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.letter_count, self.level_count = evidence.letter_count, evidence.level_count
        self.initial = evidence.initial
        self.wrong = math.log((1 - evidence.reward_noise) * max(1, self.level_count - 1) / evidence.reward_noise)
        """Nats of a potential that is said wrongly."""
        order = np.argsort(-evidence.lengths, kind="stable")
        begun, lengths = evidence.begun[order], evidence.lengths[order]
        self._going = [int(np.searchsorted(-lengths, -time, side="left")) for time in range(int(lengths[0]))]
        """How many episodes still go on at each time."""
        self._bounds = np.concatenate([[0], np.cumsum(self._going)]).tolist()
        self._step = np.concatenate([begun[:going] + time for time, going in enumerate(self._going)])
        """(steps,) by time: the number of each in the evidence."""
        self._place = np.argsort(self._step)
        """(steps,) of the evidence: the place of each by time."""
        self.letters, self.levels = evidence.letters[self._step], evidence.levels[self._step]
        """(steps,) by time."""
        self._read = evidence.letters
        self._last = np.repeat(evidence.begun + evidence.lengths, evidence.lengths)
        """(steps,) of the evidence: the step after the last one of the same episode."""
        differs = np.ones((self.level_count, len(evidence.levels)), dtype=np.int32)
        differs[evidence.levels, np.arange(len(evidence.levels))] = 0
        self._differs = np.concatenate([np.zeros((self.level_count, 1), np.int32), differs.cumsum(1)], 1)
        """(potentials, steps + 1) of the evidence: how many steps before each show another potential."""

    def run(self, draft: Draft) -> Walk:
        """Run episodes through a machine. Potentials are those shown most often; what is not met is dropped."""
        after, before = np.empty_like(self.letters), np.empty_like(self.letters)
        state = np.zeros(self._going[0], dtype=np.int64)
        flat, width = draft.table.ravel(), self.letter_count
        for time, going in enumerate(self._going):
            rows = slice(self._bounds[time], self._bounds[time] + going)
            before[rows] = state[:going]
            after[rows] = state = flat.take(state[:going] * width + self.letters[rows])
        shape = (draft.states, self.level_count)
        counts = np.bincount(after * shape[1] + self.levels, minlength=shape[0] * shape[1]).reshape(shape)
        counts[0, self.initial] += self._going[0]
        met = np.asarray(counts.any(1))
        place = np.cumsum(met) - 1
        table = np.where(met[draft.table], place[draft.table], place[:, None])[met]
        counts, before, after = counts[met], place[before], place[after]
        levels = counts.argmax(1)
        levels[0] = self.initial
        here = np.arange(len(table))
        slips = int(counts.sum() - counts[here, levels].sum())
        seen = np.bincount(before * width + self.letters, minlength=table.size).reshape(table.shape)
        moves = (table != here[:, None]) & (seen > 0)
        length = self.wrong * slips + structure(moves, seen, self.level_count)
        return Walk(Draft(table, levels), seen, moves, length, before, after)

    def to_come(self, draft: Draft) -> NDArray[np.int32]:
        """(steps, states) by time: how many potentials would be wrong from a step on, were it to lead to a state."""
        result: NDArray[np.int32] = (self.levels[:, None] != draft.levels).astype(np.int32)
        follows = np.ascontiguousarray(draft.table.T)
        for time in range(len(self._going) - 2, -1, -1):
            going, first = self._going[time + 1], self._bounds[time + 1]
            later = result[first : first + going]
            offsets = follows[self.letters[first : first + going]] + (np.arange(going) * draft.states)[:, None]
            result[self._bounds[time] : self._bounds[time] + going] += later.ravel().take(offsets)
        return result

    def new_state(
        self, steps: Ints, moves: NDArray[np.bool_], to_come: NDArray[np.int32]
    ) -> tuple[int, int, dict[int, int]]:
        """The best state that some steps (by time) could lead to, which is left at the letters (letters,) that move it.

        Potentials that are then wrong, its potential, and where each letter leads.
        """
        steps = self._step[steps]
        last = self._last[steps]
        places = np.append(np.flatnonzero(moves[self._read]), len(self._read))
        until = np.minimum(places[np.searchsorted(places, steps, side="right")], last)
        stays = (self._differs[:, until] - self._differs[:, steps]).sum(1)
        cost, leads = int(stays.min()), dict[int, int]()
        later = until[until < last]
        for letter in np.unique(self._read[later]).tolist():
            sums = to_come[self._place[later[self._read[later] == letter]]].sum(0)
            leads[letter] = int(sums.argmin())
            cost += int(sums.min())
        return cost, int(stays.argmin()), leads


def letter_price(letters: int) -> float:
    """Nats of saying that a letter counts."""
    return math.log(max(2, letters))


def target_price(states: int) -> float:
    """Nats of saying where a transition leads."""
    return math.log(max(2, states))


def structure(moves: NDArray[np.bool_], seen: Ints, level_count: int) -> float:
    """Nats of a machine: a potential for each state, which letters count, and where each of these leads."""
    active = moves.any(0)
    leads = int((seen[:, active] > 0).sum()) * target_price(len(moves))
    letters = int(active.sum()) * letter_price(moves.shape[1])
    return len(moves) * math.log(max(2, level_count)) + letters + leads


def with_ends(draft: Draft, level_count: int) -> Draft:
    """With a state of each potential that is never left, for transitions to lead to."""
    ends = np.arange(draft.states, draft.states + level_count)
    table = np.concatenate([draft.table, np.repeat(ends[:, None], draft.table.shape[1], 1)])
    return Draft(table, np.append(draft.levels, np.arange(level_count)))


def redirected(draft: Draft, state: int, other: int) -> Draft:
    """The machine in which all that led to a state leads to another one."""
    return Draft(np.where(draft.table == state, other, draft.table), draft.levels)


def folded(run: Run, one: int, other: int) -> Draft:
    """The machine in which two states are one, and all that must then be one; transitions never taken are open."""
    draft = run.draft
    parent = list(range(draft.states))

    def find(state: int) -> int:
        while parent[state] != state:
            state = parent[state]
        return state

    taken = [np.flatnonzero(row).tolist() for row in run.seen]
    table = [{letter: int(draft.table[state, letter]) for letter in taken[state]} for state in parent]
    waiting = [(one, other)]
    while waiting:
        a, b = sorted(map(find, waiting.pop()))
        if a == b:
            continue
        parent[b] = a
        for letter, target in table[b].items():
            if letter in table[a]:
                waiting.append((table[a][letter], target))
            else:
                table[a][letter] = target
    roots = sorted({find(state) for state in parent})
    place = {root: number for number, root in enumerate(roots)}
    result = np.repeat(np.arange(len(roots))[:, None], draft.table.shape[1], 1)
    for root in roots:
        for letter, target in table[root].items():
            result[place[root], letter] = place[find(target)]
    return Draft(result, draft.levels[roots])
