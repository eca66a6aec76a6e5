"""What to do about shortcuts besides labels: tasks to add, and a potential that breaks symmetries; and all in words.

The words are for the command line and for reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Literal

from nrm.errors import LimitError, NrmError, listing, shorten
from nrm.machines import MachineLike, MooreMachine, with_rewards
from nrm.shortcuts.analysis import Shortcuts, shortcuts
from nrm.shortcuts.symmetry_group import rough_numbers
from nrm.shortcuts.verdicts import SymbolVerdict

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


def amount(number: int | Decimal) -> str:
    """A whole number for people: with commas, or by its magnitude when it is long."""
    if number < 10**18:
        return f"{int(number):,}"
    known = Decimal(number)
    text, long = "".join(map(str, known.as_tuple().digits[:4])), known.adjusted()
    return f"{text[0]}.{text[1:]} × 10^{long:,} ({long + 1:,} digits)"


def many(number: int | Decimal, what: str, ending: str = "s") -> str:
    """`1 state`, `5 states`."""
    return f"{amount(number)} {what}{'' if number == 1 else ending}"


def cycles(found: Shortcuts, images: Sequence[int]) -> str:
    """A permutation of classes as cycles of their names: (a b)(c d)."""
    text = ""
    seen: set[int] = set()
    for start in range(len(images)):
        cycle = []
        point = start
        while point not in seen:
            seen.add(point)
            cycle.append(shorten(found.class_texts[point], 60))
            point = images[point]
        text += f"({' '.join(cycle)})" if len(cycle) > 1 else ""
    return text if len(text) <= 120 else f"{text[:118]}…)"


def confusions(verdict: SymbolVerdict) -> str:
    """What a symbol may be confused with, and why."""
    if not verdict.used:
        return "not used by the task"
    parts = []
    if verdict.within_class:
        parts.append(f"{listing(verdict.within_class)} (treated alike)")
    if verdict.by_symmetry:
        parts.append(f"{listing(verdict.by_symmetry)} (by symmetry)")
    if not parts and not verdict.groundable:
        parts.append("rewards do not show its truth in every combination")
    return "; ".join(parts)


def findings(found: Shortcuts) -> list[str]:
    """The shortcuts of a task in sentences."""
    size = found.alphabet.size
    letters = found.alphabet.letters_noun
    if size == 1:
        return ["There is a single symbol, and nothing to confuse it with."]
    if found.teaches_nothing:
        both = "both" if size == 2 else f"all {amount(size)}"
        return [f"The task treats {both} {letters} alike, so its rewards teach nothing about them."]
    with rough_numbers():
        every = Decimal(size) ** size
    ways = f"Of the {amount(every)} mappings of the {amount(size)} {letters},"
    if found.groundable:
        true = "only the identity earns the same rewards on every trace: rewards alone can teach the meaning of each."
        return [f"{ways} {true}"]
    lines = [
        f"{ways} {amount(found.rough.every)} earn the same rewards on every trace, the identity included. No amount "
        "of training can separate them."
    ]
    if found.rough.class_internal > 1:
        alike = [
            shorten(text, 60) for text, members in zip(found.class_texts, found.class_sizes, strict=True) if members > 1
        ]
        lines.append(
            f"{amount(found.rough.class_internal)} of them confuse only {letters} that the task treats alike, "
            f"{listing(alike, 4)}: harmless for this task{', which needs no remedy' if found.symmetries == 1 else ''}."
        )
    if found.symmetries > 1:
        swaps = [cycles(found, images) for images in found.group.generators]
        come = "comes" if found.rough.by_symmetry == 1 else "come"
        lines.append(
            f"{amount(found.rough.by_symmetry)} of them {come} from a symmetry of the task ({amount(found.symmetries)} "
            f"symmetries, generated by {listing(swaps, 4)}): the same rewards with another meaning, which matters as "
            f"soon as the {found.alphabet.noun}s are used for anything else."
        )
    lines += [
        "Only the identity is a renaming of propositions."
        if renaming == 1
        else f"{amount(renaming)} of them exchange whole propositions or leave all as they are."
        for renaming in found.further_counts.values()
    ]
    return lines


def remedies(found: Shortcuts, potential: PotentialRepair | None) -> list[str]:
    """What to do about shortcuts, so that only the identity is left. `potential`: if there are symmetries to break."""
    if found.groundable or found.alphabet.size == 1:
        return []
    lines = []
    try:
        labels = found.labels_needed
        total = many(len(found.alphabet.symbols), found.alphabet.noun)
        label = "For other tasks, label" if found.symmetries == 1 else "Label"
        lines.append(f"{label} {listing(labels)} ({len(labels):,} of {total}; no smaller set is enough).")
    except LimitError:
        lines.append("Label some symbols; finding a smallest set takes too long here.")
    if potential is not None:
        left = potential.left
        rest = "no symmetry" if left.symmetries == 1 else f"{amount(left.symmetries)} symmetries"
        ways = many(left.rough.every, "mapping")
        lines.append(f"Or use the reward scheme “{potential.scheme}”, which leaves {rest} and {ways}.")
    lines.append("Or train one grounder on more tasks over the same symbols.")
    return lines
