"""What the page asks about runs: how they stand, and to begin, stop or continue one in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from nrm.agents import METHODS
from nrm.aliases import Json
from nrm.envs import ENVS, many_task_envs
from nrm.errors import ConfigError, FileError, NrmError, describe, shown, unknown
from nrm.files import make_folder
from nrm.logic import named_formula
from nrm.registry import received
from nrm.report import curves, method_data
from nrm.results import read_record
from nrm.runs import holder
from nrm.samplers import SAMPLERS
from nrm.studio.questions import MAX_RUNS, Begun, Home, Named
from nrm.studio.tasks import task_over
from nrm.studio.watching import run_at


def choices(home: Home, asked: Named) -> Json:  # noqa: ARG001
    """What a new run can be of: names of ours only, as a form lists them."""
    envs = [name for kind in ENVS.values() for name in kind.env_names if ":" not in name]
    return {"envs": envs, "many": many_task_envs(), "methods": list(METHODS.own), "samplers": list(SAMPLERS)}


def begin(home: Home, begun: Begun) -> None:
    """Train a new run."""
    command = _command(home, begun)
    if home.inside(begun.name).exists():
        raise FileError(f"there is a folder '{begun.name}' already; choose another name")
    _train(home, begun.name, command)


def resume(home: Home, asked: Named) -> None:
    """Go on with a run."""
    name = asked.name
    folder = run_at(home, name)
    if _trained_by(home, name) is not None:
        raise ConfigError(f"'{name}' is training already")
    folder.config()
    _train(home, name, ["train", f"--resume={folder.path}", *(["--trust"] if home.trust else [])])


def stop(home: Home, asked: Named) -> None:
    """Ask the process that trains a run to save and end, as Ctrl-C does."""
    process = _trained_by(home, asked.name)
    if process is None:
        raise ConfigError(f"nobody trains '{asked.name}' here")
    os.kill(process, signal.SIGINT)


_STARTED: dict[tuple[Home, str], subprocess.Popen[bytes]] = {}
"""Processes that were started here: they hold no folder yet while they begin."""


def _train(home: Home, name: str, command: Sequence[str]) -> None:
    """In a session of its own, so that the run goes on when the page's server ends."""
    make_folder(home.root)
    with open(_log(home, name), "wb") as log:
        _STARTED[home, name] = subprocess.Popen(
            [sys.executable, "-m", "nrm", *command],
            cwd=home.root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _trained_by(home: Home, name: str) -> int | None:
    """The process that trains a run: whoever holds its folder, or one that was started here and begins."""
    started = _STARTED.get((home, name))
    begun = started.pid if started is not None and started.poll() is None else None
    return holder(home.inside(name)) or begun


_LOG = ".studio-{}.log"


def _log(home: Home, name: str) -> Path:
    """What a run says that was started here: in the folder that the page shows."""
    return Path(home.root) / _LOG.format(name.replace(os.sep, "+"))


def _command(home: Home, begun: Begun) -> list[str]:
    """The words of the command, once each is seen to name nothing but what the form lists."""
    if not re.fullmatch(r"\w[\w.-]{0,79}", begun.name):
        raise ConfigError(f"a run's name is letters, digits, dots and dashes, not '{begun.name}'")
    known = choices(home, Named())
    for what, value, names in (
        ("environment", begun.env, known["envs"]),
        ("method", begun.method, known["methods"]),
        *([("task sampler", begun.tasks, known["samplers"])] if begun.tasks else []),
    ):
        if value not in names:
            raise ConfigError(unknown(what, value, names))
    if begun.tasks:
        about = [f"--tasks={begun.tasks}", f"--total-timesteps={begun.amount}"]
    else:
        task_over(begun.task, begun.logic, None)
        about = [f"--task={named_formula(begun.task, begun.logic)}", f"--total-episodes={begun.amount}"]
    out = home.inside(begun.name)
    return ["train", f"--env={begun.env}", f"--method={begun.method}", f"--seed={begun.seed}", *about, f"--out={out}"]


def listed(home: Home, asked: Named) -> list[Json]:  # noqa: ARG001
    """The runs of a folder, with their curves; and those that could not begin, with what they said."""
    begun = [name for where, name in _STARTED if where == home]
    names = dict.fromkeys([*islice(home.runs(), MAX_RUNS), *begun])
    return [_listed(home, name) for name in names]


def _listed(home: Home, name: str) -> Json:
    try:
        path = home.inside(name)
        said = {"name": name, "training": _trained_by(home, name) is not None, "said": _last_words(_log(home, name))}
    except (NrmError, OSError) as error:
        return {"name": name, "training": False, "said": "", "problem": shown(str(error))}
    files = [path / one for one in ("config.json", "metrics.csv", "grounding.csv")]
    try:
        stamps = tuple(file.stat().st_mtime_ns for file in files if file.exists())
        return {**said, **(_read(home, name, stamps) if (path / "config.json").exists() else {})}
    except Exception as error:  # a damaged run, or a module of the user's, costs its own line only
        return {**said, "problem": shown(describe(error).splitlines()[0])}


@lru_cache(maxsize=MAX_RUNS)
def _read(home: Home, name: str, stamps: tuple[int, ...]) -> Json:  # noqa: ARG001 - it is read again once files changed
    path = home.inside(name)
    config = run_at(home, name).config()
    about = {
        "env": config.env_title,
        "task": shown(config.about.words),
        "formula": shown(config.about.title),
        "many": config.about.zero_shot,
        "method": method_data(config.method),
        "amount": config.amount,
        "unit": config.unit,
        "reached": 0,
        "seed": config.seed,
    }
    if not (path / "metrics.csv").exists():
        return about
    with received(home.trust):
        record = read_record(path)
    if not len(record.returns):
        return about
    accuracy = record.last_accuracy("accuracy_modulo_shortcuts")
    last = {"return": record.last_return(), "success": float(record.metrics["success"][-100:].mean())}
    return {**about, **last, "reached": record.reached, "accuracy": accuracy, "curves": curves([record])}


def _last_words(log: Path, most: int = 2000) -> str:
    """The end of what a run has said."""
    try:
        with open(os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            text = file.read(most).decode(errors="replace")
    except OSError:
        return ""
    return shown("\n".join(text.strip().splitlines()[-4:]))
