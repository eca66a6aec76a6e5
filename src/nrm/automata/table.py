"""Moves as an integer table by letter classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, Json, Letter, State
from nrm.automata.diagram import Cube
from nrm.automata.letters import Classes, LetterClasses, ListedLetters
from nrm.automata.mtbdd import Limits, spend
from nrm.automata.partition import Blocks, Numbers, by_first_occurrence, scattered, split, split_by_rows
from nrm.automata.search import Differ, Pair, Reaching, distinguishing_string
from nrm.errors import MachineError, counted


@dataclass(frozen=True, eq=False)
class Table(Reaching):
    """Moves by letter class."""

    letter_class: IntArray
    """(letters,) the class of each letter."""
    columns: IntArray
    """(states, classes) the next state."""

    def __post_init__(self) -> None:
        self.letter_class.flags.writeable = False
        self.columns.flags.writeable = False

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.columns)

    @property
    def extent(self) -> str:
        """How large the moves are, for people: `5 classes`, or `diagrams of 104 nodes`."""
        return counted(self.columns.shape[1], "class", "es")

    @property
    def key(self) -> tuple[object, bytes]:
        """Equal for equal moves, in numbering too: something with a `repr`, and bytes."""
        return self.columns.shape, self.letter_class.tobytes() + self.columns.tobytes()

    def check(self, letters: int, propositions: int | None, name: Callable[[Letter], str]) -> None:  # noqa: ARG002
        """`MachineError` unless these are moves by so many letters; `propositions`: where any subset may hold."""
        states, classes = self.columns.shape
        ListedLetters(self.letter_class).check(letters, classes)
        wrong = np.argwhere((self.columns < 0) | (self.columns >= states))
        if len(wrong):
            state, number = (int(value) for value in wrong[0])
            examples = np.flatnonzero(self.letter_class == number)
            what = f"'{name(int(examples[0]))}'" if len(examples) else f"the unused class {number}"
            raise MachineError(
                f"state {state} has no valid transition for {what}: "
                f"{int(self.columns[state, number])} is not a state (0 to {states - 1})"
            )

    def check_size(self, limits: Limits) -> None:
        """`LimitError` where they are larger than allowed."""
        limits.check(*self.columns.shape)

    def classes(self) -> Classes:
        """The moves by letter classes; `LimitError` where these are too many."""
        return Classes(ListedLetters(self.letter_class), self.columns)

    def next_state(self, state: State, letter: Letter) -> State:
        """Where a letter leads from a state."""
        return int(self.columns[state, self.letter_class[letter]])

    def take(self, states: NDArray[np.int64], letters: NDArray[np.int64]) -> NDArray[np.int64]:
        """(N,) the states that follow states (N,) by letters (N,)."""
        return self.columns[states, self.letter_class[letters]].astype(np.int64)

    def targets(self, state: State) -> list[State]:
        """The states that one state leads to, each once, in the order of the letters that lead there."""
        return list(dict.fromkeys(self.columns[state].tolist()))

    def edges(self) -> IntArray:
        """(edges, 2) each state with each state that it leads to, ascending."""
        codes = np.unique(np.arange(self.states, dtype=np.int64)[:, None] * self.states + self.columns)
        return np.stack(np.divmod(codes, self.states), axis=1).astype(np.int32)

    def plainest(self, state: State, plainest_first: Callable[[], Iterable[Letter]]) -> Iterable[tuple[State, Letter]]:
        """Where a state goes, and by what, letters at which little holds first; see `LetterClasses.examples`."""
        row = self.columns[state].tolist()
        return ((row[number], letter) for number, letter in self.classes().letters.examples(plainest_first).items())

    def guards(
        self, state: State, most: int | None, cubes: Callable[[BoolArray], Sequence[Cube]]
    ) -> list[tuple[State, Sequence[Cube]]]:
        """The first `most` states that one leads to, and by what; `cubes`: those of some letters (letters,)."""
        row = self.columns[state]
        return [(target, cubes((row == target)[self.letter_class])) for target in self.targets(state)[:most]]

    def nearest(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """(states, columns, …) the least of values (states, …) that a step with a letter, or literal, leads to.

        Columns are the letters, or where propositions are many, each proposition and its negation.
        """
        return values[self.columns[:, self.letter_class]]

    def leaving(self) -> tuple[IntArray, BoolArray]:
        """(moves, 2) states and the other states they lead to, and (moves, columns) by which letters or literals."""
        table = self.columns[:, self.letter_class]
        states, letters = np.nonzero(table != np.arange(self.states)[:, None])
        pairs, move = np.unique(np.stack([states, table[states, letters]], axis=1), axis=0, return_inverse=True)
        by = np.zeros((len(pairs), len(self.letter_class)), dtype=np.bool_)
        by[move.ravel(), letters] = True
        return pairs.astype(np.int32), by

    def absorbing(self) -> BoolArray:
        """(states,) the states that no letter leaves."""
        result: BoolArray = (self.columns == np.arange(self.states, dtype=np.int32)[:, None]).all(axis=1)
        return result

    def entered(self, state: State) -> bool:
        """Whether some state moves to this one."""
        return bool((self.columns == state).any())

    def alike(self, state: State) -> IntArray:
        """The states that every letter leads where it leads from this one, itself among them."""
        return np.flatnonzero((self.columns == self.columns[state]).all(axis=1)).astype(np.int32)

    def reaching(self, goals: BoolArray) -> BoolArray:
        """(states,) which states some letter leads to one of the goals."""
        return np.asarray(goals[self.columns].any(axis=1))

    def congruence(self, labels: NDArray[np.generic]) -> Blocks:
        """The coarsest partition of states that respects `labels` (states,) and every letter."""
        return coarsest_congruence(self.columns, labels)

    def quotient(self, blocks: Blocks) -> tuple[Table, IntArray]:
        """The moves over blocks, and for each block one state that stands for it."""
        _, kept = np.unique(blocks, return_index=True)
        return Table(self.letter_class, blocks.astype(np.int32)[self.columns[kept]]), kept.astype(np.int32)

    def halted(self, states: IntArray) -> Table:
        """The moves, but for some states, which no letter leaves any more."""
        columns = self.columns.copy()
        columns[states] = states[:, None]
        return Table(self.letter_class, columns)

    def merged(self) -> Table:
        """With equal letter classes as one, none without letters, and classes numbered by their first letter."""
        numbers, first = by_first_occurrence(equal_columns(self.columns)[self.letter_class])
        kept = self.letter_class[first]
        unchanged = len(kept) == self.columns.shape[1] and (kept[1:] > kept[:-1]).all()
        columns = self.columns if unchanged else np.ascontiguousarray(self.columns[:, kept])
        return Table(numbers.astype(np.int32), columns)

    def canonical(self, initial: State) -> tuple[Table, IntArray]:
        """The reachable part in breadth-first order by letter, and the old number of each state."""
        letter_class, columns = self.letter_class, self.columns
        used = np.bincount(letter_class, minlength=columns.shape[1]) > 0
        if not used.all():
            columns, letter_class = columns[:, used], (np.cumsum(used) - 1)[letter_class].astype(np.int32)
        reachable = np.sort(bfs_order(columns, initial))
        merged = Table(letter_class, renumber(columns, reachable)).merged()
        # Merging sorts the columns by their first letter, which fixes the order of states.
        order = bfs_order(merged.columns, int(np.searchsorted(reachable, initial)))
        return Table(merged.letter_class, renumber(merged.columns, order)), reachable[order]

    def product(self, other: object, limits: Limits, starts: Pair = (0, 0)) -> tuple[Table, IntArray, IntArray]:
        """The reachable pairs of states, the pair of both starts first, and both states of each pair."""
        assert isinstance(other, Table)
        both = self.letter_class.astype(np.int64) * other.columns.shape[1] + other.letter_class
        letters, first = by_first_occurrence(both)
        left_class, right_class = np.divmod(both[first], other.columns.shape[1])
        width = other.states

        def following(codes: NDArray[np.int64]) -> NDArray[np.int64]:
            a, b = np.divmod(codes, width)
            targets: NDArray[np.int64] = np.take(self.columns[a].astype(np.int64), left_class, axis=1) * width
            targets += np.take(other.columns[b], right_class, axis=1)
            return targets

        start = np.array([starts[0] * width + starts[1]], dtype=np.int64)
        codes, rows = Numbers(self.states * width).explored(start, following, lambda n: limits.check(n, len(first)))
        a, b = np.divmod(codes, width)
        return Table(letters.astype(np.int32), rows), a, b

    def beside(self, others: Sequence[object]) -> Table:
        """Automata side by side, one after the other, this one first."""
        parts = self._with(others)
        firsts = np.cumsum([0, *(part.states for part in parts)])[:-1]
        rows = [part.columns[:, part.letter_class] + first for part, first in zip(parts, firsts, strict=True)]
        each = np.arange(len(self.letter_class), dtype=np.int32)
        return Table(each, np.concatenate(rows).astype(np.int32)).merged()

    def _with(self, others: Sequence[object]) -> list[Table]:
        return [self, *(other for other in others if isinstance(other, Table))]

    def difference(self, other: object, start: Pair, differ: Differ) -> tuple[list[Letter], Pair] | None:
        """A shortest string after which the states of both `differ`, and these states; None if there is none."""
        assert isinstance(other, Table)
        letters: dict[tuple[int, int], int] = {}
        for letter, classes in enumerate(zip(self.letter_class.tolist(), other.letter_class.tolist(), strict=True)):
            letters.setdefault(classes, letter)
        return distinguishing_string((self.columns.tolist(), other.columns.tolist()), start, letters, differ)

    def placed(self, bits: Sequence[int], propositions: int) -> Table:
        """The same over other propositions: proposition i becomes number `bits[i]` of so many."""
        larger = np.arange(1 << propositions, dtype=np.int64)
        letters = np.zeros_like(larger)
        for bit, place in enumerate(bits):
            letters |= ((larger >> place) & 1) << bit
        return Table(self.letter_class[letters], self.columns)

    def relettered(self, letters: Sequence[Letter]) -> Table:
        """Over other letters, which exclude each other: letter p acts as `letters[p]` did."""
        return Table(self.letter_class[list(letters)], self.columns)

    def described(self) -> Json:
        """As JSON values: `transitions`, or a `diagram`."""
        return {"transitions": self.columns[:, self.letter_class].tolist()}

    def packed(self, others: Sequence[object]) -> dict[str, NDArray[Any]]:
        """Many automata as arrays of a file, this one first; see `unpacked`."""
        parts = self._with(others)
        return {
            "classes": np.array([part.columns.shape[1] for part in parts]),
            "letter_class": np.stack([part.letter_class for part in parts]),
            "columns": np.concatenate([part.columns.ravel() for part in parts]),
        }


def unpacked_tables(sizes: NDArray[np.int64], arrays: dict[str, NDArray[Any]]) -> Sequence[Table]:
    """The tables of a file, of which each has so many states; `ValueError` where they do not fit."""
    cells = np.cumsum(sizes * arrays["classes"].astype(np.int64))
    if int(cells[-1]) != len(arrays["columns"]):
        raise ValueError(f"tables of {len(arrays['columns'])} cells for {int(cells[-1])}")
    columns = np.split(arrays["columns"], cells[:-1])
    rows = zip(columns, sizes.tolist(), arrays["letter_class"], strict=True)
    return [Table(letters, table.reshape(size, -1)) for table, size, letters in rows]


def bfs_order(columns: IntArray, initial: int) -> IntArray:
    """The states reachable from `initial`, in breadth-first order (by parent, then by column)."""
    seen = np.zeros(len(columns), dtype=bool)
    seen[initial] = True
    first = np.empty(len(columns), dtype=np.int64)
    frontier = np.array([initial], dtype=np.int32)
    levels = [frontier]
    while frontier.size and not seen.all():
        targets = columns[frontier].ravel()
        targets = targets[~seen[targets]]
        # Written back to front, so that the first occurrence of each target is what stays.
        first[targets[::-1]] = np.arange(len(targets) - 1, -1, -1)
        seen[targets] = True
        found = targets[first[targets] == np.arange(len(targets))]
        levels.append(found)
        frontier = found
    return np.concatenate(levels)


def renumber(columns: IntArray, order: IntArray) -> IntArray:
    """The table restricted to the states in `order` (closed under transitions), numbered by their place in it."""
    if len(order) == len(columns) and (order[1:] > order[:-1]).all():
        return columns
    place = np.full(len(columns), -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    renumbered: IntArray = place[columns[order]]
    return renumbered


def coarsest_congruence(columns: IntArray, labels: NDArray[np.generic]) -> Blocks:
    """Moore's partition refinement: the coarsest partition that respects `labels` and every column.

    Blocks are split by a 64-bit fingerprint of each row, some columns at a time. Different fingerprints mean
    different rows, so no split is ever wrong; equal ones are checked exactly at the end, and the rows themselves are
    compared if the check fails.
    """
    states, width = columns.shape
    if columns.size <= 1_500:  # plain Python is faster than arrays
        return _refined(columns, labels)
    blocks: Blocks = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    count = int(blocks.max()) + 1
    weights = scattered(np.arange(1, width + 1)) | np.uint64(1)
    while count < states:
        before = count
        for start in range(0, width, 64):  # most partitions are settled by few columns
            part = slice(start, start + 64)
            spend(20_000 + states * (120 + 5 * min(width, 64)))
            prints = (scattered(blocks + 1)[columns[:, part]] * weights[part]).sum(axis=1, dtype=np.uint64)
            blocks, count = split(blocks, prints)
            if count == states:
                return blocks
        if count == before:
            blocks, count = split_by_rows(blocks[columns], blocks)
            if count == before:
                break
    return blocks


def _refined(columns: IntArray, labels: NDArray[np.generic]) -> Blocks:
    """As `coarsest_congruence`, row by row."""
    rows = columns.tolist()
    numbers: dict[object, int] = {}
    blocks = [numbers.setdefault(label, len(numbers)) for label in labels.tolist()]
    count = len(numbers)
    while count < len(rows):
        numbers = {}
        spend(80 * columns.size)
        blocks = [
            numbers.setdefault((block, *map(blocks.__getitem__, row)), len(numbers))
            for block, row in zip(blocks, rows, strict=True)
        ]
        if len(numbers) == count:
            break
        count = len(numbers)
    return np.array(blocks, dtype=np.int64)


def equal_columns(columns: IntArray) -> Blocks:
    """A number for each column, equal for equal columns."""
    return split_by_rows(np.ascontiguousarray(columns.T), np.zeros(columns.shape[1], dtype=np.int64))[0]


def merged_classes(letters: LetterClasses, columns: IntArray) -> tuple[LetterClasses, IntArray]:
    """Equal columns as one, those without a letter dropped, and classes numbered by their first letter."""
    if isinstance(letters, ListedLetters):
        table = Table(letters.numbers, columns).merged()
        return ListedLetters(table.letter_class), table.columns
    function = letters.function(0)
    groups = equal_columns(columns).tolist()
    kept: dict[int, int] = {}
    for number in function.first_letters():
        kept.setdefault(groups[number], number)
    rank = {group: place for place, group in enumerate(kept)}
    numbers = np.array([rank.get(group, 0) for group in groups])
    return function.relabelled(numbers), np.ascontiguousarray(columns[:, list(kept.values())])
