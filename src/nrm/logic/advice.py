"""What the writer of a text that cannot be read may have meant: habits from other tools and from prose."""

from __future__ import annotations

import re

_FUTURE = {
    "eventually": "F",
    "finally": "F",
    "sometime": "F",
    "always": "G",
    "globally": "G",
    "next": "X",
    "weaknext": "WX",
    "until": "U",
    "release": "R",
    "releases": "R",
    "unless": "W",
}
_PAST = {"once": "O", "historically": "H", "since": "S", "yesterday": "Y", "previously": "Y", "before": "Y"}
_WORDS = {"ltlf": _FUTURE | _PAST, "ppltl": _PAST}
"""Operators spelt out, by language."""
_SIGNS = {"[]": "G", "□": "G", "<>": "F", "◇": "F", "()": "X", "○": "X", "◯": "X"}
"""Operators of other tools, and of books."""


def meant(logic: str, text: str, position: int) -> str:
    """What may have been meant where a text cannot be read on; nothing where that cannot be told."""
    before, here = text[:position].rstrip(), text[position:]
    if logic in ("ltlf", "ppltl"):
        return _meant_in_ltl(logic, before, here)
    if logic == "re":
        return _meant_in_expressions(before, here)
    if logic == "ldlf" and here.startswith("{"):
        return "paths have no numbers of times: write a step as often as it comes, a; a; a"
    if logic == "ldlf" and here.startswith("."):
        return "any step is written true"
    return _name(before, here)


def _meant_in_ltl(logic: str, before: str, here: str) -> str:
    for word in (_first_word(here), _last_word(before)):
        if operator := _WORDS[logic].get(word.lower()):
            return f"'{word}' is written {operator}"
    last = _last_word(before)
    if len(last) > 1 and set(last) <= set("XFGYOH"):
        return f"operators stand apart: {' '.join(last)}"
    for sign, operator in _SIGNS.items():
        if logic == "ltlf" and here.startswith(sign):
            return f"'{sign}' is written {operator}"
    if re.match(r"[\[{]\s*\d", here) and re.search(r"\b[FGXU]$", before):
        return "operators have no bounds: count steps with X, as in a | X a | X X a"
    if here.startswith("="):
        return "equality is written <->"
    if before.endswith(("U", "R", "W", "M", "S")) and _first_word(here):
        return f"{before[-1]} stands between two formulas, as in a {before[-1]} b"
    return _name(before, here)


def _meant_in_expressions(before: str, here: str) -> str:
    if here.startswith("["):
        return "one of several symbols is written (a | b), and none of them !(a | b)"
    if here.startswith(("^", "$")) or before.endswith("^"):
        return "the whole trace must match anyway, so there are no ^ and $; .* takes what may come before or after"
    if here.startswith(("ε", "\\")):
        return "steps are named by their symbols; p? says that p may be left out"
    follows = re.search(r"[\w\"\.\)\*\?\}]$", before)
    if follows and re.match(r"[\w\"\.\(]", here) and not re.search(r"\{[^}]*$", before):
        return "what follows comes behind ';', as in a; b"
    return _name(before, here)


def _name(before: str, here: str) -> str:
    if here.startswith("'"):
        return 'names that are no plain words go in double quotes: "empty-cell"'
    if re.match(r"-\w", here) and re.search(r"\w$", before):
        name = f"{_last_word(before)}-{_first_word(here[1:])}"
        return f'a name with a hyphen goes in double quotes: "{name}"'
    if here.startswith('"') and here.count('"') == 1:
        return "the quotes are not closed"
    return ""


def _first_word(text: str) -> str:
    found = re.match(r"[A-Za-z_]\w*", text)
    return found.group() if found else ""


def _last_word(text: str) -> str:
    found = re.search(r"[A-Za-z_]\w*$", text)
    return found.group() if found else ""
