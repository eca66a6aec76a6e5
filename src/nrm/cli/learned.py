"""What a run learned of its machine, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrm.aliases import Json

if TYPE_CHECKING:
    from nrm.runs.learned_machines import LearnedMachines

RIGHT = {True: "it is the task's, as far as episodes can show", False: "it is not the task's", None: ""}
"""Whether a machine is right, in words; nothing where nobody knows."""


def learned_lines(learned: LearnedMachines, episodes: int) -> list[str]:
    """Lines for the terminal; `episodes`: how many the run has had."""
    if not learned.versions:
        return [learned.warning()]
    last = learned.versions[-1]
    # Environments side by side end some episodes past the last one that counts.
    since = min(last.episode, episodes)
    lines = [f"machine: {len(last.levels)} states since episode {since}, {learned.certainty}"]
    lines += [RIGHT[last.right]] if last.right is not None else []
    lines += [f"it {learned.guess}"] if learned.guess else []
    return lines + [text for text in (learned.warning(), learned.note) if text]


def learned_json(learned: LearnedMachines, episodes: int) -> Json:
    """The same for programs."""
    said: Json = {"explained": learned.explained, "warning": learned.warning(), "note": learned.note}
    if not learned.versions:
        return {"states": None, "since_episode": None, "right": None, "guess": "", **said}
    last = learned.versions[-1]
    since = min(last.episode, episodes)
    return {"states": len(last.levels), "since_episode": since, "right": last.right, "guess": learned.guess, **said}
