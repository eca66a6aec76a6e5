"""How numbers, classes and symmetries are put into words, for the command line and for reports."""

from __future__ import annotations

from collections.abc import Sequence

from nrm.errors import listing
from nrm.groundability.analysis import Shortcuts
from nrm.groundability.counting import digits
from nrm.groundability.verdicts import SymbolVerdict


def amount(number: int) -> str:
    """A whole number for people: with commas, or by its magnitude when it is long."""
    if number < 10**18:
        return f"{number:,}"
    text = digits(number)
    return f"{text[0]}.{text[1:4]} × 10^{len(text) - 1:,} ({len(text):,} digits)"


def many(number: int, what: str, ending: str = "s") -> str:
    """`1 state`, `5 states`."""
    return f"{amount(number)} {what}{'' if number == 1 else ending}"


def class_name(letters: Sequence[str]) -> str:
    """A class of letters: the letter itself, or `{a, b}`."""
    return letters[0] if len(letters) == 1 else "{" + listing(letters, 3) + "}"


def cycles(found: Shortcuts, images: Sequence[int]) -> str:
    """A permutation of classes as cycles of their names: (a b)(c d)."""
    text = ""
    seen: set[int] = set()
    for start in range(len(images)):
        cycle = []
        point = start
        while point not in seen:
            seen.add(point)
            cycle.append(class_name(found.classes[point]))
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
        parts.append("its truth is not told in every combination")
    return "; ".join(parts)
