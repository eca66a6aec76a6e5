"""The search for symmetries: which permutations of letter classes leave a machine as it is.

A symmetry h of a minimal machine fixes q0, keeps outputs, and permutes the columns: h∘delta_j = delta_{h(j)}∘h. Once
the image of a class is chosen, q0 and the classes chosen so far force h on every state that they reach, so a choice is
followed through the machine and mostly refuted, or completed, without another one. An isomorphism to another machine
is found in the same way: `target` is then the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy

import numpy as np

from nrm.aliases import IntArray
from nrm.errors import LimitError
from nrm.machines import MooreMachine


def refined_colours(
    columns: IntArray, states: Sequence[int], classes: Sequence[int], spend: Callable[[int], object]
) -> tuple[list[int], list[int]]:
    """The colours of states and classes, refined by their surroundings until nothing changes."""
    state_colours, class_colours = np.asarray(states), np.asarray(classes)
    kinds = (len(set(states)), len(set(classes)))
    while True:
        spend(columns.size)
        targets, many = state_colours[columns], max(columns.shape) + 1
        of_states = np.sort(class_colours * many + targets, axis=1)
        of_classes = np.sort(state_colours[:, None] * many + targets, axis=0).T
        state_colours = _ranks(np.column_stack([state_colours, of_states]))
        class_colours = _ranks(np.column_stack([class_colours, of_classes]))
        now = (int(state_colours.max()) + 1, int(class_colours.max()) + 1)
        if now == kinds:
            return state_colours.tolist(), class_colours.tolist()
        kinds = now


def _ranks(rows: IntArray) -> IntArray:
    """(rows,) the place of each row among the different ones, in their order."""
    ranks: IntArray = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return ranks


Permutation = tuple[int, ...]
"""The image of each class (or state)."""

Mark = tuple[int, int]
"""How many states were matched and how many classes assigned."""

DEFAULT_WORK = 400_000_000
"""Most transitions that one search looks at: about a minute."""


class SymmetrySearch:
    """The transition table of a minimal machine, prepared for following choices."""

    patience = 16
    """Refuted choices after which states are coloured by more than their outputs."""

    def __init__(
        self,
        machine: MooreMachine,
        work: int = DEFAULT_WORK,
        fixed: Sequence[int] | None = None,
        target: SymmetrySearch | None = None,
    ) -> None:
        """`fixed`: states that every symmetry leaves in place, from which all are reached; the initial one if none.

        `target`: the machine onto which this one is mapped, with as many states and classes, and equal outputs; itself
        if none.
        """
        self.rows: list[list[int]] = machine.columns.tolist()
        self.states, self.classes = machine.columns.shape
        self.fixed = (machine.initial,) if fixed is None else tuple(fixed)
        self.target = target or self
        self.state_colours: list[int] = machine.level_of_state.tolist()
        self.class_colours = [0] * self.classes
        self.columns = machine.columns
        self._work, self._left = work, [work]  # which narrower searches share
        self._refuted = 0

    def with_class_colours(self, class_colours: Sequence[int]) -> SymmetrySearch:
        """The same search, in which a class goes only to one of equal colour; it shares the budget."""
        other = copy(self)
        other.class_colours = list(class_colours)
        other.target = other if self.target is self else self.target
        return other

    def complete(self, choices: Iterable[tuple[int, int]]) -> Permutation | None:
        """A symmetry that maps class j to class k for each (j, k) in `choices`; None when there is none."""
        matching = _Matching(self)
        return self._extend(matching) if matching.assign(list(choices)) else None

    def contains(self, permutation: Sequence[int]) -> bool:
        """Whether a permutation of the classes is a symmetry."""
        matching = _Matching(self)
        return sorted(permutation) == list(range(self.classes)) and matching.assign(list(enumerate(permutation)))

    def states_of(self, permutation: Sequence[int]) -> Permutation:
        """The permutation of states that a symmetry, given by its classes, carries out."""
        matching = _Matching(self)
        if not matching.assign(list(enumerate(permutation))):
            raise ValueError(f"{tuple(permutation)} is no symmetry")
        return tuple(matching.forward)

    def base(self, fixed: Iterable[int] = ()) -> list[tuple[int, list[int]]]:
        """A base: classes that, kept in their places one after the other, leave the identity only.

        Each comes with the classes that it might be mapped to while `fixed` and the ones before it stay.
        """
        matching = _Matching(self)
        matching.assign([(number, number) for number in fixed])
        found: list[tuple[int, list[int]]] = []
        while True:
            alike = {number: left for left, _ in matching.groups() if len(left) > 1 for number in left}
            if not alike:
                return found
            base = min(alike)
            found.append((base, [number for number in alike[base] if number != base]))
            matching.assign([(base, base)])

    def spend(self, amount: int) -> None:
        """Count work; raise `LimitError` when the budget is used up."""
        self._left[0] -= amount
        if self._left[0] < 0:
            raise LimitError(
                f"the search for symmetries of a machine with {self.states} states and {self.classes} letter classes "
                f"stopped after {self._work:,} transitions; raise the limit (work=…) or analyse a smaller task"
            )

    def _extend(self, matching: _Matching) -> Permutation | None:
        """Choose images for the remaining classes, fewest possibilities first, and go back where that fails."""
        open_choices: list[tuple[Mark, int, Iterator[int]]] = []
        while True:
            groups = self._settled(matching)
            if groups is not None and not groups:
                return tuple(matching.images)
            if groups:
                left, right = min(groups, key=lambda pair: len(pair[0]))
                open_choices.append((matching.mark(), left[0], iter(right)))
            else:
                self._refute()
            while open_choices:
                mark, number, images = open_choices[-1]
                matching.undo(mark)
                if self._assign_one(matching, mark, number, images):
                    break
                open_choices.pop()
                self._refute()
            else:
                return None

    def _assign_one(self, matching: _Matching, mark: Mark, number: int, images: Iterator[int]) -> bool:
        """Map a class to the next of its possible images that does not contradict at once."""
        for image in images:
            if matching.assign([(number, image)]):
                return True
            matching.undo(mark)
        return False

    def _settled(self, matching: _Matching) -> list[tuple[list[int], list[int]]] | None:
        """Make every choice that is forced; the groups that remain open, or None at a contradiction."""
        while True:
            groups = matching.groups()
            if any(len(left) != len(right) for left, right in groups):
                return None
            forced = [(left[0], right[0]) for left, right in groups if len(left) == 1]
            if not forced:
                return groups
            if not matching.assign(forced):
                return None

    def _refute(self) -> None:
        self._refuted += 1
        if self._refuted == self.patience:
            for side in {self, self.target}:
                side.state_colours, side.class_colours = refined_colours(
                    side.columns, side.state_colours, side.class_colours, self.spend
                )


class _Matching:
    """A partial symmetry: pairs of states and pairs of classes, closed under each other."""

    def __init__(self, search: SymmetrySearch) -> None:
        self.search = search
        self.forward = [-1] * search.states
        self.backward = [-1] * search.states
        for state, image in zip(search.fixed, search.target.fixed, strict=True):
            self.forward[state], self.backward[image] = image, state
        self.matched = list(search.fixed)
        self.images = [-1] * search.classes
        self.assigned: list[tuple[int, int]] = []
        self.taken = [False] * search.classes

    def mark(self) -> Mark:
        return len(self.matched), len(self.assigned)

    def undo(self, mark: Mark) -> None:
        """Forget what was matched and assigned since `mark`."""
        states, classes = mark
        for state in self.matched[states:]:
            self.backward[self.forward[state]] = -1
            self.forward[state] = -1
        for number, image in self.assigned[classes:]:
            self.images[number] = -1
            self.taken[image] = False
        del self.matched[states:], self.assigned[classes:]

    def assign(self, choices: list[tuple[int, int]]) -> bool:
        """Map classes as chosen, and every state that this reaches; False (half done) when it contradicts itself."""
        colours, others = self.search.class_colours, self.search.target.class_colours
        for number, image in choices:
            if self.images[number] != image:
                if self.images[number] >= 0 or self.taken[image] or colours[number] != others[image]:
                    return False
                self.images[number] = image
                self.taken[image] = True
                self.assigned.append((number, image))
        old = len(self.matched)
        if not self._follow(self.matched[:old], choices):
            return False
        while old < len(self.matched):
            fresh = self.matched[old:]
            old = len(self.matched)
            if not self._follow(fresh, self.assigned):
                return False
        return True

    def _follow(self, states: list[int], classes: list[tuple[int, int]]) -> bool:
        """Match where classes lead from matched states; False when two pairs contradict each other."""
        self.search.spend(len(states) * len(classes))
        rows, colours = self.search.rows, self.search.state_colours
        twins, others = self.search.target.rows, self.search.target.state_colours
        forward, backward, matched = self.forward, self.backward, self.matched
        for state in states:
            row, twin = rows[state], twins[forward[state]]
            for number, image in classes:
                target, wanted = row[number], twin[image]
                present = forward[target]
                if present < 0:
                    if backward[wanted] >= 0 or colours[target] != others[wanted]:
                        return False
                    forward[target] = wanted
                    backward[wanted] = target
                    matched.append(target)
                elif present != wanted:
                    return False
        return True

    def groups(self) -> list[tuple[list[int], list[int]]]:
        """Unassigned classes and their possible images, by what they do to the matched states."""
        free = [number for number, image in enumerate(self.images) if image < 0]
        open_images = [number for number, taken in enumerate(self.taken) if not taken]
        self.search.spend(2 * len(self.matched) * len(free))
        twins = [self.forward[state] for state in self.matched]
        reached = [state if origin >= 0 else -1 for state, origin in enumerate(self.backward)]
        left = _signs(self.search, self.matched, free, self.forward)
        right = _signs(self.search.target, twins, open_images, reached)
        groups: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
        for number, sign in zip(free, left, strict=True):
            groups.setdefault(sign, ([], []))[0].append(number)
        for number, sign in zip(open_images, right, strict=True):
            groups.setdefault(sign, ([], []))[1].append(number)
        return list(groups.values())


def _signs(
    search: SymmetrySearch, states: list[int], classes: list[int], images: list[int]
) -> Iterable[tuple[int, ...]]:
    """What classes do to states: where they lead, by its image, or by its colour while it has none (-1)."""
    codes = [image if image >= 0 else -1 - colour for image, colour in zip(images, search.state_colours, strict=True)]
    led = [[codes[row[number]] for number in classes] for row in map(search.rows.__getitem__, states)]
    return zip([search.class_colours[number] for number in classes], *led, strict=True)
