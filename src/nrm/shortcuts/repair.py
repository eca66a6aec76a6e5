"""What to do about shortcuts, besides labels: tasks to add, and a potential that breaks symmetries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from nrm.errors import LimitError, NrmError
from nrm.machines import MachineLike, MooreMachine, with_rewards
from nrm.shortcuts.analysis import Shortcuts, shortcuts

Goal = Literal["identity", "class"]


@dataclass(frozen=True)
class TaskChoice:
    """Candidate tasks that, added to what there is, leave no unwanted shortcut."""

    places: tuple[int, ...]
    """The places of the tasks in the list of candidates, from 0."""
    left: Shortcuts = field(repr=False)
    """What all tasks together leave."""


def tasks_to_add(found: Shortcuts, candidates: Sequence[MachineLike], until: Goal = "identity") -> Iterator[TaskChoice]:
    """Which of the candidate tasks to add so that only the identity is left, smallest sets first.

    `until="class"` also accepts what confuses letters that all tasks treat alike. Yields every set that works and
    contains no smaller one that does: nothing, when even all candidates together are not enough.
    """
    if until not in ("identity", "class"):
        raise NrmError(f"until is 'identity' or 'class', not '{until}'")

    def with_tasks(places: Sequence[int]) -> Shortcuts:
        return shortcuts([*found.machines, *(candidates[place] for place in places)], work=found.work)

    def good(left: Shortcuts) -> bool:
        return left.groundable if until == "identity" else left.symmetries == 1

    if not good(with_tasks(range(len(candidates)))):
        return
    working: list[frozenset[int]] = []
    tried, most = 0, 20_000
    for size in range(len(candidates) + 1):
        for places in combinations(range(len(candidates)), size):
            if any(smaller.issubset(places) for smaller in working):
                continue
            tried += 1
            if tried > most:
                raise LimitError(
                    f"{most:,} sets of the {len(candidates)} candidate tasks were analysed, and larger ones "
                    "remain; take the sets found so far, or give fewer candidates"
                )
            left = with_tasks(places)
            if good(left):
                working.append(frozenset(places))
                yield TaskChoice(places, left)


@dataclass(frozen=True)
class PotentialRepair:
    """What becomes of the shortcuts when states on the way to success get potentials of their own."""

    scheme: str
    """The reward scheme by name, for wherever a scheme can be given: `nrm.compile(…, reward=…)`."""
    machines: tuple[MooreMachine, ...]
    """The tasks with that scheme."""
    left: Shortcuts = field(repr=False)
    """The shortcuts that no potential removes which pays the same for every success and every failure.

    Class-internal ones, since a potential is a function of the state; and symmetries that only swap accepting states.
    """

    @property
    def removes_every_symmetry(self) -> bool:
        """Whether only class-internal shortcuts are left."""
        return self.left.symmetries == 1


def breaking_potential(found: Shortcuts) -> PotentialRepair:
    """A potential that tells apart the states which symmetries swap, and keeps what success and failure are worth."""
    machines = tuple(with_rewards(machine, "distinct") for machine in found.machines)
    return PotentialRepair("distinct", machines, shortcuts(machines, work=found.work, terms=found.terms))
