"""Shortcuts that a recorded data set leaves: maps that change no reward on its traces, whatever they do elsewhere.

A data set constrains less than all strings do, so the maps have no group structure and are counted by search: each
letter of the data has a domain of letter classes that it may be mapped to, the traces narrow the domains, classes that
do the same everywhere count as one with their sizes added, and only what is still open is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nrm.aliases import Letter, Trace
from nrm.errors import LimitError, TraceError, UnknownSymbolError
from nrm.machines import MooreMachine
from nrm.shortcuts.reduction import map_letters
from nrm.shortcuts.symmetry_group import check_length

Domains = dict[Letter, dict[int, int]]
"""For each letter the classes it may be mapped to, each with the number of letters that it stands for."""


@dataclass(frozen=True)
class Prefixes:
    """The prefixes of a data set's traces as a tree; a prefix comes after the one it extends, node 0 is empty."""

    parents: tuple[int, ...]
    letters: tuple[Letter, ...]
    """The last letter of each prefix (-1 for the empty one)."""
    levels: tuple[int, ...]
    """The machine's potential after each prefix, -1 where it is not known."""

    @classmethod
    def of(cls, machine: MooreMachine, traces: Iterable[Trace], ends_only: bool = False) -> Prefixes:
        """The tree of the traces; raises `TraceError` when there is not a single step."""
        children: dict[tuple[int, Letter], int] = {}
        parents, letters, states = [-1], [-1], [machine.initial]
        ends = set()
        for number, trace in enumerate(traces, start=1):
            try:
                steps = machine.alphabet.encode(trace)
            except (TraceError, UnknownSymbolError) as error:
                raise type(error)(f"trace {number}: {error}") from None
            node = 0
            for letter in steps:
                child = children.setdefault((node, letter), len(parents))
                if child == len(parents):
                    parents.append(node)
                    letters.append(letter)
                    states.append(machine.next_state(states[node], letter))
                node = child
            ends.add(node)
        if len(parents) == 1:
            raise TraceError(
                "the data set is empty: it has no trace with a step, so it says nothing and every map of letters is "
                "left; record at least one trace"
            )
        levels = machine.level_of_state[states].tolist()
        known = [level if node in ends or not ends_only else -1 for node, level in enumerate(levels)]
        return cls(tuple(parents), tuple(letters), tuple(known))


@dataclass(frozen=True)
class DataShortcuts:
    """The maps of letters that change no reward on the traces of a data set, the identity included."""

    machine: MooreMachine
    """A minimal machine."""
    prefixes: Prefixes = field(repr=False)
    visits: int = field(default=20_000_000, repr=False)
    """Most visits of prefixes of the data before a count is given up."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The letters that occur in the data; the others may be mapped to anything."""
        return tuple(map(self.machine.alphabet.letter_name, sorted(set(self.prefixes.letters[1:]))))

    @cached_property
    def count(self) -> int:
        """How many maps change no reward on the data. Raises `LimitError` where the search grows too large."""
        return _Counting(self.machine, self.prefixes, self.visits).total()

    def __contains__(self, candidate: object) -> bool:
        if not isinstance(candidate, Mapping):
            return False
        values = map_letters(self.machine.alphabet, candidate)
        states = [self.machine.initial]
        levels = self.machine.level_of_state
        steps = zip(self.prefixes.parents, self.prefixes.letters, self.prefixes.levels, strict=True)
        for node, (parent, letter, level) in enumerate(steps):
            if node:
                states.append(self.machine.next_state(states[parent], values.get(letter, letter)))
                if level not in (-1, levels[states[node]]):
                    return False
        return True


