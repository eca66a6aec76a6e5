"""What the page says of many tasks, and what was learned of a machine."""

from __future__ import annotations

from nrm.aliases import Json
from nrm.errors import LimitError, listing
from nrm.machines import TaskSet
from nrm.report.drawing import machine_data
from nrm.report.words import MAX_SYMBOLS, too_long
from nrm.results import Record
from nrm.runs import LearnedMachines, RunFolder
from nrm.shortcuts import task_set_shortcuts
from nrm.tracking import Version


def family_words(pool: TaskSet, family: str) -> Json:
    """The same of many tasks together."""
    sizes = [machine.states for machine in pool.machines]
    about = (
        f"Trained on {len(pool):,} {family}, one per episode. Their machines have {min(sizes)} to {max(sizes)} states."
    )
    try:
        found = task_set_shortcuts(pool)
    except LimitError as error:
        words = too_long(error)
        return {**words, "sentences": [about, *words["sentences"]]}
    others = {name: listing([one for one in names if one != name]) for names in found.confusable for name in names}
    verdict = (
        "Together, their rewards leave only the identity: symbols can be learned exactly, not only up to equivalence."
    )
    repair = []
    if not found.groundable:
        sets = "; ".join("{" + listing(names) + "}" for names in found.confusable)
        verdict = f"However long you train, their rewards cannot separate {sets}."
        repair = ["Train on more tasks, or on another distribution, in which one of them helps and the other does not."]
    names = [found.alphabet.letter_name(letter) for letter in range(min(found.alphabet.size, MAX_SYMBOLS))]
    return {
        "sentences": [about, verdict],
        "symbols": [
            {"name": name, "teachable": name not in others, "confusable": others.get(name, "")} for name in names
        ],
        "hidden": max(0, found.alphabet.size - MAX_SYMBOLS),
        "repair": repair,
    }


def learned_data(record: Record) -> Json | None:
    """What a run learned of its machine; None for methods that learn none."""
    found = RunFolder(record.path).machines()
    if found is None:
        return None
    versions = found.versions
    shown = versions if len(versions) <= 12 else (*versions[:6], *versions[-6:])
    return {
        "seed": record.seed,
        "guess": found.guess,
        "certainty": found.certainty,
        "note": found.note if found.versions else "",
        "warning": found.warning(),
        "hidden": len(versions) - len(shown),
        "versions": [_version_data(version, found) for version in shown],
    }


def _version_data(version: Version, found: LearnedMachines) -> Json:
    machine = version.machine()
    names = machine.alphabet.symbols
    letters: dict[int, list[str]] = {}
    for name, symbol in zip(found.letters, version.symbols, strict=False):
        letters.setdefault(symbol, []).append(name)
    # States in which nothing was ever read are ends of episodes: nothing is assumed there.
    met = [any(row) for row in version.seen]
    return {
        "episode": version.episode,
        "right": version.right,
        "machine": machine_data(machine),
        "symbols": [
            {"name": names[symbol], "letters": mine[:8], "more": max(0, len(mine) - 8)}
            for symbol, mine in sorted(letters.items())
        ],
        "seen": [
            [state, names[symbol], version.table[state][symbol], times]
            for state, row in enumerate(version.seen)
            for symbol, times in enumerate(row)
            if met[state]
        ],
        "refuted": _refuting_data(version, found),
    }


def _refuting_data(version: Version, found: LearnedMachines) -> Json | None:
    """The episode that refuted a version: its last 30 steps."""
    why = version.refuted_by
    if why is None:
        return None
    steps = [[found.letters[letter], level] for letter, level in zip(why.letters, why.levels, strict=True)]
    return {"steps": steps[-30:], "hidden": max(0, len(steps) - 30), "expected": why.expected, "shown": why.shown}
