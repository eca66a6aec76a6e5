"""Small run folders, and ways to break them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from nrm.agents import METHODS
from nrm.envs import MINECRAFT_SYMBOLS
from nrm.logic import parse
from nrm.machines import Alphabet, Task
from nrm.runs import RunFolder, choose_run, train

torch.set_num_threads(1)
GROUNDING = {"every": 20, "epochs": 5, "restarts": 1}


def run(
    path: Path,
    method: str = "nrm",
    seed: int = 0,
    *,
    name: str = "visits",
    formula: str = "F pickaxe & F lava",
    env: str = "map",
    episodes: int = 40,
    settings: dict[str, dict[str, Any]] | None = None,
    stop_after: int | None = None,
    variant: str = "",
) -> Path:
    """A small run folder; with `stop_after` it is left unfinished after so many updates."""
    task = Task(parse(formula), Alphabet.exclusive(MINECRAFT_SYMBOLS), name=name)
    grounding = {"grounding": GROUNDING} if METHODS[method].section == "grounding" else {}
    changes = {**grounding, **(settings or {})}
    config = choose_run(task, env, method, seed, total_episodes=episodes, num_envs=4, settings=changes)
    folder = RunFolder(path)
    folder.begin(config, {"cell.json": json.dumps({"variant": variant})} if variant else None)
    updates = iter(range(10**6))
    train(folder, config.build_trainer(), interrupted=lambda: stop_after is not None and next(updates) >= stop_after)
    return path


LETTERS: dict[str, Any] = {"size": 3, "letters": 3, "steps": 15}
"""A small LetterWorld."""


def many_run(
    path: Path,
    method: str = "nrm",
    seed: int = 0,
    *,
    family: str = "reach",
    steps: int = 1600,
    count: int = 6,
    stop_after: int | None = None,
    settings: dict[str, dict[str, Any]] | None = None,
) -> Path:
    """A small run folder of an agent of many tasks."""
    sections: dict[str, dict[str, Any]] = {
        "env": LETTERS,
        "tasks": {"count": count},
        "algorithm": {"minibatch_size": 128, "update_epochs": 2},
        **(settings or {}),
    }
    config = choose_run(
        None, "letter", method, seed, tasks=family, total_timesteps=steps, num_envs=16, settings=sections
    )
    folder = RunFolder(path)
    folder.begin(config)
    updates = iter(range(10**6))
    train(folder, folder.load(), interrupted=lambda: stop_after is not None and next(updates) >= stop_after)
    return path


def configure(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a run's config.json by hand."""
    data = json.loads((path / "config.json").read_text())
    change(data)
    (path / "config.json").write_text(json.dumps(data))


def configured(**values: str) -> Callable[[Path], None]:
    """What puts other values into config.json."""
    return lambda path: configure(path, lambda data: data.update(values))


def written(name: str, text: str) -> Callable[[Path], object]:
    """What overwrites a file of a run."""
    return lambda path: (path / name).write_text(text)


def replace_last_return(path: Path, text: str) -> None:
    """Write another return of the last episode."""
    *lines, last = (path / "metrics.csv").read_text().splitlines()
    number, steps, _, *rest = last.split(",")
    (path / "metrics.csv").write_text("\n".join([*lines, ",".join([number, steps, text, *rest])]) + "\n")


LEVELS = 'formula = "F a"\nsymbols = ["a", "b"]\nlevels = [1, 2, 3]'
BREAKAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "misspelt key": (configured(sead="1"), "'sead' … 'seed'"),
    "misspelt setting": (
        lambda path: configure(path, lambda data: data["settings"]["algorithm"].update(gea=1)),
        "'algorithm.gea'",
    ),
    "no object": (written("config.json", "[]"), "JSON"),
    "no JSON": (written("config.json", "{"), "JSON"),
    "algorithm gone": (configured(algorithm="nowhere:ALGORITHM"), "'nowhere:ALGORITHM'"),
    "broken task": (configured(task='formula = "F ("'), "task"),
    "broken potentials": (configured(task=LEVELS), "3 … potentials … 2 states"),
    "wrong column": (written("metrics.csv", "episode,gain\n1,2\n"), "episode,gain"),
    "no number": (lambda path: replace_last_return(path, "many"), "damaged"),
    "not a number": (lambda path: replace_last_return(path, "nan"), "nan … return"),
    "cell": (written("cell.json", "{"), "cell.json"),
}
"""What can be wrong with a run's folder: how to do it, and what is said of it."""


def lose_method(path: Path) -> None:
    """Name a method whose module is not there, with settings of its own."""
    configure(path, lambda data: data.update(method="nowhere:METHOD"))
    configure(path, lambda data: data["settings"].update(own={"depth": 3}))
