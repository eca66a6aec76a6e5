"""From letters to their classes: a list of them, or a decision diagram where propositions are many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray, Letter
from nrm.automata.letter_diagram import LetterDiagram, Truths
from nrm.errors import MachineError


@dataclass(frozen=True, eq=False)
class ListedLetters:
    """The class of each letter in an array (letters,)."""

    numbers: IntArray

    def check(self, letters: int, classes: int) -> None:
        """`MachineError` unless these are so many letters, in classes below so many."""
        if len(self.numbers) != letters:
            raise MachineError(f"'letter_class' has {len(self.numbers)} entries for {letters} letters")
        if self.numbers.min() < 0 or self.numbers.max() >= classes:
            raise MachineError(f"'letter_class' names a class outside 0 to {classes - 1}")

    def at(self, letter: Letter) -> int:
        """The class of a letter."""
        return int(self.numbers[letter])

    def take(self, letters: NDArray[np.int64]) -> IntArray:
        """(…) the classes of letters (…)."""
        return self.numbers.take(letters)

    def listed(self) -> IntArray:
        """(letters,) the class of each letter; `LimitError` where propositions are too many to list letters."""
        return self.numbers

    def sizes(self, classes: int) -> tuple[int, ...]:
        """How many letters each class has, exactly."""
        return tuple(np.bincount(self.numbers, minlength=classes).tolist())

    def examples(self, plainest_first: Callable[[], Iterable[Letter]]) -> Mapping[int, Letter]:
        """For each class a letter at which as little holds as possible, and such classes first.

        `plainest_first`: lists the letters so, where they can be listed.
        """
        letters: dict[int, Letter] = {}
        numbers = self.numbers.tolist()
        classes = len(set(numbers))
        for letter in plainest_first():
            letters.setdefault(numbers[letter], letter)
            if len(letters) == classes:
                break
        return letters

    def members(self, number: int) -> list[Letter]:
        """The letters of a class; None where these are too many."""
        found: list[Letter] = np.flatnonzero(self.numbers == number).tolist()
        return found

    def function(self, propositions: int) -> LetterDiagram:
        """The classes as a function of so many propositions."""
        halves = [np.arange(2 << level).reshape(2, -1).T for level in range(propositions)]
        return LetterDiagram.of_levels(halves, self.numbers, propositions)

    @cached_property
    def _function(self) -> LetterDiagram:
        return self.function(len(self.numbers).bit_length() - 1)

    def essential(self) -> tuple[tuple[int, ...], list[int]]:
        """The propositions whose truth ever matters, and the classes of the sets of these; None where too many."""
        places = self._function.asked
        few = np.arange(1 << len(places))
        spread = sum(((few >> place & 1) << bit for place, bit in enumerate(places)), np.zeros_like(few))
        return places, self.numbers[spread].tolist()

    def truths(self, propositions: int) -> dict[int, Truths]:
        """For each class which propositions hold at some of its letters, and which do not at some."""
        return self._function.truths(propositions)

    def work(self, hidden: int) -> int:  # noqa: ARG002 - no more than to look at every letter once
        """How much work `seen_without` so many propositions is."""
        return len(self.numbers)

    def seen_without(self, hidden: Sequence[int]) -> list[int] | None:
        """For each class a number, equal where classes look alike to who does not see some propositions.

        None where two letters of one class look alike.
        """
        return self._function.seen_without(hidden)


LetterClasses: TypeAlias = ListedLetters | LetterDiagram
"""The class of each letter; classes are numbered from 0."""


class Classes(NamedTuple):
    """Moves by letter *class*: letters that move every state alike share a column.

    So a thousand symbols of which a formula names two cost three columns.
    """

    letters: LetterClasses
    columns: IntArray
    """(states, classes) the next state."""
