"""What rewards can teach about one symbol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from nrm.aliases import Symbol
from nrm.automata import Truths
from nrm.errors import listing

if TYPE_CHECKING:
    from nrm.shortcuts.analysis import Shortcuts


@dataclass(frozen=True, repr=False)
class SymbolVerdict:
    """Whether rewards can teach the meaning of a symbol, and what it may be confused with otherwise.

    A proposition (of a propositional alphabet) is groundable when no shortcut changes its truth in any letter. It may
    be ungroundable and confusable with no other proposition: what is confused then are combinations of propositions.
    """

    symbol: Symbol
    groundable: bool
    alike: tuple[Symbol, ...] = ()
    """Symbols that the task treats like this one, itself among them; one tuple serves all of them."""
    swapped: tuple[tuple[Symbol, ...], ...] = ()
    """Sets of symbols that symmetries of the task swap it with."""
    used: bool = True
    """Whether the task ever looks at it: False for a proposition whose truth never matters."""

    @property
    def within_class(self) -> tuple[Symbol, ...]:
        """Symbols that the task treats like this one: confusing them is harmless for the task."""
        return tuple(self._others())

    @property
    def by_symmetry(self) -> tuple[Symbol, ...]:
        """Symbols that a symmetry of the task swaps it with: same rewards, another meaning."""
        return tuple(chain.from_iterable(self.swapped))

    @property
    def confusable_with(self) -> tuple[Symbol, ...]:
        """Every symbol that some shortcut maps this one to."""
        return self.within_class + self.by_symmetry

    @property
    def confusable_count(self) -> int:
        """How many they are, without listing them."""
        return max(len(self.alike) - 1, 0) + sum(map(len, self.swapped))

    def confusions(self) -> Iterator[Symbol]:
        """The symbols of `confusable_with`, as they are asked for."""
        return chain(self._others(), chain.from_iterable(self.swapped))

    def _others(self) -> Iterator[Symbol]:
        return (name for name in self.alike if name != self.symbol)

    def __repr__(self) -> str:
        within, swapped = listing(self.within_class), listing(self.by_symmetry)
        return (
            f"SymbolVerdict({self.symbol!r}, groundable={self.groundable}, within_class=({within}), "
            f"by_symmetry=({swapped}), used={self.used})"
        )


def all_verdicts(found: Shortcuts) -> tuple[SymbolVerdict, ...]:
    """The verdicts on all symbols, in time that grows with the number of symbols and not with its square."""
    if found.alphabet.is_free:
        return tuple(_proposition_verdict(found, name) for name in found.alphabet.symbols)
    swapped = [
        tuple(found.classes[image] for image in orbit if image != number)
        for number, orbit in enumerate(found.group.orbit_of)
    ]
    verdicts = []
    for symbol, number in zip(found.alphabet.letter_names, found.machine.letter_class.tolist(), strict=True):
        alike, others = found.classes[number], swapped[number]
        verdicts.append(SymbolVerdict(symbol, len(alike) == 1 and not others, alike, others))
    return tuple(verdicts)


def _proposition_verdict(found: Shortcuts, proposition: Symbol) -> SymbolVerdict:
    """The verdict on a proposition, by the surviving renamings and by its truth in letters that are confused."""
    bit = found.alphabet.symbols.index(proposition)
    renamings = found.renamings
    # In each set of letters that are confused with each other, the proposition must be always or never true.
    groundable = not any(true & false & 1 << bit for true, false in found.truths)
    alike = (proposition, *renamings.within_class(proposition))
    swapped = tuple((other,) for other in renamings.by_symmetry(proposition))
    return SymbolVerdict(proposition, groundable, alike, swapped, proposition in renamings.essential)


def truths_in_orbits(found: Shortcuts) -> tuple[Truths, ...]:
    """For each set of letters that are confused: the propositions that hold, and that fail, at some of them (bits)."""
    by_class = found.machine.letters.truths(len(found.alphabet.symbols))
    merged = []
    for orbit in found.group.orbits:
        true = false = 0
        for number in orbit:
            true, false = true | by_class[number][0], false | by_class[number][1]
        merged.append((true, false))
    return tuple(merged)
