"""Shortcuts of a propositional alphabet that come from renaming propositions.

A renaming sigma reads proposition p as sigma(p): a formula that says `p` gets the truth of sigma(p), so the letter
X becomes {p : sigma(p) in X}. A proposition is *essential* when its truth ever matters. A renaming that changes no
reward must permute the essential propositions, since a machine that depends on them all cannot be served by fewer; the
others may be read as anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product

from nrm.aliases import Symbol, SymbolMap
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
    letters = machine.letters.function(len(names))
    essential = tuple(names[place] for place in letters.asked)
    count = len(essential)
    base = [(place, [other for other in range(count) if other != place]) for place in range(count)]
    orbits = [orbit[0] for orbit in symmetries.orbit_of]
    everything, internal = (
        group_of(count, base, RenamingSearch(search.with_class_colours(colours), letters).complete)
        for colours in (orbits, range(machine.classes))
    )
    return Renamings(names, essential, everything, internal)


class RenamingSearch:
    """Permutations of the essential propositions that map classes of letters to such of another machine, or its own.

    A renaming takes a proposition only to one that holds equally often in classes of equal colour, and pairs of
    propositions likewise; what passes is tried on the diagrams themselves.
    """

    def __init__(self, search: SymmetrySearch, letters: LetterFunction, target: LetterFunction | None = None) -> None:
        self.search = search
        """Its colours say which classes may be mapped to which."""
        self.letters = letters
        self.target = target or letters
        self._known: dict[tuple[bool, frozenset[int]], Mapping[int, Fraction]] = {}

    def complete(self, pairs: list[tuple[int, int]]) -> Permutation | None:
        """A permutation that maps places as `pairs` say, if there is one."""
        chosen = dict(pairs)
        if len(self.letters.asked) != len(self.target.asked) or -1 in chosen or -1 in chosen.values():
            return None
        if len(set(chosen.values())) < len(chosen) or not all(self._alike(pair) for pair in pairs):
            return None
        guess = self._plain(chosen)
        if self._holds(guess):
            return guess
        places = range(len(self.letters.asked))
        free = [target for target in places if target not in chosen.values()]
        return self._extended(
            chosen,
            {
                place: [target for target in free if all(self._alike((place, target), pair) for pair in pairs)]
                for place in places
                if place not in chosen
            },
        )

    def _plain(self, chosen: Mapping[int, int]) -> Permutation:
        """The choices, and all else where it was as far as that is free."""
        places = range(len(self.letters.asked))
        guess = dict(chosen)
        guess.update({place: place for place in places if place not in chosen and place not in chosen.values()})
        left = iter([target for target in places if target not in guess.values()])
        return tuple(guess[place] if place in guess else next(left) for place in places)

    def _extended(self, chosen: dict[int, int], fitting: Mapping[int, Sequence[int]]) -> Permutation | None:
        """By choosing one more place after another. `fitting`: for each open place the images that are left to it."""
        if not fitting:
            moved = tuple(chosen[place] for place in range(len(chosen)))
            return moved if self._holds(moved) else None
        place = min(fitting, key=lambda place: len(fitting[place]))
        for target in sorted(fitting[place], key=lambda target: target != place):
            left = {
                other: [image for image in images if image != target and self._alike((other, image), (place, target))]
                for other, images in fitting.items()
                if other != place
            }
            found = self._extended({**chosen, place: target}, left)
            if found is not None:
                return found
        return None

    def _alike(self, *pairs: tuple[int, int]) -> bool:
        """Whether classes of each colour occur as often where these places hold as where their images do."""
        here = frozenset(self.letters.asked[place] for place, _ in pairs)
        return self._shares(False, here) == self._shares(True, frozenset(self.target.asked[one] for _, one in pairs))

    def _shares(self, there: bool, true: frozenset[int]) -> Mapping[int, Fraction]:
        """How often classes of each colour occur where some propositions hold."""
        if (there, true) not in self._known:
            letters, side = (self.target, self.search.target) if there else (self.letters, self.search)
            self.search.spend(letters.nodes)
            sums: dict[int, Fraction] = defaultdict(Fraction)
            for number, share in letters.shares_where(true).items():
                if share:
                    sums[side.class_colours[number]] += Fraction(share, 1 << len(letters.order))
            self._known[there, true] = sums
        return self._known[there, true]

    def _holds(self, moved: Permutation) -> bool:
        """Whether the diagrams themselves bear a permutation out."""
        self.search.spend(40 * self.letters.nodes)  # to bring a node into another order is work
        images = {self.letters.asked[place]: self.target.asked[target] for place, target in enumerate(moved)}
        classes = self.letters.exchanged(images, self.target)
        if classes is None:
            return False
        permutation = [classes.get(number, -1) for number in range(self.search.classes)]
        return self.search.contains(permutation)
