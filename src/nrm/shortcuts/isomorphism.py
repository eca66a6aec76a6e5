"""Tasks that differ in the names of their symbols alone: isomorphism of machines under permutations of symbols."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from nrm.aliases import Symbol
from nrm.automata import LetterFunction
from nrm.errors import AlphabetError, listing
from nrm.machines import MooreMachine
from nrm.shortcuts.renaming import RenamingSearch
from nrm.shortcuts.symmetry_search import SymmetrySearch

ClassSign = tuple[int | Fraction, tuple[Symbol, ...]]
"""How many letters a class has that permutations move (of propositions: their share of all letters), and the symbols in
it that they leave in place."""


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
            shape = _Shape(machine, self._fixed)
            if not self._holds(shape):
                self._known.setdefault(shape.look, []).append(shape)

    def __contains__(self, machine: MooreMachine) -> bool:
        return self._holds(_Shape(machine, self._fixed))

    def _holds(self, shape: _Shape) -> bool:
        return any(shape.renames_to(other) for other in self._known.get(shape.look, ()))


@dataclass(frozen=True, eq=False)
class _Shape:
    """What of a machine does not depend on the names of its symbols."""

    machine: MooreMachine
    fixed: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        alphabet = self.machine.alphabet
        if alphabet.occurring is not None:
            raise AlphabetError(
                f"renaming the propositions {listing(alphabet.symbols, 6)} leads out of the sets of them that occur; "
                "compile the task over all sets (propositions=…)"
            )

    @cached_property
    def letters(self) -> LetterFunction:
        """The classes as a function of the propositions."""
        return self.machine.letters.function(len(self.machine.alphabet.symbols))

    @cached_property
    def signs(self) -> list[ClassSign]:
        """What a permutation keeps of each class."""
        if not self.machine.alphabet.is_exclusive:
            return [(Fraction(size, self.machine.alphabet.size), ()) for size in self.machine.class_sizes]
        members: list[list[Symbol]] = [[] for _ in range(self.machine.classes)]
        for name, number in zip(self.machine.alphabet.symbols, self.machine.letter_class.tolist(), strict=True):
            members[number].append(name)
        kept = [tuple(name for name in names if name in self.fixed) for names in members]
        return [(len(names) - len(fixed), fixed) for names, fixed in zip(members, kept, strict=True)]

    @cached_property
    def outputs(self) -> list[tuple[float, bool]]:
        """The output of each state, and whether it accepts."""
        return list(zip(self.machine.outputs.tolist(), self.machine.accepting.tolist(), strict=True))

    @cached_property
    def look(self) -> object:
        """Equal for copies."""
        alphabet = self.machine.alphabet
        kind = len(alphabet.symbols) if alphabet.is_exclusive else "propositions"
        return kind, tuple(sorted(self.outputs)), tuple(sorted(self.signs))

    def search(self, target: SymmetrySearch | None = None) -> SymmetrySearch:
        """The search for ways to map this machine; colours are equal in machines of equal look."""
        outputs, signs = sorted(set(self.outputs)), sorted(set(self.signs))
        coded = self.machine.with_outputs([outputs.index(output) for output in self.outputs])
        search = SymmetrySearch(coded, target=target)
        search.class_colours = [signs.index(sign) for sign in self.signs]
        return search

    def renames_to(self, other: _Shape) -> bool:
        """Whether a permutation of symbols makes another machine of equal look of this one."""
        target = other.search()
        search = self.search(target)
        if not self.machine.alphabet.is_exclusive:
            return RenamingSearch(search, self.letters, other.letters).complete(self._kept(other)) is not None
        found = search.complete(())
        # Refined colours of machines that are no copies cannot be compared, so outputs are looked at once more.
        return found is not None and self.outputs == [other.outputs[state] for state in search.states_of(found)]

    def _kept(self, other: _Shape) -> list[tuple[int, int]]:
        """The places of propositions that keep their names, here and there; -1 where one has none."""
        here, there = ([one.machine.alphabet.symbols[bit] for bit in one.letters.asked] for one in (self, other))
        names = [name for name in self.fixed if name in here or name in there]
        return [(here.index(n) if n in here else -1, there.index(n) if n in there else -1) for n in names]
