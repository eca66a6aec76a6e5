"""The search for renamings of propositions where letters are too many to list: by the diagram of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations

from nrm.automata import LetterFunction
from nrm.shortcuts.symmetry.group import SymmetryGroup
from nrm.shortcuts.symmetry.search import Permutation, SymmetrySearch

MAX_PAIRED = 3_000_000
"""Pairs of propositions times nodes up to which pairs are compared before a renaming is tried."""

COSTLY = 40
"""Units of work that a node of a diagram takes which is brought into another order."""

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
        if count**2 * self.letters.nodes > MAX_PAIRED:
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
        self.search.spend(COSTLY * self.letters.nodes)
        images = {self.essential[place]: self.essential[target] for place, target in moved.items()}
        classes = self.letters.exchanged(images)
        if classes is None:
            return False
        permutation = [classes[number] for number in range(self.search.classes)]
        if within:
            return permutation == list(range(self.search.classes))
        return self.search.contains(permutation)
