"""What rewards can teach about one symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nrm.aliases import Letter, Symbol

if TYPE_CHECKING:
    from nrm.groundability.analysis import Shortcuts


@dataclass(frozen=True)
class SymbolVerdict:
    """Whether rewards can teach the meaning of a symbol, and what it may be confused with otherwise.

    A proposition (of a propositional alphabet) is groundable when no shortcut changes its truth in any letter. It may
    be ungroundable and confusable with no other proposition: what is confused then are combinations of propositions.
    """

    symbol: Symbol
    groundable: bool
    within_class: tuple[Symbol, ...] = ()
    """Symbols that the task treats like this one: confusing them is harmless for the task."""
    by_symmetry: tuple[Symbol, ...] = ()
    """Symbols that a symmetry of the task swaps it with: same rewards, another meaning."""

    @property
    def confusable_with(self) -> tuple[Symbol, ...]:
        """Every symbol that some shortcut maps this one to."""
        return self.within_class + self.by_symmetry


def letter_verdict(found: Shortcuts, letter: Letter) -> SymbolVerdict:
    """The verdict on a symbol of an exclusive alphabet, where symbols and letters are the same."""
    number = int(found.machine.letter_class[letter])
    name = found.alphabet.symbols[letter]
    own = found.classes[number]
    place = own.index(name)
    within = own[:place] + own[place + 1 :]
    others = tuple(other for image in found.group.orbit_of[number] if image != number for other in found.classes[image])
    return SymbolVerdict(name, not within and not others, within, others)


def proposition_verdict(found: Shortcuts, proposition: Symbol) -> SymbolVerdict:
    """The verdict on a proposition, by the surviving renamings and by its truth in letters that are confused."""
    bit = found.alphabet.symbols.index(proposition)
    renamings = found.renamings
    orbit_of_class = np.array([orbit[0] for orbit in found.group.orbit_of])
    orbits = orbit_of_class[found.machine.letter_class]
    true = np.bincount(orbits, weights=np.arange(len(orbits)) >> bit & 1)
    # In each set of letters that are confused with each other, the proposition must be always or never true.
    groundable = bool(((true == 0) | (true == np.bincount(orbits))).all())
    return SymbolVerdict(
        proposition, groundable, renamings.within_class(proposition), renamings.by_symmetry(proposition)
    )
