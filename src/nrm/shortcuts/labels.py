"""The smallest set of symbols to label so that no shortcut is left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from nrm.aliases import Symbol
from nrm.shortcuts.renaming import Renamings
from nrm.shortcuts.symmetry.group import SymmetryGroup, symmetry_group
from nrm.shortcuts.symmetry.search import SymmetrySearch

if TYPE_CHECKING:
    from nrm.shortcuts.analysis import Shortcuts


def labels_needed(found: Shortcuts) -> tuple[Symbol, ...]:
    """A smallest set of symbols whose labels leave only the identity, in the order of the alphabet.

    A labelled symbol is one that every remaining map keeps. Every letter of a class with several letters needs its
    label, for it could be mapped within the class; of the other classes, a smallest base of the symmetries. Of a
    propositional alphabet, a smallest set of propositions whose truth is to be labelled; where only some sets of them
    occur, such sets.
    """
    if found.alphabet.is_free:
        return _propositions_needed(found)
    search = SymmetrySearch(found.machine, work=found.work)
    several = [number for number, size in enumerate(found.class_sizes) if size > 1]
    labelled = {letter for number in several for letter in found.members[number]}
    group = symmetry_group(search, several) if several else found.group
    for factor in group.factors:
        labelled.update(found.members[point][0] for point in _smallest_base(search, factor))
    return tuple(found.alphabet.letter_name(letter) for letter in sorted(labelled))


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
    """Whether labels of these propositions stop at least the renamings: quickly told where all orders are possible."""
    return all(
        sum(renamings.essential[point] not in chosen for point in factor.moved) <= 1
        for factor in renamings.group.factors
        if factor.is_symmetric
    )


def _settled_without(found: Shortcuts, search: SymmetrySearch, hidden: Sequence[int]) -> bool:
    """Whether only the identity keeps the truth of all propositions but some in every letter.

    A map by symmetry h can keep it iff each class shows the same truths as its image: it must show at least those of
    the class, and going round the cycle of h, no more.
    """
    letters = found.machine.letters
    search.spend(letters.work(len(hidden)))
    colours = letters.seen_without(hidden)
    return colours is not None and symmetry_group(search.with_class_colours(colours)).order == 1
