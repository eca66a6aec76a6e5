"""The machine of a run that learns it, for a page: every version, and the episode that refuted the one before."""

from __future__ import annotations

from nrm.aliases import Json
from nrm.report.drawing import machine_data
from nrm.results import Record
from nrm.runs import RunFolder
from nrm.runs.learned_machines import LearnedMachines
from nrm.tracking import Version

MAX_VERSIONS = 12
"""Versions that are shown: the first half of these, and the last."""
MAX_NAMES = 8
"""Letters of a symbol that are named."""
MAX_STEPS = 30
"""Steps of a refuting episode that are shown, the last ones."""


def learned_data(record: Record) -> Json | None:
    """What a run learned of its machine; None for methods that learn none."""
    found = RunFolder(record.path).machines()
    if found is None:
        return None
    half = MAX_VERSIONS // 2
    versions = found.versions
    shown = versions if len(versions) <= MAX_VERSIONS else (*versions[:half], *versions[-half:])
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
            {"name": names[symbol], "letters": mine[:MAX_NAMES], "more": max(0, len(mine) - MAX_NAMES)}
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
    why = version.refuted_by
    if why is None:
        return None
    steps = [[found.letters[letter], level] for letter, level in zip(why.letters, why.levels, strict=True)]
    return {
        "steps": steps[-MAX_STEPS:],
        "hidden": max(0, len(steps) - MAX_STEPS),
        "expected": why.expected,
        "shown": why.shown,
    }
