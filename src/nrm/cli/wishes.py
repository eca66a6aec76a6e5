"""What a policy sees of its task, in words: what would help, set back or lose it now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nrm.errors import listing

if TYPE_CHECKING:
    from nrm.machines import MooreMachine

CLEAR = 0.5
"""From which a number of the view counts: under a belief it is an expectation."""


class Wish(NamedTuple):
    """A symbol, and what reading it would do to the task."""

    name: str
    kind: str
    """helps, sets back, loses, or nothing."""


def wishes(machine: MooreMachine, view: Sequence[float]) -> list[Wish]:
    """What each letter would do now, by the view (4 * letters + 1) of a task."""
    letters = machine.alphabet.size
    found = []
    for letter in range(letters):
        gain, lost = view[letter], view[letters + letter]
        kind = "loses" if lost >= CLEAR else "helps" if gain >= CLEAR else "sets back" if gain <= -CLEAR else ""
        found.append(Wish(machine.alphabet.letter_name(letter), kind))
    return found


def wish_line(found: Sequence[Wish]) -> str:
    """The same in a line: `now gem helps; lava loses`."""
    parts = []
    for kind, several in (("helps", "help"), ("sets back", "set back"), ("loses", "lose")):
        names = [wish.name for wish in found if wish.kind == kind]
        if names:
            parts.append(f"{listing(names)} {kind if len(names) == 1 else several}")
    return f"now {'; '.join(parts)}" if parts else "now nothing changes anything"
