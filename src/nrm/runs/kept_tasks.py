"""The tasks of a run, kept with it: drawn once, when it begins."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path

from nrm.agents import METHODS
from nrm.errors import ConfigError, FileError, NrmWarning
from nrm.machines import TaskSet, load_pool, save_pool
from nrm.runs.config import RunConfig
from nrm.shortcuts import task_set_shortcuts

TASKS_FILE = "tasks.npz"


def keep_tasks(folder: Path, config: RunConfig) -> None:
    """Write the tasks of a run into its folder, where it has many."""
    if config.pool is not None:
        save_pool(folder / TASKS_FILE, config.pool, config.origin)


def check_teaching(config: RunConfig) -> tuple[tuple[str, ...], ...]:
    """The sets of letters that the tasks of a run cannot teach it to tell apart, where it is to learn symbols.

    Raise where they teach nothing at all.
    """
    if config.pool is None or not METHODS[config.method].grounds:
        return ()
    found = task_set_shortcuts(config.pool)
    if len(found.confusable) == 1 and len(found.confusable[0]) == config.pool.alphabet.size:
        raise ConfigError(
            f"the tasks of the family {config.tasks} teach nothing: their rewards tell no two symbols apart; add tasks "
            "that do, or use a method that is told the symbols (--method rm)"
        )
    return found.confusable


def kept_tasks(folder: Path, config: RunConfig) -> TaskSet | None:
    """The tasks of a run from its folder. What is lost, damaged or drawn from something else is drawn anew, and said.

    A list of formulas that was changed since is no reason: the run goes on with the tasks that it was begun with.
    """
    if config.tasks is None:
        return None
    path = folder / TASKS_FILE
    try:
        pool, origin = load_pool(path)
        if origin == json.loads(json.dumps(config.origin)):  # tuples are lists there
            return pool
        what = f"{path} holds tasks that were drawn from other settings than those of the run"
    except FileError as error:
        what = str(error)
    warnings.warn(f"{what}; the tasks are drawn anew", NrmWarning, stacklevel=2)
    with suppress(FileError):  # a folder that nothing can be written into is still good to read
        keep_tasks(folder, config)
    return config.pool
