"""Which groundings no reward can tell from the true one: `nrm.shortcuts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from nrm.aliases import Letter, Symbol, SymbolMap, Trace
from nrm.errors import LimitError, NrmError, UnknownSymbolError, listing, unknown
from nrm.machines import (
    Alphabet,
    MachineLike,
    MooreMachine,
    TaskSet,
    as_machines,
    class_text,
    minimise,
)
from nrm.shortcuts.data_shortcuts import DataShortcuts, Prefixes
from nrm.shortcuts.reduction import (
    is_by_names,
    joint,
    map_letters,
    name_map,
    unrolled,
)
from nrm.shortcuts.renaming import Renamings
from nrm.shortcuts.symmetry_group import (
    DEFAULT_TERMS,
    SymmetryGroup,
    rough_numbers,
    sum_over,
    symmetry_group,
)
from nrm.shortcuts.symmetry_search import DEFAULT_WORK, Permutation, SymmetrySearch
from nrm.shortcuts.verdicts import ByLetter, ByProposition, SymbolVerdict

ShortcutKind = Literal["identity", "class", "symmetry"]


class Counts(NamedTuple):
    """Numbers of shortcuts to thirty digits, however long the exact ones are."""

    every: Decimal
    class_internal: Decimal
    by_symmetry: Decimal


@dataclass(frozen=True, kw_only=True)
class _LetterMaps:
    """Maps of letters that change no reward: a symmetry of the classes, and any map within classes."""

    machine: MooreMachine
    """The minimal machine of all tasks together."""
    group: SymmetryGroup = field(repr=False)
    """The symmetries, as permutations of symbol classes."""
    terms: int = field(default=DEFAULT_TERMS, repr=False, compare=False)

    @property
    def alphabet(self) -> Alphabet:
        """What the machines read."""
        return self.machine.alphabet

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """Number of letters in each class."""
        return self.machine.class_sizes

    @cached_property
    def count(self) -> int:
        """Number of mappings that change no reward, the identity included (#RS* in the paper)."""
        return sum_over(self.group, self.class_sizes, self.class_sizes, self.terms)

    @property
    def symmetries(self) -> int:
        """Order of the symmetry group, the identity included."""
        return self.group.order

    @property
    def groundable(self) -> bool:
        """Whether rewards can teach every symbol."""
        return self.symmetries == 1 and all(size == 1 for size in self.class_sizes)


@dataclass(frozen=True, kw_only=True)
class Shortcuts(_LetterMaps):
    """All symbol mappings that change no reward on any trace: the unremovable reasoning shortcuts.

    The identity is one of them. Mappings are enumerated lazily.
    """

    machines: tuple[MooreMachine, ...]
    """The tasks."""
    work: int = field(default=DEFAULT_WORK, repr=False, compare=False)

    @cached_property
    def members(self) -> tuple[tuple[Letter, ...], ...]:
        """The letters of each class."""
        letters: list[list[Letter]] = [[] for _ in range(self.machine.classes)]
        for letter, number in enumerate(self.machine.letter_class.tolist()):
            letters[number].append(letter)
        return tuple(map(tuple, letters))

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """The names in each class: symbols that the tasks treat alike."""
        return tuple(tuple(map(self.alphabet.letter_name, letters)) for letters in self.members)

    @cached_property
    def rough(self) -> Counts:
        """`count`, `class_internal` and `by_symmetry` to thirty digits, for very long numbers."""
        sizes = [Decimal(size) for size in self.class_sizes]
        with rough_numbers():
            every, internal = (
                Decimal(sum_over(group, sizes, self.class_sizes, self.terms))
                for group in (self.group, self.group.trivial)
            )
            return Counts(every, internal, every - internal if self.symmetries > 1 else Decimal(0))

    @cached_property
    def class_texts(self) -> tuple[str, ...]:
        """Each class as text: its names, or a guard if they are too many."""
        texts = []
        for number in range(self.machine.classes):
            letters = self.machine.letters.members(number)
            names = [self.alphabet.letter_name(letter) for letter in letters or ()]
            several = "{" + listing(names, 3) + "}" if names else class_text(self.machine, number)
            texts.append(names[0] if len(names) == 1 else several)
        return tuple(texts)

    @cached_property
    def class_internal(self) -> int:
        """Number of mappings within classes, the identity included: harmless for these tasks."""
        return sum_over(self.group.trivial, self.class_sizes, self.class_sizes)

    @property
    def by_symmetry(self) -> int:
        """Number of mappings that rename states: the same rewards with another meaning."""
        return self.count - self.class_internal

    @property
    def teaches_nothing(self) -> bool:
        """Whether all symbols are treated alike, as in a valid formula."""
        return self.machine.classes == 1 and self.alphabet.size > 1

    def maps(self) -> Iterator[dict[str, str]]:
        """All mappings, lazily, the identity first."""
        numbers = self.machine.letter_class.tolist()
        places = {letter: place for letters in self.members for place, letter in enumerate(letters)}
        place = [places[letter] for letter in range(len(numbers))]
        # One tuple of digits for all classes of a size: `product` would copy anything but a tuple.
        digits_below = {size: tuple(range(size)) for size in self.class_sizes}
        for images in self.group.elements():
            choices = [self.members[images[number]] for number in numbers]
            # Counting starts at each letter's own place, which makes the very first map the identity.
            for shifts in product(*(digits_below[len(letters)] for letters in choices)):
                values = [
                    letters[(start + shift) % len(letters)]
                    for letters, start, shift in zip(choices, place, shifts, strict=True)
                ]
                yield name_map(self.alphabet, values)

    __iter__ = maps

    def __contains__(self, candidate: object) -> bool:
        return isinstance(candidate, Mapping) and is_by_names(candidate) and self.kind(candidate) is not None

    def kind(self, candidate: SymbolMap) -> ShortcutKind | None:
        """The kind of shortcut that a mapping is; None if it is none.

        Symbols that it does not name map to themselves.
        """
        moved = {letter: image for letter, image in map_letters(self.alphabet, candidate).items() if letter != image}
        if not moved:
            return "identity"
        images = self._class_images(moved.items())
        if images is None:
            return None
        # Where letters of a class stay what they are, the class does.
        named = Counter(self.machine.class_of(letter) for letter in moved)
        for number, size in enumerate(self.class_sizes):
            if named[number] < size:
                if images[number] not in (-1, number):
                    return None
                images[number] = number
        if not self._search().contains(images):
            return None
        return "class" if list(images) == sorted(images) else "symmetry"

    def symmetry_agreeing_with(self, pairs: Iterable[tuple[Letter, Letter]]) -> Permutation | None:
        """A symmetry, as images of classes, of a shortcut that maps letters as `pairs` say; None if there is none."""
        images = self._class_images(pairs)
        if images is None:
            return None
        chosen = [(number, image) for number, image in enumerate(images) if image >= 0]
        if all(number == image for number, image in chosen):
            return self.group.identity
        return self._search().complete(chosen)

    def states_under(self, classes: Permutation) -> Permutation:
        """The image of each state of `machine` under a symmetry, given as images of the letter classes."""
        return self._search().states_of(classes)

    @property
    def _by_kind(self) -> ByLetter:
        return self.alphabet.pick(ByLetter, ByProposition)(self)

    @property
    def further_counts(self) -> Mapping[str, int]:
        """Other numbers of maps than `count`: of `renamings`, where propositions can be renamed."""
        return self._by_kind.further_counts()

    @cached_property
    def verdicts(self) -> tuple[SymbolVerdict, ...]:
        """The verdict on each symbol or proposition: whether rewards can teach it, and possible confusions."""
        return self._by_kind.verdicts()

    def verdict(self, symbol: Symbol) -> SymbolVerdict:
        """Whether rewards can teach a symbol, and what it can be confused with."""
        known = {verdict.symbol: verdict for verdict in self.verdicts}
        if symbol not in known:
            raise UnknownSymbolError(unknown("symbol", symbol, known))
        return known[symbol]

    @cached_property
    def renamings(self) -> Renamings:
        """The mappings that rename propositions."""
        return self._by_kind.renamings(self._search())

    @cached_property
    def labels_needed(self) -> tuple[Symbol, ...]:
        """A smallest set of symbols whose labels leave only the identity."""
        return self._by_kind.labels_needed()

    def groundings(self, observations: Mapping[str, int] | Sequence[int]) -> int:
        """Number of groundings with the same rewards as the true one, given the number of observations per symbol."""
        amounts = _amounts(self.alphabet, observations)
        exponents = [sum(amounts[letter] for letter in letters) for letters in self.members]
        if 0 in exponents:
            raise NrmError(
                f"no observation of {listing(self.classes[exponents.index(0)])}: rewards teach less than the task "
                "could where a class of letters never occurs; count with left_by(traces) instead"
            )
        return sum_over(self.group, self.class_sizes, exponents, self.terms)

    def within(self, horizon: int) -> Shortcuts:
        """The mappings that change no reward on traces up to length `horizon` (Theorem 1 of the paper)."""
        if horizon < 0:
            raise NrmError(f"a horizon is a number of steps, not {horizon}")
        # Two machines of n states that differ at all do so on a string of at most 2n - 2 letters.
        if horizon >= 2 * self.machine.states - 2:
            return self
        most = 2_000_000
        if (horizon + 1) * self.machine.columns.size > most:
            raise LimitError(
                f"{horizon} steps of a machine with {self.machine.states} states and {self.machine.classes} letter "
                f"classes are more than {most:,} transitions; ask for a shorter horizon"
            )
        bounded = minimise(unrolled(self.machine, horizon), by="outputs")
        group = symmetry_group(SymmetrySearch(bounded, work=self.work))
        return replace(self, machine=bounded, group=group)

    def left_by(self, traces: Iterable[Trace], ends_only: bool = False) -> DataShortcuts:
        """The mappings that change no reward on recorded traces; with `ends_only`, no potential at the end of one."""
        return DataShortcuts(self.machine, Prefixes.of(self.machine, traces, ends_only))

    def __str__(self) -> str:
        rough = self.rough.every
        shown = str(self.count) if rough < 10**20 else f"{rough:.3e}".replace("+", "")
        what = "shortcut, the identity," if rough == 1 else "shortcuts"
        letters = self.alphabet.amount.replace(",", "")
        return f"{shown} {what} of {letters} letters in {self.machine.classes} classes ({self.symmetries:,} symmetries)"

    def _search(self) -> SymmetrySearch:
        return SymmetrySearch(self.machine, work=self.work)

    def _class_images(self, pairs: Iterable[tuple[Letter, Letter]]) -> list[int] | None:
        """The class that each class goes to (-1: not said), if letters of one class go to one class."""
        images = [-1] * self.machine.classes
        for letter, value in pairs:
            number, image = self.machine.class_of(letter), self.machine.class_of(value)
            if images[number] not in (-1, image):
                return None
            images[number] = image
        return images


def shortcuts(
    machines: MachineLike | Iterable[MachineLike],
    *,
    horizon: int | None = None,
    work: int = DEFAULT_WORK,
    terms: int = DEFAULT_TERMS,
) -> Shortcuts:
    """Find out which symbols rewards can teach, for one task or for several tasks with one grounder.

    Args:
        machines: machines or tasks; after the first, also formulas over its alphabet.
        horizon: consider traces up to this length only.
        work: limit of the search for symmetries. Past it, by default after about a minute, `LimitError` is raised.
        terms: limit of the sum over symmetries.

    """
    if isinstance(machines, str) or not isinstance(machines, Iterable):
        machines = (machines,)
    tasks = as_machines(tuple(machines))
    machine = joint(tasks)
    group = symmetry_group(SymmetrySearch(machine, work=work))
    result = Shortcuts(machines=tasks, machine=machine, group=group, work=work, terms=terms)
    return result if horizon is None else result.within(horizon)


def _amounts(alphabet: Alphabet, observations: Mapping[str, int] | Sequence[int]) -> list[int]:
    if isinstance(observations, Mapping):
        amounts = [0] * alphabet.size
        for name, amount in observations.items():
            amounts[alphabet.letter(alphabet.read_step(name))] = amount
    else:
        amounts = list(observations)
    if len(amounts) != alphabet.size or any(amount < 0 for amount in amounts):
        raise NrmError(
            f"numbers of observations must be given for the {alphabet.size} letters, none of them negative; "
            f"got {listing(map(str, amounts))}"
        )
    return amounts


@dataclass(frozen=True, kw_only=True)
class TaskSetShortcuts(_LetterMaps):
    """The maps of letters that change no reward of any task of a task set."""

    tasks: int
    """How many tasks were looked at: further ones cannot change the verdict once only the identity is left."""

    @cached_property
    def confusable(self) -> tuple[tuple[str, ...], ...]:
        """The sets of letters, two at least, that these rewards can teach no one to tell apart."""
        sets: dict[int, list[str]] = {}
        for letter, number in enumerate(self.machine.letter_class.tolist()):
            sets.setdefault(self.group.orbit_of[number][0], []).append(self.alphabet.letter_name(letter))
        return tuple(tuple(names) for names in sets.values() if len(names) > 1)


def task_set_shortcuts(pool: TaskSet, work: int = DEFAULT_WORK) -> TaskSetShortcuts:
    """What the tasks of a pool can teach together, looked at from the smallest machines on until all is taught."""
    order = sorted(pool.machines, key=lambda machine: machine.states)
    count = 16
    while True:
        found = _side_by_side(order[:count], work)
        if found.groundable or count >= len(order):
            return found
        count *= 4


def _side_by_side(machines: Sequence[MooreMachine], work: int) -> TaskSetShortcuts:
    least = [minimise(machine, by="outputs") for machine in machines]
    pool = TaskSet(tuple(least), tuple(map(str, range(len(least)))))
    union = pool.union
    # A state looks like the states of its own task with its own potential, and like no others.
    looks = pool.task_of_state.astype(np.int64) * len(union.levels) + union.level_of_state
    coded = union.with_outputs(np.unique(looks, return_inverse=True)[1])
    group = symmetry_group(SymmetrySearch(coded, work=work, fixed=pool.initial.tolist()))
    return TaskSetShortcuts(machine=coded, group=group, tasks=len(machines))
