"""What the rewards of many tasks together can teach about the letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nrm.automata import LetterClasses
from nrm.machines import Alphabet, MooreMachine, TaskSet
from nrm.shortcuts.counting import DEFAULT_TERMS, sum_over
from nrm.shortcuts.reduction import check_alphabets, reduced
from nrm.shortcuts.symmetry.group import SymmetryGroup, symmetry_group
from nrm.shortcuts.symmetry.search import DEFAULT_WORK, SymmetrySearch


@dataclass(frozen=True)
class TaskSetShortcuts:
    """The maps of letters that change no reward of any task of a pool.

    The machines stand side by side and not in each other's product (`nrm.shortcuts` of few tasks), so that thousands
    of tasks take time in proportion. A symmetry of all tasks leaves every beginning in place.
    """

    alphabet: Alphabet
    tasks: int
    """How many tasks were looked at: further ones cannot change the verdict once only the identity is left."""
    class_sizes: tuple[int, ...]
    """How many letters each class has: letters that every task treats alike."""
    group: SymmetryGroup
    """The symmetries, as permutations of the classes."""
    letters: LetterClasses = field(repr=False, compare=False)
    """From letters to classes."""

    @cached_property
    def count(self) -> int:
        """How many maps there are, the identity included."""
        return sum_over(self.group, self.class_sizes, self.class_sizes, DEFAULT_TERMS)

    @cached_property
    def confusable(self) -> tuple[tuple[str, ...], ...]:
        """The sets of letters, two at least, that these rewards can teach no one to tell apart."""
        sets: dict[int, list[str]] = {}
        for letter, number in enumerate(self.letters.listed().tolist()):
            sets.setdefault(self.group.orbit_of[number][0], []).append(self.alphabet.letter_name(letter))
        return tuple(tuple(names) for names in sets.values() if len(names) > 1)

    @property
    def groundable(self) -> bool:
        """Whether the tasks together can teach the meaning of every letter."""
        return self.group.order == 1 and max(self.class_sizes) == 1


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
    check_alphabets(machines)
    least = [reduced(machine) for machine in machines]
    pool = TaskSet(tuple(least), tuple(map(str, range(len(least)))))
    union = pool.union
    # A state looks like the states of its own task with its own potential, and like no others.
    looks = pool.task_of_state.astype(np.int64) * len(union.levels) + union.level_of_state
    coded = union.with_outputs(np.unique(looks, return_inverse=True)[1])
    group = symmetry_group(SymmetrySearch(coded, work=work, fixed=pool.initial.tolist()))
    return TaskSetShortcuts(pool.alphabet, len(machines), union.class_sizes, group, union.letters)
