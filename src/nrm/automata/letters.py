"""From letters to their classes: a list of them, or a decision diagram where propositions are many."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray, Letter
from nrm.automata.diagram import MAX_NODES, Cube, Diagram, cubes_of
from nrm.automata.mtbdd import Mtbdd
from nrm.errors import LimitError, MachineError

DENSE = 12
"""Propositions up to which the class of each letter stands in an array."""
MAX_LISTED = 20
"""Propositions up to which all letters can be listed."""


def in_columns(propositions: int) -> bool:
    """Whether propositions are so few that letters have a column each; diagrams stand for those of more."""
    return propositions <= DENSE


Truths = tuple[int, int]
"""Two sets of propositions, as bits: those that hold at some letter, and those that fail at some letter."""


@dataclass(frozen=True, eq=False)
class LetterFunction(Diagram):
    """The class of each letter over many propositions: a diagram with one root."""

    @classmethod
    def of_levels(
        cls, pairs: Sequence[NDArray[np.integer]], classes: NDArray[np.integer], order: tuple[int, ...]
    ) -> LetterFunction:
        """From each level's (places, 2) places at the next level for false and true, and the classes below the last.

        `order`: the proposition that each level asks for.
        """
        references, count = -1 - classes.astype(np.int64), 0
        levels, sides = [], []
        for level, below in reversed(list(enumerate(pairs))):
            levels.append(np.full(len(below), level))
            sides.append(references[below])
            references = np.arange(count, count + len(below))
            count += len(below)
        low, high = np.concatenate([np.zeros((0, 2), dtype=np.int64), *sides]).T
        own = np.concatenate([np.zeros(0, dtype=np.int64), *levels])
        return cls.reduced((own, low, high, references), order, len(order))

    @property
    def root(self) -> int:
        """The topmost node; -1 - class where all letters are of one class."""
        return int(self.roots[0])

    def at(self, letter: Letter) -> int:
        return self.leaf(0, letter)

    def take(self, letters: NDArray[np.int64]) -> IntArray:
        flat = letters.ravel()
        return self.leaves(np.zeros(flat.shape, dtype=np.int64), flat).reshape(letters.shape).astype(np.int32)

    def listed(self) -> IntArray:
        if self.propositions > MAX_LISTED:
            raise LimitError(
                f"{self.propositions} propositions have 2^{self.propositions} letters, and this needs a list of them "
                f"(the limit is {MAX_LISTED} propositions)"
            )
        return self.take(np.arange(1 << self.propositions, dtype=np.int64))

    def members(self, number: int) -> None:
        """None: a class may have too many letters."""

    def function(self, propositions: int) -> LetterFunction:  # noqa: ARG002 - those that it is over
        return self

    def first_letters(self) -> dict[int, Letter]:
        """The letter with the smallest number of each class, and such classes first."""
        return self.least(0, lambda proposition: 1 << proposition)

    def examples(self, plainest_first: Callable[[], Iterable[Letter]]) -> Mapping[int, Letter]:  # noqa: ARG002
        many = 1 << self.propositions
        return {number: sums % many for number, sums in self.least(0, lambda bit: many + (1 << bit)).items()}

    def sizes(self, classes: int) -> tuple[int, ...]:
        shares = self.shares_where(())
        return tuple(shares.get(number, 0) << (self.propositions - len(self.order)) for number in range(classes))

    def truths(self) -> dict[int, Truths]:
        """For each class which propositions hold at some of its letters, and which fail at some."""
        every = (1 << self.propositions) - 1 - sum(1 << bit for bit in self.asked)  # what is not asked for does both
        shares = self.shares_where(())
        found = dict.fromkeys(shares, (every, every))
        for bit in self.asked:
            held = self.shares_where((bit,))
            for number, share in shares.items():
                true, false = found[number]
                part = held.get(number, 0)
                found[number] = true | (part > 0) << bit, false | (part < 2 * share) << bit
        return found

    def shares_where(self, true: Collection[int]) -> dict[int, int]:
        """Of the letters at which some propositions hold, the share of each class; all add up to 2^levels."""
        levels, low, high, _ = self.lists
        whole = 1 << len(self.order)
        shares: dict[int, int] = {}
        mass = [0] * self.nodes
        if self.root < 0:
            return {-1 - self.root: whole}
        mass[self.root] = whole
        for node in range(self.nodes - 1, -1, -1):  # parents come after their children
            half = mass[node] >> 1  # a way asks for each level once, so halves stay whole numbers
            known = self.order[levels[node]] in true
            for child, part in ((high[node], mass[node]),) if known else ((low[node], half), (high[node], half)):
                if child >= 0:
                    mass[child] += part
                else:
                    shares[-1 - child] = shares.get(-1 - child, 0) + part
        return shares

    def exchanged(self, images: Mapping[int, int], target: LetterFunction) -> dict[int, int] | None:
        """The class of `target` that each class becomes where propositions are exchanged, p for `images[p]`.

        With pi(x) = {images[p] : p in x} the target's class of pi(x) must follow from ours of x, and back; None where
        it does not. `images` has all propositions that are asked for.
        """
        back = {image: proposition for proposition, image in images.items()}
        spare = iter([number for number in range(max(self.propositions, target.propositions)) if number not in images])
        bits = [back[number] if number in back else next(spare) for number in range(target.propositions)]
        other = target.placed(bits, self.propositions)
        order = (*self.order, *(number for number in other.order if number not in self.order))
        own, other = self.reordered(order), other.reordered(order)
        if other.nodes != own.nodes:
            return None
        ours, theirs = own.lists, other.lists
        matched: dict[int, int] = {}
        pending = [(own.root, other.root)]
        while pending:
            one, two = pending.pop()
            known = one in matched
            if matched.setdefault(one, two) != two or (one < 0) != (two < 0):
                return None
            if one >= 0 and not known:
                if ours[0][one] != theirs[0][two]:
                    return None
                pending += [(ours[side][one], theirs[side][two]) for side in (1, 2)]
        classes = {-1 - one: -1 - two for one, two in matched.items() if one < 0}
        return classes if len(set(classes.values())) == len(classes) else None

    def work(self, hidden: int) -> int:
        return self.nodes << hidden

    def seen_without(self, hidden: Sequence[int]) -> list[int] | None:
        if not set(hidden) <= set(self.asked):
            return None
        work: Mtbdd[tuple[int, ...]] = Mtbdd(MAX_NODES)
        sides = [
            self._restricted(dict(zip(hidden, truth, strict=True)), work)
            for truth in product((0, 1), repeat=len(hidden))
        ]
        done: dict[tuple[int, int], int] = {}
        # At each leaf: the classes of the letters that look alike there.
        root = reduce(lambda f, g: work.apply(f, g, lambda a, b: (*a, *b), done), sides)
        shown = [work.value(node) for node in work.below([root]) if work.is_leaf(node)]
        if any(len(set(classes)) < len(classes) for classes in shown):
            return None
        places: dict[int, int] = {}

        def where(number: int) -> int:
            """The function that says where a class is among those of a leaf."""
            return work.map(root, lambda classes: (-1 - (number in classes),), {})

        return [places.setdefault(where(number), len(places)) for number in range(1 + max(map(max, shown)))]

    def _restricted(self, truth: Mapping[int, int], work: Mtbdd[tuple[int, ...]]) -> int:
        """The diagram where some propositions are as `truth` says, with one class at each leaf."""

        def node(level: int, low: int, high: int) -> int:
            asked = truth.get(self.order[level])
            return work.node(level, low, high) if asked is None else high if asked else low

        return self.folded(lambda number: work.leaf((number,)), node)[0]


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

    def function(self, propositions: int) -> LetterFunction:
        """The classes as a function of so many propositions."""
        halves = [np.arange(2 << level).reshape(2, -1).T for level in range(propositions)]
        return LetterFunction.of_levels(halves, self.numbers, tuple(range(propositions)))

    def work(self, hidden: int) -> int:  # noqa: ARG002 - no more than to look at every letter once
        """How much work `seen_without` so many propositions is."""
        return len(self.numbers)

    def seen_without(self, hidden: Sequence[int]) -> list[int] | None:
        """For each class a number, equal where classes look alike to who does not see some propositions.

        None where two letters of one class look alike.
        """
        variables = len(self.numbers).bit_length() - 1
        bits = self.numbers.reshape((2,) * variables)  # the last axis is proposition 0
        moved = np.moveaxis(bits, [variables - 1 - bit for bit in hidden], range(len(hidden)))
        shown = np.sort(moved.reshape(1 << len(hidden), -1), axis=0)  # below each other: letters that look alike
        if (shown[1:] == shown[:-1]).any():
            return None
        where = np.zeros((int(shown.max()) + 1, shown.shape[1]), dtype=np.bool_)
        where[shown, np.arange(shown.shape[1])] = True
        places: dict[bytes, int] = {}
        return [places.setdefault(row.tobytes(), len(places)) for row in where]


LetterClasses: TypeAlias = ListedLetters | LetterFunction
"""The class of each letter; classes are numbered from 0."""


class Classes(NamedTuple):
    """Moves by letter *class*: letters that move every state alike share a column.

    So a thousand symbols of which a formula names two cost three columns.
    """

    letters: LetterClasses
    columns: IntArray
    """(states, classes) the next state."""


def shortest_cubes(classes: IntArray, propositions: int) -> list[Cube]:
    """Cubes of the letters of class 1, the shortest first; those of class 2 may be covered as well. classes: (2^n,)."""
    pairs = [np.arange(2 << level).reshape(-1, 2) for level in range(propositions)]
    order = tuple(reversed(range(propositions)))
    return cubes_of(LetterFunction.of_levels(pairs, classes, order), 0, [1], [2])
