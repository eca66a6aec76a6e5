"""Shortcuts of a propositional alphabet that come from renaming propositions.

A renaming sigma reads proposition p as sigma(p): a formula that says `p` gets the truth of sigma(p), so the letter
X becomes {p : sigma(p) in X}. A proposition is *essential* when its truth ever matters. A renaming that changes no
reward must permute the essential propositions, since a machine that depends on them all cannot be served by fewer; the
others may be read as anything. The same search finds tasks that differ in the names of their symbols alone (`Copies`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from nrm.aliases import Symbol, SymbolMap
from nrm.automata import LetterFunction
from nrm.errors import AlphabetError, UnknownSymbolError, listing, unknown
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

    __iter__ = maps

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
        if len(self.letters.asked) != len(self.target.asked):
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
                place: [
                    target
                    for target in free
                    if self._alike((place, target)) and all(self._alike((place, target), pair) for pair in pairs)
                ]
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
            sums: Counter[int] = Counter()
            for number, share in letters.shares_where(true).items():
                sums[side.class_colours[number]] += share
            every = 1 << len(letters.order)
            self._known[there, true] = {colour: Fraction(share, every) for colour, share in sums.items() if share}
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


class Copies:
    """Some machines and their copies under permutations of symbols: `machine in copies`.

    Few machines look like one of ours (as many states of each output, as many letters in each class), and only for
    these a permutation is searched for. Machines are minimal, as compiled.
    """

    def __init__(self, machines: Iterable[MooreMachine], fixed: Collection[Symbol] = ()) -> None:
        """`fixed`: symbols that keep their names, such as the one that says that nothing holds."""
        self._fixed = tuple(fixed)
        self._known: dict[object, list[_Shape]] = {}
        for machine in machines:
            shape = self._shape(machine)
            if not self._holds(shape):
                self._known.setdefault(shape.look, []).append(shape)

    def __contains__(self, machine: MooreMachine) -> bool:
        return self._holds(self._shape(machine))

    def _shape(self, machine: MooreMachine) -> _Shape:
        alphabet = machine.alphabet
        if alphabet.occurring is not None:
            raise AlphabetError(
                f"renaming the propositions {listing(alphabet.symbols, 6)} leads out of the sets of them that occur; "
                "compile the task over all sets (propositions=…)"
            )
        return alphabet.pick(_SymbolShape, _PropositionShape)(machine, self._fixed)

    def _holds(self, shape: _Shape) -> bool:
        return any(shape.renames_to(other) for other in self._known.get(shape.look, ()))


@dataclass(frozen=True, eq=False)
class _Shape(ABC):
    """What of a machine does not depend on the names of its symbols."""

    machine: MooreMachine
    fixed: tuple[Symbol, ...]

    @property
    @abstractmethod
    def signs(self) -> list[Any]:
        """What a permutation keeps of each class: its size, or share of all letters, and symbols that stay in it."""

    @abstractmethod
    def renames_to(self, other: Any) -> bool:
        """Whether a permutation of symbols makes another machine of equal look of this one."""

    @cached_property
    def outputs(self) -> list[tuple[float, bool]]:
        """The output of each state, and whether it accepts."""
        return list(zip(self.machine.outputs.tolist(), self.machine.accepting.tolist(), strict=True))

    @cached_property
    def look(self) -> object:
        """Equal for copies."""
        return type(self), tuple(sorted(self.outputs)), tuple(sorted(self.signs))

    def search(self, target: SymmetrySearch | None = None) -> SymmetrySearch:
        """The search for ways to map this machine; colours are equal in machines of equal look."""
        outputs, signs = sorted(set(self.outputs)), sorted(set(self.signs))
        coded = self.machine.with_outputs([outputs.index(output) for output in self.outputs])
        search = SymmetrySearch(coded, target=target)
        search.class_colours = [signs.index(sign) for sign in self.signs]
        return search


class _SymbolShape(_Shape):
    @cached_property
    def signs(self) -> list[Any]:
        numbers = zip(self.machine.alphabet.symbols, self.machine.letter_class.tolist(), strict=True)
        kept = [(name, number) for name, number in numbers if name in self.fixed]
        sizes = enumerate(self.machine.class_sizes)
        return [(size, tuple(name for name, number in kept if number == place)) for place, size in sizes]

    def renames_to(self, other: _SymbolShape) -> bool:
        search = self.search(other.search())
        found = search.complete(())
        # Refined colours of machines that are no copies cannot be compared, so outputs are looked at once more.
        return found is not None and self.outputs == [other.outputs[state] for state in search.states_of(found)]


class _PropositionShape(_Shape):
    @cached_property
    def letters(self) -> LetterFunction:
        """The classes as a function of the propositions."""
        return self.machine.letters.function(len(self.machine.alphabet.symbols))

    @cached_property
    def essential(self) -> list[Symbol]:
        """The propositions whose truth ever matters."""
        return [self.machine.alphabet.symbols[place] for place in self.letters.asked]

    @cached_property
    def signs(self) -> list[Any]:
        return [size / self.machine.alphabet.size for size in self.machine.class_sizes]

    def renames_to(self, other: _PropositionShape) -> bool:
        here, there = self.essential, other.essential
        kept = [name for name in self.fixed if name in here or name in there]
        if any(name not in here or name not in there for name in kept):
            return False
        search = RenamingSearch(self.search(other.search()), self.letters, other.letters)
        return search.complete([(here.index(name), there.index(name)) for name in kept]) is not None
