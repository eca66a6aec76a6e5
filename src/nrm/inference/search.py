"""Machines by description length, where rewards or letters are sometimes wrong: found by changes that shorten it.

Whole machines are judged by all episodes: the description length of their moves, and of what they say wrongly (minimum
description length). A subclass says how episodes go through a machine, and so what is wrong.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.inference.merging import Folding, search_order

SLIGHT = 1e-6
"""Nats that are no improvement."""
MAX_TRIED = 6
"""Candidates of a kind that are looked at in full, the most promising first."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine over all letters. State 0 is the initial one."""

    table: Ints
    """(states, letters) the next state."""
    levels: Ints
    """(states,) the index of the potential of each."""

    @classmethod
    def blank(cls, evidence: Evidence) -> Candidate:
        """One state in which nothing ever happens."""
        return cls(np.zeros((1, evidence.letter_count), dtype=np.int64), np.array([evidence.initial]))

    @classmethod
    def by_level(cls, evidence: Evidence) -> Candidate:
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

    def with_ends(self, level_count: int) -> Candidate:
        """With a state of each potential that is never left, for transitions to lead to."""
        ends = np.arange(self.states, self.states + level_count)
        table = np.concatenate([self.table, np.repeat(ends[:, None], self.table.shape[1], 1)])
        return Candidate(table, np.append(self.levels, np.arange(level_count)))

    def reachable(self) -> Candidate:
        """The part that the initial state leads to."""
        order, place = search_order(self.table)
        return Candidate(place[self.table[order]], self.levels[order])


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


F = TypeVar("F", bound=Fit)


class Search(ABC, Generic[F]):
    """Changes of machines, judged by some episodes."""

    def __init__(self, evidence: Evidence, max_states: int) -> None:
        self.evidence = evidence
        self.max_states = max_states

    @classmethod
    def shortest(cls, evidence: Evidence, max_states: int, also: Sequence[Candidate] = ()) -> F:
        """The machine with the shortest description that is found, from several beginnings."""
        # Descent ends where no single change helps, and where that is depends on what it began with.
        few = 250  # episodes of a first search; all of them then mend what it found
        episodes, blank, by_level = len(evidence.lengths), Candidate.blank(evidence), Candidate.by_level(evidence)
        part = cls(evidence.first(min(few, -(-episodes // 2))), max_states).descend(blank).candidate
        search = cls(evidence, max_states)
        beginnings = [part, *([] if episodes > 2 * few else [blank]), *also]
        beginnings += [by_level] if by_level.states <= max_states else []
        found = [search.descend(candidate) for candidate in beginnings]
        return search.with_shared_moves(min(found, key=lambda fit: fit.length))

    @abstractmethod
    def fit(self, candidate: Candidate) -> F:
        """Let the episodes go through a machine."""

    @abstractmethod
    def gains(self, fit: F, candidate: Candidate) -> NDArray[np.float64]:
        """(states, letters, states of the candidate) nats of what is said wrongly that each transition saves, about."""

    @abstractmethod
    def grown(self, fit: F) -> Iterator[F]:
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

    def descend(self, candidate: Candidate) -> F:
        """To where no change shortens the description."""
        fit = self.fit(candidate)
        for _ in range(300):
            better = self.retargeted(fit) or self.merged(fit) or self.split(fit) or self.without_letter(fit)
            if better is None:
                break
            fit = better
        return fit

    def retargeted(self, fit: F) -> F | None:
        """With one transition that leads elsewhere."""
        candidate = fit.candidate.with_ends(self.evidence.level_count)
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

    def merged(self, fit: F) -> F | None:
        """With fewer states: two made one, or one no longer led to."""
        table, levels = fit.candidate.table, fit.candidate.levels
        pairs = self.pairs(fit.candidate)
        smaller = [fit.folded(one, other) for one, other in pairs if one < other]
        smaller += [Candidate(np.where(table == one, other, table), levels) for one, other in pairs if one]
        found = sorted(map(self.fit, smaller), key=lambda fit: fit.length)[:MAX_TRIED]
        return found[0] if found and found[0].length < fit.length - SLIGHT else self._settled(found, fit)

    def split(self, fit: F) -> F | None:
        """With one more state, to which one transition leads that led elsewhere."""
        return self._settled(self.grown(fit), fit)

    def without_letter(self, fit: F) -> F | None:
        """With a letter that does nothing any more."""
        candidates = []
        for letter in np.flatnonzero(fit.moves.any(0)).tolist():
            table = fit.candidate.table.copy()
            table[:, letter] = np.arange(len(table))
            candidates.append(Candidate(table, fit.candidate.levels))
        return self._settled(map(self.fit, candidates), fit)

    def with_shared_moves(self, fit: F) -> F:
        """With the same moves for letters that are then described once, as long as this is shorter."""
        group = np.arange(self.evidence.letter_count)

        def shared(found: F, group: Ints) -> float:
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

    def _settled(self, changed: Iterable[F], fit: F) -> F | None:
        """The first of some changed machines that is better than what it comes from once its transitions are set."""
        for found in changed:
            better: F | None = found
            while better is not None:
                found, better = better, self.retargeted(better)
            if self._better(found, fit):
                return found
        return None

    def _better(self, found: F, fit: F) -> bool:
        return found.length < fit.length - SLIGHT and found.candidate.states <= self.max_states


def _price(choices: int) -> float:
    """Nats of saying one of several things."""
    return math.log(max(2, choices))
