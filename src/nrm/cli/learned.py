"""What a run learned of its machine, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrm.aliases import Json
from nrm.errors import counted

if TYPE_CHECKING:
    from nrm.runs.learned_machines import LearnedMachines


def learned_lines(learned: LearnedMachines, episodes: int) -> list[str]:
    """Lines for the terminal; `episodes`: how many the run has had."""
    if not learned.versions:
        return [learned.warning()]
    last = learned.versions[-1]
    # Environments side by side end some episodes past the last one that counts.
    since = min(last.episode, episodes)
    lines = [f"machine: {counted(len(last.levels), 'state')} since episode {since}, {learned.certainty}"]
    lines += [_verdict(learned, episodes)] if last.right is not None else []
    lines += [f"it {learned.guess}"] if learned.guess else []
    return lines + [text for text in (learned.warning(), learned.note) if text]


def _verdict(learned: LearnedMachines, episodes: int) -> str:
    """Whether the last machine is right, in words, and from which episode on all were."""
    found = _found(learned, episodes)
    if found is None:
        return "it is not the task's"
    return f"it is the task's, as far as episodes can show; found at episode {found}"


def _found(learned: LearnedMachines, episodes: int) -> int | None:
    found = learned.found
    return None if found is None else min(found, episodes)


def learned_json(learned: LearnedMachines, episodes: int) -> Json:
    """The same for programs."""
    said: Json = {"explained": learned.explained, "warning": learned.warning(), "note": learned.note}
    if not learned.versions:
        return {"states": None, "since_episode": None, "right": None, "found_at_episode": None, "guess": "", **said}
    last = learned.versions[-1]
    since = min(last.episode, episodes)
    return {
        "states": len(last.levels),
        "since_episode": since,
        "right": last.right,
        "found_at_episode": _found(learned, episodes),
        "guess": learned.guess,
        **said,
    }
