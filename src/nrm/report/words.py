"""What a page says of a task: sentences, symbols and remedies."""

from __future__ import annotations

from itertools import islice

from nrm.aliases import Json
from nrm.errors import LimitError
from nrm.shortcuts import Shortcuts, breaking_potential, confusions, findings, remedies

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
    """The same if the analysis stopped at a limit."""
    return {"sentences": [f"The analysis stopped: {error}."], "symbols": [], "hidden": 0, "repair": []}
