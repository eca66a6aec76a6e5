"""What rewards can teach about one symbol, and the smallest set of symbols to label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, combinations
from operator import or_
from typing import TYPE_CHECKING

from nrm.aliases import Symbol
from nrm.errors import AlphabetError
from nrm.shortcuts.renaming import Renamings, renamings
from nrm.shortcuts.symmetry_group import SymmetryGroup, symmetry_group
from nrm.shortcuts.symmetry_search import SymmetrySearch

if TYPE_CHECKING:
    from nrm.shortcuts.analysis import Shortcuts


@dataclass(frozen=True)
class SymbolVerdict:
    """Whether rewards can teach a symbol, and what it can be confused with."""

    symbol: Symbol
    groundable: bool
    alike: tuple[Symbol, ...] = field(default=(), repr=False)
    """Symbols that the task treats like this one, itself among them; one tuple serves all of them."""
    swapped: tuple[tuple[Symbol, ...], ...] = field(default=(), repr=False)
    """Sets of symbols that symmetries of the task swap it with."""
    used: bool = True
    """Whether the task ever looks at it: False for a proposition whose truth never matters."""

    @property
    def within_class(self) -> tuple[Symbol, ...]:
        """Symbols that the task treats like this one; the confusion is harmless for the task."""
        return tuple(name for name in self.alike if name != self.symbol)

    @property
    def by_symmetry(self) -> tuple[Symbol, ...]:
        """Symbols that a symmetry exchanges with this one: the same rewards with another meaning."""
        return tuple(chain.from_iterable(self.swapped))

    @property
    def confusable_with(self) -> tuple[Symbol, ...]:
        """All symbols that a shortcut maps this one to."""
        return tuple(self.confusions())

    @property
    def confusable_count(self) -> int:
        """How many they are, without listing them."""
        return max(len(self.alike) - 1, 0) + sum(map(len, self.swapped))

    def confusions(self) -> Iterator[Symbol]:
        """The symbols of `confusable_with`, as they are asked for."""
        alike = (name for name in self.alike if name != self.symbol)
        return chain(alike, chain.from_iterable(self.swapped))


class ByLetter:
    """What rewards teach where every letter is a symbol, or a set, of its own."""

    def __init__(self, found: Shortcuts) -> None:
        self.found = found

    def verdicts(self) -> tuple[SymbolVerdict, ...]:
        """The verdicts on all symbols, in time that grows with the number of symbols and not with its square."""
        found = self.found
        swapped = [
            tuple(found.classes[image] for image in orbit if image != number)
            for number, orbit in enumerate(found.group.orbit_of)
        ]
        verdicts = []
        for symbol, number in zip(found.alphabet.letter_names, found.machine.letter_class.tolist(), strict=True):
            alike, others = found.classes[number], swapped[number]
            verdicts.append(SymbolVerdict(symbol, len(alike) == 1 and not others, alike, others))
        return tuple(verdicts)

    def labels_needed(self) -> tuple[Symbol, ...]:
        """A smallest set of symbols whose labels leave only the identity, in the order of the alphabet."""
        found = self.found
        search = SymmetrySearch(found.machine, work=found.work)
        several = [number for number, size in enumerate(found.class_sizes) if size > 1]
        labelled = {letter for number in several for letter in found.members[number]}
        group = symmetry_group(search, several) if several else found.group
        for factor in group.factors:
            labelled.update(found.members[point][0] for point in _smallest_base(search, factor))
        return tuple(found.alphabet.letter_name(letter) for letter in sorted(labelled))

    def renamings(self, search: SymmetrySearch) -> Renamings:  # noqa: ARG002
        """The maps that rename propositions."""
        raise AlphabetError(
            "every map of an exclusive alphabet is a renaming of its symbols, so maps() lists them; renamings are for "
            "propositional alphabets only, of which every subset is a letter"
        )

    def further_counts(self) -> dict[str, int]:
        """Other numbers of maps, by name."""
        return {}


class ByProposition(ByLetter):
    """The same where any subset of propositions is a letter, and propositions are learned."""

    def verdicts(self) -> tuple[SymbolVerdict, ...]:
        """By the surviving renamings, and by the truth of propositions in letters that are confused."""
        found, renamings = self.found, self.found.renamings
        by_class = found.machine.letters.function(len(found.alphabet.symbols)).truths()
        # In each set of letters that are confused with each other, a proposition must be always or never true.
        unclear = 0
        for orbit in found.group.orbits:
            true = reduce(or_, (by_class[number][0] for number in orbit))
            false = reduce(or_, (by_class[number][1] for number in orbit))
            unclear |= true & false
        verdicts = []
        for bit, name in enumerate(found.alphabet.symbols):
            alike = (name, *renamings.within_class(name))
            swapped = tuple((other,) for other in renamings.by_symmetry(name))
            verdicts.append(SymbolVerdict(name, not unclear >> bit & 1, alike, swapped, name in renamings.essential))
        return tuple(verdicts)

    def labels_needed(self) -> tuple[Symbol, ...]:
        """A smallest set of propositions."""
        return _propositions_needed(self.found)

    def renamings(self, search: SymmetrySearch) -> Renamings:
        """By exchanging propositions."""
        return renamings(self.found.machine, self.found.group, search)

    def further_counts(self) -> dict[str, int]:
        """How many maps rename propositions."""
        return {"renamings": self.found.renamings.count}


def _smallest_base(search: SymmetrySearch, factor: SymmetryGroup) -> tuple[int, ...]:
    """Fewest points such that only the identity of `factor` keeps them all in their places."""
    points = factor.moved
    if factor.is_symmetric:
        return points[:-1]
    others = sorted(set(range(search.classes)) - set(points))
    size = 1
    while True:
        base = _base_of(search, factor, others, (), size)
        if base is not None:
            return base
        size += 1


def _base_of(
    search: SymmetrySearch, group: SymmetryGroup, others: list[int], kept: tuple[int, ...], size: int
) -> tuple[int, ...] | None:
    """A base with `size` more points. One point of each orbit is enough to try: a symmetry takes bases to bases."""
    if group.order == 1:
        return kept
    orbits = sorted((orbit for orbit in group.orbits if len(orbit) > 1), key=len, reverse=True)
    # Each further point divides the order by at most the size of an orbit.
    if size == 0 or group.order > len(orbits[0]) ** size:
        return None
    for orbit in orbits:
        chosen = (*kept, orbit[0])
        base = _base_of(search, symmetry_group(search, [*others, *chosen]), others, chosen, size - 1)
        if base is not None:
            return base
    return None


def _propositions_needed(found: Shortcuts) -> tuple[Symbol, ...]:
    names = found.alphabet.symbols
    essential = found.renamings.essential
    search = SymmetrySearch(found.machine, work=found.work)
    # Letters that differ only in what has no label must be of different classes.
    most_hidden = min(len(essential), found.machine.classes.bit_length() - 1)
    for size in range(len(essential) - most_hidden, len(essential) + 1):
        for chosen in combinations(essential, size):
            search.spend(1)
            if not _stops_renamings(found.renamings, chosen):
                continue
            hidden = [names.index(name) for name in essential if name not in chosen]
            if _settled_without(found, search, hidden):
                return tuple(name for name in names if name not in essential or name in chosen)
    raise AssertionError("labels of all propositions leave only the identity")


def _stops_renamings(renamings: Renamings, chosen: Sequence[Symbol]) -> bool:
    """Whether labels of these propositions stop at least the renamings: quickly known where all orders are possible."""
    return all(
        sum(renamings.essential[point] not in chosen for point in factor.moved) <= 1
        for factor in renamings.group.factors
        if factor.is_symmetric
    )


def _settled_without(found: Shortcuts, search: SymmetrySearch, hidden: Sequence[int]) -> bool:
    """Whether only the identity keeps the truth of all propositions but some in every letter."""
    letters = found.machine.letters
    search.spend(letters.work(len(hidden)))
    colours = letters.seen_without(hidden)
    return colours is not None and symmetry_group(search.with_class_colours(colours)).order == 1
