"""What rewards can teach about the symbols of a task, in words: for the command line and for reports."""

from __future__ import annotations

from collections.abc import Sequence

from nrm.errors import LimitError, listing
from nrm.groundability.analysis import Shortcuts
from nrm.groundability.counting import digits
from nrm.groundability.repair import PotentialRepair
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


def findings(found: Shortcuts, strings: str = "every string") -> list[str]:
    """What the shortcuts of a task amount to, on which strings."""
    size = found.alphabet.size
    letters = "symbols" if found.alphabet.is_exclusive else "combinations of propositions"
    if size == 1:
        return ["There is a single symbol, and nothing to confuse it with."]
    if found.teaches_nothing:
        return [f"The task treats all {amount(size)} {letters} alike, so its rewards teach nothing about them."]
    if found.alphabet.is_wide:
        return _in_classes(found)
    ways = f"Of the {amount(size**size)} ways to read the {amount(size)} {letters},"
    if found.groundable:
        true = f"only the true one earns the same rewards on {strings}: rewards alone can teach the meaning of each."
        return [f"{ways} {true}"]
    lines = [
        f"{ways} {amount(found.count)} earn the very same rewards on {strings}, the true one among them. No amount of "
        "training can tell these apart."
    ]
    if found.class_internal > 1:
        alike = [class_name(names) for names in found.classes if len(names) > 1]
        lines.append(
            f"{amount(found.class_internal)} of them confuse at most what the task treats alike, {listing(alike, 4)}: "
            "harmless for this task."
        )
    if found.symmetries > 1:
        swaps = [cycles(found, images) for images in found.group.generators]
        lines.append(
            f"{amount(found.by_symmetry)} are mirror images, by the {amount(found.symmetries)} symmetries that "
            f"{listing(swaps, 4)} generate: the same rewards with another meaning, which matters as soon as the "
            "symbols serve anything else."
        )
    if found.alphabet.is_free:
        lines.append(f"{amount(found.renamings.count)} of them rename propositions.")
    return lines


def _in_classes(found: Shortcuts) -> list[str]:
    """The same where letters are too many to list."""
    several = sum(size > 1 for size in found.class_sizes)
    lines = [
        f"The task tells {found.machine.classes} classes of the 2^{len(found.alphabet.symbols)} combinations of "
        f"propositions apart; {several} of these have several members, which it treats alike: harmless for this task."
    ]
    if found.symmetries > 1:
        lines.append(f"{amount(found.symmetries)} symmetries rename classes: the same rewards with another meaning.")
    return lines


def remedies(found: Shortcuts, potential: PotentialRepair | None) -> list[str]:
    """What to do about shortcuts, so that only the true reading is left. `potential`: where there is one to break."""
    if found.groundable or found.alphabet.size == 1:
        return []
    lines = []
    try:
        labels = found.labels_needed
        total = many(len(found.alphabet.symbols), "symbol")
        lines.append(f"Label {listing(labels)} ({len(labels):,} of {total}; no smaller set will do).")
    except LimitError:
        lines.append("Label some symbols; finding a smallest set takes too long here.")
    if potential is not None:
        left = potential.left
        rest = "no mirror image" if left.symmetries == 1 else f"{amount(left.symmetries)} symmetries"
        lines.append(
            f"Or pay by the reward scheme “{potential.scheme}”, which leaves {rest}, and {many(left.count, 'way')} to "
            "read the symbols."
        )
    lines.append("Or train one grounder on further tasks over the same symbols.")
    return lines
