"""Shortcuts of a propositional alphabet that come from renaming propositions.

A renaming sigma reads proposition p as sigma(p): the formula that says `p` is told the truth of sigma(p), so the letter
X becomes {p : sigma(p) in X}. A proposition is *essential* when its truth ever matters. A renaming that changes no
reward must permute the essential propositions, since a machine that depends on them all cannot be served by fewer; the
others may be read as anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations, product

import numpy as np

from nrm.aliases import IntArray, Symbol, SymbolMap
from nrm.automata import LetterFunction
from nrm.errors import UnknownSymbolError, unknown
from nrm.machines import MooreMachine
from nrm.shortcuts.reduction import is_by_names
from nrm.shortcuts.symmetry_group import SymmetryGroup, group_of
from nrm.shortcuts.symmetry_search import Permutation, SymmetrySearch


@dataclass(frozen=True)
class Renamings:
    """The maps of propositions to propositions that change no reward."""

    propositions: tuple[Symbol, ...]
    essential: tuple[Symbol, ...]
    """The propositions whose truth ever matters."""
    group: SymmetryGroup = field(repr=False)
    """The permutations of `essential` that change no reward."""
    internal: SymmetryGroup = field(repr=False)
    """Those of them that leave every letter in its class."""

    @cached_property
    def count(self) -> int:
        """How many renamings change no reward, the identity included; they need not be one to one."""
        anything: int = len(self.propositions) ** (len(self.propositions) - len(self.essential))
        return self.group.order * anything

    def maps(self) -> Iterator[dict[Symbol, Symbol]]:
        """Every such renaming, the identity first, as they are asked for."""
        free = [name for name in self.propositions if name not in self.essential]
        choices = [(name, *(other for other in self.propositions if other != name)) for name in free]
        for images in self.group.elements():
            moved = {name: self.essential[image] for name, image in zip(self.essential, images, strict=True)}
            for values in product(*choices):
                moved.update(zip(free, values, strict=True))
                yield {name: moved[name] for name in self.propositions}

    def __iter__(self) -> Iterator[dict[Symbol, Symbol]]:
        return self.maps()

    def __contains__(self, candidate: object) -> bool:
        return isinstance(candidate, Mapping) and is_by_names(candidate) and self._holds(candidate)

    def within_class(self, proposition: Symbol) -> tuple[Symbol, ...]:
        """What the proposition may be read as without moving any letter out of its class."""
        if proposition not in self.essential:
            return tuple(other for other in self.propositions if other != proposition)
        return self._orbit(self.internal, proposition)

    def by_symmetry(self, proposition: Symbol) -> tuple[Symbol, ...]:
        """What else it may be read as, by a symmetry of the task."""
        if proposition not in self.essential:
            return ()
        internal = self._orbit(self.internal, proposition)
        return tuple(other for other in self._orbit(self.group, proposition) if other not in internal)

    def _orbit(self, group: SymmetryGroup, proposition: Symbol) -> tuple[Symbol, ...]:
        orbit = group.orbit_of[self.essential.index(proposition)]
        return tuple(self.essential[point] for point in orbit if self.essential[point] != proposition)

    def _holds(self, renaming: SymbolMap) -> bool:
        for name in [*renaming, *renaming.values()]:
            if name not in self.propositions:
                raise UnknownSymbolError(unknown("proposition", name, self.propositions))
        images = [renaming.get(name, name) for name in self.essential]
        if sorted(images) != sorted(self.essential):
            return False
        return [self.essential.index(image) for image in images] in self.group


def renamings(machine: MooreMachine, symmetries: SymmetryGroup, search: SymmetrySearch) -> Renamings:
    """The renamings of propositions that change no reward, for a minimal machine over a propositional alphabet."""
    names = machine.alphabet.symbols
    places, numbers = machine.letters.essential()
    essential = tuple(names[place] for place in places)
    finder: RenamingSearch | LargeRenamingSearch
    if numbers is None:
        finder = LargeRenamingSearch(machine.letters.function(len(names)), symmetries, search)
    else:
        orbits = [orbit[0] for orbit in symmetries.orbit_of]
        finder = RenamingSearch(numbers, numbers, search.with_class_colours(orbits))
    count = len(essential)
    base = [(place, [other for other in range(count) if other != place]) for place in range(count)]
    everything = group_of(count, base, finder.complete)
    return Renamings(names, essential, everything, group_of(count, base, partial(finder.complete, within=True)))


def essential_letters(numbers: IntArray) -> tuple[tuple[int, ...], list[int]]:
    """The propositions whose truth ever matters, and the classes of the sets of these alone, from those of all sets."""
    letters = np.arange(len(numbers))
    places = [bit for bit in range(len(numbers).bit_length() - 1) if (numbers != numbers[letters ^ 1 << bit]).any()]
    few = np.arange(1 << len(places))
    spread = sum(((few >> place & 1) << bit for place, bit in enumerate(places)), np.zeros_like(few))
    return tuple(places), numbers[spread].tolist()


@dataclass(frozen=True)
class RenamingSearch:
    """Permutations of the essential propositions, followed from the empty letter to ever larger ones."""

    numbers: list[int]
    """The class of each set of the essential propositions."""
    targets: list[int]
    """The same of the machine onto which this one is mapped."""
    search: SymmetrySearch
    """Its colours say which classes may be mapped to which."""

    def complete(self, pairs: list[tuple[int, int]], within: bool = False) -> Permutation | None:
        """A permutation that maps places as `pairs` say, if there is one; `within`: no letter may leave its class."""
        count = len(self.numbers).bit_length() - 1
        choices = dict(pairs)
        if len(self.targets) != len(self.numbers) or -1 in choices or -1 in choices.values():
            return None
        order = [*choices, *(place for place in range(count) if place not in choices)]

        def extend(letters: list[tuple[int, int]], images: dict[int, int], moved: dict[int, int]) -> Permutation | None:
            if len(moved) == len(order):
                permutation = [images.get(number, -1) for number in range(self.search.classes)]
                fits = self.search.contains(permutation)
                return tuple(moved[place] for place in range(len(order))) if fits else None
            place = order[len(moved)]
            free = [choices[place]] if place in choices else range(count)
            for target in free:
                if target not in moved.values():
                    added = [(x | 1 << place, y | 1 << target) for x, y in letters]
                    following = self._matched(added, images, within)
                    if following is not None:
                        found = extend(letters + added, following, {**moved, place: target})
                        if found is not None:
                            return found
            return None

        first = self._matched([(0, 0)], {}, within)
        return None if first is None else extend([(0, 0)], first, {})

    def _matched(self, letters: list[tuple[int, int]], images: dict[int, int], within: bool) -> dict[int, int] | None:
        """The images of classes with those that `letters` add; None when they contradict each other."""
        self.search.spend(len(letters))
        colours, others = self.search.class_colours, self.search.target.class_colours
        added = dict(images)
        for letter, value in letters:
            number, image = self.numbers[letter], self.targets[value]
            if added.setdefault(number, image) != image or (within and number != image):
                return None
            if colours[number] != others[image]:
                return None
        return added


Sign = tuple[int, ...]


class LargeRenamingSearch:
    """Permutations of the essential propositions that permute the classes of letters.

    A renaming takes a proposition only to one that holds equally often in classes that symmetries exchange, and pairs
    of propositions likewise; what passes is tried on the diagram itself.
    """

    def __init__(self, letters: LetterFunction, symmetries: SymmetryGroup, search: SymmetrySearch) -> None:
        self.letters = letters
        self.search = search
        self._orbit = [orbit[0] for orbit in symmetries.orbit_of]
        self.essential = letters.asked

    def _sign(self, *true: int) -> Sign:
        """How often classes of each orbit occur where some propositions hold."""
        self.search.spend(self.letters.nodes)
        sums = [0] * len(self._orbit)
        for number, share in self.letters.shares_where(true).items():
            sums[self._orbit[number]] += share
        return tuple(sums)

    @cached_property
    def _signs(self) -> list[Sign]:
        return [self._sign(proposition) for proposition in self.essential]

    @cached_property
    def _pair_signs(self) -> Mapping[tuple[int, int], Sign] | None:
        count = len(self.essential)
        if count**2 * self.letters.nodes > 3_000_000:
            return None
        signs = {}
        for one, two in combinations(range(count), 2):
            signs[one, two] = signs[two, one] = self._sign(self.essential[one], self.essential[two])
        return signs

    @cached_property
    def _twins(self) -> dict[bool, list[int]]:
        """For each place the first one that it can be exchanged with; without leaving classes (True), or at all."""
        found: dict[bool, list[int]] = {}
        count = len(self.essential)
        for within in (True, False):
            firsts: list[int] = []
            found[within] = []
            for place in range(count):
                same = (one for one in firsts if self._signs[one] == self._signs[place])
                swaps = ((one, {**{k: k for k in range(count)}, one: place, place: one}) for one in same)
                twin = next((one for one, swap in swaps if self._holds(swap, within)), place)
                found[within].append(twin)
                if twin == place:
                    firsts.append(place)
        return found

    def complete(self, pairs: list[tuple[int, int]], within: bool = False) -> Permutation | None:
        """A permutation that maps places as `pairs` say, if there is one; `within`: no letter may leave its class."""
        chosen = dict(pairs)
        if len(set(chosen.values())) < len(chosen) or any(
            self._signs[place] != self._signs[target] for place, target in pairs
        ):
            return None
        for guess in (self._plain(chosen), self._closed(chosen)):
            if self._holds(guess, within):
                return tuple(guess[place] for place in range(len(guess)))
        return self._extended(chosen, within)

    def _plain(self, chosen: Mapping[int, int]) -> dict[int, int]:
        """The choices, and all else where it was as far as that is free."""
        free = [target for target in range(len(self.essential)) if target not in chosen.values()]
        guess = dict(chosen)
        guess.update({place: place for place in free if place not in chosen})
        left = [target for target in free if target not in guess.values()]
        open_places = [place for place in range(len(self.essential)) if place not in guess]
        guess.update(zip(open_places, left, strict=True))
        return guess

    def _closed(self, chosen: Mapping[int, int]) -> dict[int, int]:
        """As `_plain`, with what is left in its old order: whole blocks are exchanged so."""
        count = len(self.essential)
        places = [place for place in range(count) if place not in chosen]
        targets = [target for target in range(count) if target not in chosen.values()]
        return {**chosen, **dict(zip(places, targets, strict=True))}

    def _extended(self, chosen: dict[int, int], within: bool) -> Permutation | None:
        """By choosing one more place after another."""
        count = len(self.essential)
        if len(chosen) == count:
            return tuple(chosen[place] for place in range(count)) if self._holds(chosen, within) else None
        place = min(
            (place for place in range(count) if place not in chosen),
            key=lambda place: sum(sign == self._signs[place] for sign in self._signs),
        )
        twins = self._twins[within]
        tried = set()
        for target in sorted(range(count), key=lambda target: target != place):
            # Targets that can be exchanged for each other are all as good, or none is.
            if target in chosen.values() or twins[target] in tried:
                continue
            tried.add(twins[target])
            if self._fits(chosen, place, target):
                found = self._extended({**chosen, place: target}, within)
                if found is not None:
                    return found
        return None

    def _fits(self, chosen: Mapping[int, int], place: int, target: int) -> bool:
        self.search.spend(len(chosen) + 1)
        if self._signs[place] != self._signs[target]:
            return False
        signs = self._pair_signs
        return signs is None or all(signs[place, other] == signs[target, image] for other, image in chosen.items())

    def _holds(self, moved: Mapping[int, int], within: bool) -> bool:
        """Whether the diagram itself bears a permutation out."""
        self.search.spend(40 * self.letters.nodes)  # to bring a node into another order is work
        images = {self.essential[place]: self.essential[target] for place, target in moved.items()}
        classes = self.letters.exchanged(images)
        if classes is None:
            return False
        permutation = [classes[number] for number in range(self.search.classes)]
        if within:
            return permutation == list(range(self.search.classes))
        return self.search.contains(permutation)
