"""Kills, at random moments and at file operations, and disks that are full: what is resumed ends as if nothing was.

    python -m benchmarks.faults --kills 200 --sweeps 10 --ray 4 --out out/reliability

Each subject is trained once without interruption. Then it is trained in processes that are killed (SIGKILL), some when
they are about to open, rename, truncate or remove their n-th file, others at a random moment, until one gets to the
end. Its metrics, learned machines and weights must have the same bytes. For a full disk, files may not grow beyond a
random size for a while (RLIMIT_FSIZE); where you are root, the folder also is a small tmpfs that fills up, or that is
read-only for a while. That must end as an error of ours, and what follows must end as above.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from nrm.agents import METHODS
from nrm.errors import EngineError, LockedError, NrmError
from nrm.files import remove_leftovers
from nrm.runs import RunConfig, RunFolder, choose_run, clear_beginnings, locked, train
from nrm.sweeps import Grid, LocalEngine, RayEngine, run_grid

COMPARED = ("metrics.csv", "grounding.csv", "decisions.csv", "machines.json", "policy.safetensors", "tasks.npz")
"""What must have the same bytes."""
OPERATIONS = ("open", "os.rename", "os.truncate", "os.remove", "os.mkdir", "os.rmdir")
"""Events of Python at which a process may be killed."""
BROKEN = 3
"""The exit status of a process that ends with an error of ours."""


class Subject(NamedTuple):
    """What is killed."""

    name: str
    work: Callable[[Path], object]
    """Goes on in a folder to the end."""


def in_folder(config: RunConfig) -> Callable[[Path], object]:
    """Trains a run, saving after each update."""

    def work(path: Path) -> object:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_beginnings(path.parent)
        folder = RunFolder(path)
        begun = None if folder.exists else folder.begin(config)
        with locked(folder.path), folder.undone_on_failure(begun is not None):
            remove_leftovers(folder.path)
            return train(folder, begun or folder.load(), seconds=0)

    return work


def subjects() -> list[Subject]:
    """All methods on one task, and some with many tasks and in other environments."""
    found = []
    for method in METHODS.own:
        if method not in ("frozen", "return", "naive", "independent-belief"):
            quick = {"grounding": {"every": 10, "epochs": 2, "restarts": 1}} if method == "nrm" else {}
            config = choose_run("F gem & G !lava", "map", method, total_episodes=40, num_envs=4, settings=quick)
            found.append(Subject(f"{method}, map", in_folder(config)))
    letter = {"env": {"size": 4, "letters": 4, "steps": 12}, "tasks": {"count": 8}}
    for method in ("rm", "nrm"):
        many = choose_run(None, "letter", method, tasks="reach", num_envs=4, total_timesteps=1200, settings=letter)
        found.append(Subject(f"{method}, letter, many tasks", in_folder(many)))
    cart = {"env": {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}}
    own = choose_run("F mail", "tests.envs.own:Corridor", "rm", num_envs=2, total_episodes=40, settings=cart)
    return [*found, Subject("rm, an own environment", in_folder(own))]


def sweep(engine: Callable[[], Any]) -> Callable[[Path], object]:
    """Trains a sweep of two runs, once the workers of a process that was killed have saved theirs and left."""
    grid = Grid(tasks=("F gem",), methods=("rm", "rnn"), total_episodes=60, num_envs=4)

    def work(path: Path) -> None:
        for _ in range(60):
            try:
                outcome = run_grid(grid, path, engine())
                break
            except LockedError:
                time.sleep(1)
        else:
            raise EngineError("the folder stays locked")
        if outcome.failed:
            raise EngineError(str(outcome.failed))

    return work


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """A folder that is a file system of its own, where the user may make one."""
    path.mkdir()
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", path], check=True)
    try:
        yield
    finally:
        if os.path.ismount(path):
            subprocess.run(["umount", "--lazy", path], check=True)


def on_a(state: str, path: Path, work: Callable[[], object]) -> int:
    """How a process ended while its disk was read-only, or had that much room."""
    remount = ["mount", "-o", f"remount,{state}", str(path)]
    for _ in range(100):  # busy as long as a process of the killed one still writes
        if subprocess.run(remount, check=False, capture_output=True).returncode == 0:
            break
        time.sleep(0.1)
    else:
        raise OSError(f"{' '.join(remount)} failed for ten seconds")
    try:
        return forked(work)
    finally:
        subprocess.run(["mount", "-o", "remount,rw,size=1g", path], check=True)


def results(path: Path) -> dict[str, bytes]:
    """The files below a folder whose bytes count."""
    return {str(one.relative_to(path)): one.read_bytes() for one in sorted(path.rglob("*")) if one.name in COMPARED}


def forked(work: Callable[[], object], seconds: float | None = None) -> int:
    """How a process ended that did some work: its exit status, negative if it was killed."""
    sys.stdout.flush()
    if not (child := os.fork()):
        try:
            work()
            os._exit(0)
        except NrmError:
            os._exit(BROKEN)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(operation: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work, in a process that is killed when it is about to do its n-th operation on files."""

    def killed() -> object:
        left = operation

        def count(event: str, _: object) -> None:
            nonlocal left
            if event in OPERATIONS:  # to be killed is an event, too
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        return work()

    return killed