class _Counting:
    """One count: the tables that it needs, and how much work is left."""

    def __init__(self, machine: MooreMachine, prefixes: Prefixes, visits: int) -> None:
        self.rows = machine.columns.tolist()
        self.initial = machine.initial
        self.levels = machine.level_of_state.tolist()
        self.sizes = machine.class_sizes
        self.letters = machine.alphabet.size
        self.prefixes = prefixes
        self.budget = self.visits = visits

    def total(self) -> int:
        seen = set(self.prefixes.letters[1:])
        domains: Domains = {letter: dict(enumerate(self.sizes)) for letter in sorted(seen)}
        check_length([self.letters], [self.letters - len(seen)])
        unseen: int = self.letters ** (self.letters - len(seen))
        return self._count(domains, frozenset(seen), 0) * unseen

    def _count(self, domains: Domains, scope: frozenset[Letter], depth: int) -> int:
        """The number of maps of the letters in `scope` within `domains`."""
        narrowed = self._narrowed(domains)
        if narrowed is None:
            return 0
        total = 1
        for letter in scope:
            if len(narrowed[letter]) == 1:
                total *= sum(narrowed[letter].values())
        for part in self._independent({letter for letter in scope if len(narrowed[letter]) > 1}):
            if depth == 200:  # letters tried one inside the other
                raise self._limit()
            first = min(part, key=lambda letter: (len(narrowed[letter]), letter))
            total *= sum(
                weight * self._count({**narrowed, first: {number: 1}}, part - {first}, depth + 1)
                for number, weight in narrowed[first].items()
            )
        return total

    def _narrowed(self, domains: Domains) -> Domains | None:
        """The domains without classes that the data refutes, and with classes merged that act alike on it."""
        tree = self.prefixes
        while True:
            possible: list[set[int]] = [{self.initial}]
            kept = {letter: dict(domain) for letter, domain in domains.items()}
            actions: dict[Letter, dict[int, list[int]]] = {
                letter: {number: [] for number in domain} for letter, domain in domains.items()
            }
            for node in range(1, len(tree.parents)):
                letter, level = tree.letters[node], tree.levels[node]
                reached: set[int] = set()
                sources = sorted(possible[tree.parents[node]])
                self._spend(1 + len(sources) * len(domains[letter]))
                for number, signs in actions[letter].items():
                    targets = [self.rows[source][number] for source in sources]
                    results = [target if level in (-1, self.levels[target]) else -1 for target in targets]
                    signs.extend(results)
                    fitting = set(results) - {-1}
                    if fitting:
                        reached |= fitting
                    else:
                        kept[letter].pop(number, None)
                if not kept[letter]:
                    return None
                possible.append(reached)
            if all(len(kept[letter]) == len(domain) for letter, domain in domains.items()):
                return {letter: _merged(domain, actions[letter]) for letter, domain in domains.items()}
            domains = kept

    def _independent(self, open_letters: set[Letter]) -> list[frozenset[Letter]]:
        """The open letters in groups that no trace connects."""
        leader = {letter: letter for letter in open_letters}

        def find(letter: Letter) -> Letter:
            while leader[letter] != letter:
                leader[letter] = letter = leader[leader[letter]]
            return letter

        latest = [-1]
        for parent, letter in zip(self.prefixes.parents[1:], self.prefixes.letters[1:], strict=True):
            before = latest[parent]
            if letter in leader and before >= 0:
                leader[find(before)] = find(letter)
            latest.append(letter if letter in leader else before)
        parts: dict[Letter, set[Letter]] = {}
        for letter in sorted(open_letters):
            parts.setdefault(find(letter), set()).add(letter)
        return [frozenset(part) for part in parts.values()]

    def _spend(self, amount: int) -> None:
        self.budget -= amount
        if self.budget < 0:
            raise self._limit()

    def _limit(self) -> LimitError:
        return LimitError(
            f"the maps that {len(self.prefixes.parents) - 1:,} prefixes of data leave are too many and too entangled "
            f"to count within {self.visits:,} visits; give more data, which leaves fewer, or test maps one by one"
        )


def _merged(domain: dict[int, int], actions: dict[int, list[int]]) -> dict[int, int]:
    """Classes that do the same wherever the letter occurs, as one."""
    first: dict[tuple[int, ...], int] = {}
    merged: dict[int, int] = {}
    for number, weight in domain.items():
        leader = first.setdefault(tuple(actions[number]), number)
        merged[leader] = merged.get(leader, 0) + weight
    return merged
