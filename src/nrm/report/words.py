"""What rewards can teach, in words: of one task, and of many together; and why a method shows no more of its memory."""

from __future__ import annotations

from itertools import islice

from nrm.agents import Method
from nrm.aliases import Json
from nrm.errors import LimitError, listing
from nrm.machines import TaskSet
from nrm.shortcuts import (
    Shortcuts,
    TaskSetShortcuts,
    breaking_potential,
    confusions,
    findings,
    remedies,
    task_set_shortcuts,
)

MAX_SYMBOLS = 40
"""Symbols that get a row of their own."""


def shortcut_words(found: Shortcuts) -> Json:
    """Sentences about the task, a row for each symbol, and what to do about what rewards cannot teach."""
    try:
        return {
            "sentences": findings(found),
            "symbols": [
                {"name": verdict.symbol, "teachable": verdict.groundable, "confusable": confusions(verdict)}
                for verdict in islice(found.verdicts, MAX_SYMBOLS)
            ],
            "hidden": max(0, len(found.alphabet.symbols) - MAX_SYMBOLS),
            "repair": remedies(found, breaking_potential(found) if found.symmetries > 1 else None),
        }
    except LimitError as error:
        return too_long(error)


def too_long(error: LimitError) -> Json:
    """The same where the analysis gave up."""
    return {"sentences": [f"The analysis gave up: {error}."], "symbols": [], "hidden": 0, "repair": []}


def family_words(pool: TaskSet, family: str) -> Json:
    """The same of many tasks together."""
    sizes = [machine.states for machine in pool.machines]
    told = (
        f"Trained on {len(pool):,} tasks of the family {family}, another with every episode. Their machines have "
        f"{min(sizes)} to {max(sizes)} states."
    )
    try:
        found = task_set_shortcuts(pool)
    except LimitError as error:
        words = too_long(error)
        return {**words, "sentences": [told, *words["sentences"]]}
    others = {name: listing([one for one in names if one != name]) for names in found.confusable for name in names}
    names = [found.alphabet.letter_name(letter) for letter in range(min(found.alphabet.size, MAX_SYMBOLS))]
    return {
        "sentences": [told, _verdict(found)],
        "symbols": [
            {"name": name, "teachable": name not in others, "confusable": others.get(name, "")} for name in names
        ],
        "hidden": max(0, found.alphabet.size - MAX_SYMBOLS),
        "repair": []
        if found.groundable
        else ["Train on further tasks, or on another family, in which one of them helps and the other does not."],
    }


def _verdict(found: TaskSetShortcuts) -> str:
    if found.groundable:
        return (
            "Their rewards together leave one reading of the symbols, the true one: symbols can be learned plainly, "
            "and not just modulo shortcuts."
        )
    sets = "; ".join("{" + listing(names) + "}" for names in found.confusable)
    return f"However long one trains, their rewards cannot tell apart: {sets}."


def unread_words(method: Method) -> str:
    """Why a method predicts no symbols of the task, as the end of a sentence about it."""
    return "learns symbols of its own, which have no names" if method.unknown == "both" else method.knows


def unbelieved_words(method: Method) -> str:
    """Why no belief over the states of the task's machine can be read in a method's memory, in the same way."""
    infers = method.unknown in ("machine", "both")
    return "remembers the state of the machine that it learns itself" if infers else method.knows