def starved(size: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work, in a process none of whose files may grow beyond so many bytes."""

    def limited() -> object:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return work()

    return limited


def attacked(subject: Subject, kills: int, chance: random.Random, folder: Path) -> Counter[str]:
    """How often a subject was killed, refused, and ended with other bytes than it should."""
    found: Counter[str] = Counter()
    began = time.monotonic()
    if forked(lambda: subject.work(folder / "whole" / "run")) != 0:
        return Counter({"cannot go on": 1})
    seconds, wanted = time.monotonic() - began, results(folder / "whole" / "run")
    kinds = ("none", *KINDS[: None if os.geteuid() == 0 else -1])
    number = 0
    while found["kills"] < kills:
        number += 1
        with disk(home := folder / str(number)):
            work = partial(subject.work, home / "run")
            while found["kills"] < kills and (kind := chance.choice(kinds)) != "none":
                status = _struck(kind, chance, home, seconds, work)
                found["kills"] += status == -signal.SIGKILL
                found[f"{kind}s"] += kind in ("full disk", "read-only disk") and status == BROKEN
                found["foreign errors"] += status == 1
            found["cannot go on"] += forked(work) != 0
            found["other bytes"] += results(home / "run") != wanted
    return +found


KINDS = ("moment", "operation", "operation", "full disk", "read-only disk")
"""What may happen to a process."""


def _struck(kind: str, chance: random.Random, home: Path, seconds: float, work: Callable[[], object]) -> int:
    """How a process ended to which something happens."""
    if kind == "moment":
        return forked(work, chance.random() * seconds)
    if kind == "operation":
        return forked(killed_at(int(60 ** chance.uniform(0, 1.6)), work))
    if kind == "read-only disk":
        return on_a("ro", home, work)
    if chance.random() < 0.5 and os.path.ismount(home):
        used = sum(one.stat().st_blocks for one in home.rglob("*")) // 2 + 4
        return on_a(f"size={used + chance.choice((0, 4, 40, 400))}k", home, work)
    return forked(starved(chance.choice((0, 10, 1000, 50_000)), work))


def main() -> None:
    """Attack all subjects in turns, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="of runs, in all")
    parser.add_argument("--sweeps", type=int, default=0, help="kills of sweeps with local processes")
    parser.add_argument("--ray", type=int, default=0, help="kills of sweeps on Ray")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/reliability"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    every = subjects()
    plan = [(one, -(-asked.kills // len(every))) for one in every] if asked.kills else []
    plan += [(Subject("sweep, local", sweep(lambda: LocalEngine(1, seconds=0))), asked.sweeps)] if asked.sweeps else []
    plan += [(Subject("sweep, Ray", sweep(lambda: RayEngine(1, seconds=0))), asked.ray)] if asked.ray else []
    chance, table = random.Random(asked.seed), {}
    for subject, kills in plan:
        with tempfile.TemporaryDirectory() as made:
            table[subject.name] = dict(attacked(subject, kills, chance, Path(made)))
        print(subject.name, table[subject.name], flush=True)
        (asked.out / "faults.json").write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
