"""What rewards can teach about the symbols of a task, in sentences."""

from __future__ import annotations

from itertools import islice

from nrm.aliases import Json
from nrm.errors import LimitError, listing
from nrm.groundability import Shortcuts, breaking_potential
from nrm.groundability.formatting import amount, class_name, confusions, cycles, many

MOST_SYMBOLS = 40
"""Symbols that get a row of their own."""


def shortcut_words(found: Shortcuts) -> Json:
    """Sentences about the task, a row for each symbol, and what to do about what rewards cannot teach."""
    try:
        return {
            "sentences": _sentences(found),
            "symbols": [
                {"name": verdict.symbol, "teachable": verdict.groundable, "confusable": confusions(verdict)}
                for verdict in islice(found.verdicts, MOST_SYMBOLS)
            ],
            "hidden": max(0, len(found.alphabet.symbols) - MOST_SYMBOLS),
            "repair": _repair(found),
        }
    except LimitError as error:
        return too_long(error)


def too_long(error: LimitError) -> Json:
    """The same where the analysis gave up."""
    return {"sentences": [f"The analysis gave up: {error}."], "symbols": [], "hidden": 0, "repair": []}


def _sentences(found: Shortcuts) -> list[str]:
    size = found.alphabet.size
    letters = "symbols" if found.alphabet.is_exclusive else "combinations of propositions"
    if size == 1:
        return ["There is a single symbol, and nothing to confuse it with."]
    if found.teaches_nothing:
        return [f"The task treats all {amount(size)} {letters} alike, so its rewards teach nothing about them."]
    if found.groundable:
        return [
            f"Of the {amount(size**size)} ways to read the {amount(size)} {letters}, only the true one earns the same "
            "rewards on every string: rewards alone can teach the meaning of each."
        ]
    lines = [
        f"Of the {amount(size**size)} ways to read the {amount(size)} {letters}, {amount(found.count)} earn the very "
        "same rewards on every string, the true one among them. No amount of training can tell these apart."
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
            f"{amount(found.by_symmetry)} are mirror images, by the symmetries that {listing(swaps, 4)} generate: the "
            "same rewards with another meaning, which matters as soon as the symbols serve anything else."
        )
    return lines


def _repair(found: Shortcuts) -> list[str]:
    if found.groundable or found.alphabet.size == 1:
        return []
    lines = []
    try:
        labels = found.labels_needed
        total = many(len(found.alphabet.symbols), "symbol")
        lines.append(f"Label {listing(labels)} ({len(labels):,} of {total}; no smaller set will do).")
    except LimitError:
        lines.append("Label some symbols; finding a smallest set takes too long here.")
    if found.symmetries > 1:
        repair = breaking_potential(found)
        rest = "no mirror image" if repair.left.symmetries == 1 else f"{amount(repair.left.symmetries)} symmetries"
        lines.append(
            f"Or pay by the reward scheme “{repair.scheme}”, which leaves {rest}, and "
            f"{many(repair.left.count, 'way')} to read the symbols."
        )
    lines.append("Or train one grounder on further tasks over the same symbols.")
    return lines
