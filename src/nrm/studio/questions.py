"""What the page can ask: each question is a plain value, and a function of one of the workers answers it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nrm.errors import ConfigError, shorten
from nrm.logic import DEFAULT_LOGIC

MAX_RUNS = 300
"""Runs that are listed."""


@dataclass(frozen=True)
class Home:
    """The folder that the page shows, and nothing outside of it."""

    root: str
    trust: bool = False

    def runs(self) -> Iterator[str]:
        """The runs in the folder, up to four levels down, by their paths in it. Links to folders are not followed."""
        for place, folders, files in os.walk(self.root):
            below = os.path.relpath(place, self.root)
            folders[:] = sorted(name for name in folders if name[0] != ".") if below.count(os.sep) < 3 else []
            if {"config.json", "versions.json"} <= set(files):
                yield below

    def inside(self, name: str) -> Path:
        """A path in the folder."""
        path = (Path(self.root) / name).resolve()
        if not path.is_relative_to(Path(self.root).resolve()):
            raise ConfigError(f"'{shorten(name)}' is not in the folder that the page shows")
        return path


@dataclass(frozen=True)
class Typed:
    """A task as it was typed."""

    text: str
    """The formula, or the name of one of the paper's tasks."""
    logic: str = DEFAULT_LOGIC
    names: str = ""
    """What can hold; empty for the symbols of the formula."""
    one: bool = False
    """Whether exactly one of them holds at each step."""


@dataclass(frozen=True)
class Walk(Typed):
    """A task, and steps through its machine."""

    steps: tuple[tuple[str, ...], ...] = ()
    """What holds at each step."""


@dataclass(frozen=True)
class Named:
    """A run or an agent, by its name; empty for all."""

    name: str = ""


@dataclass(frozen=True)
class Watched:
    """An agent, and the formula that it is to satisfy."""

    agent: str
    text: str = ""
    """Of no account for an agent of one task."""
    logic: str = DEFAULT_LOGIC
    seed: int = 0
    """Of the layout and the episode."""
    greedy: bool = False


@dataclass(frozen=True)
class Begun:
    """A new run, as `nrm train` has its options."""

    name: str
    """Of its folder."""
    env: str
    method: str
    amount: int
    """Episodes of one task, or steps of many."""
    seed: int = 0
    task: str = ""
    logic: str = "ltlf"
    tasks: str = ""
    """The sampler of many tasks; empty for one task."""


class Question(NamedTuple):
    """What a question is, who answers it, and how."""

    kind: type[Any]
    worker: str
    function: str
    """`module:name`: the packages that need torch are loaded by the workers that need them."""


QUESTIONS = {
    name: Question(kind, worker, f"nrm.studio.{module}:{name}")
    for kind, worker, module, names in (
        (Typed, "compiling", "tasks", ("draw",)),
        (Typed, "explaining", "tasks", ("explain",)),
        (Walk, "compiling", "tasks", ("walk",)),
        (Named, "watching", "watching", ("agents", "formulas")),
        (Watched, "watching", "watching", ("episode", "success", "animation")),
        (Named, "running", "running", ("choices", "listed", "resume", "stop")),
        (Begun, "running", "running", ("begin",)),
    )
    for name in names
}
"""By their names."""
