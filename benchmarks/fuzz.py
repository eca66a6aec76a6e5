"""Mutated texts and files for every parser and loader: whatever they are, only our own errors come out, and soon.

    python -m benchmarks.fuzz --minutes 60 --out out/reliability

All targets get the same CPU time: parsers see a thousand inputs a second, whole runs some dozens. Seeds are what the
library writes itself. An input that raises anything outside the family of `nrm.errors`, or takes
more than 5 CPU seconds or 2 GB, is a finding: it is printed, counted, and kept in the folder.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import signal
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import nrm
from nrm.cli import _parsed
from nrm.cli.options import reward_from_text
from nrm.errors import NrmError
from nrm.files import read_json
from nrm.logic import LANGUAGES, read_formula
from nrm.machines import (
    TaskSet,
    TraceReader,
    load_machine,
    load_pool,
    load_task,
    machine_text,
    save_machine,
    save_pool,
    task_toml,
    with_rewards,
)
from nrm.neural import MlpGrounder, NeuralRewardMachine, load_episodes, load_model, record_episodes, save_model
from nrm.neural import save_episodes as write_episodes
from nrm.registry import Given, following
from nrm.results import read_record, read_records
from nrm.runs import RunConfig, RunFolder, choose_run, read_recipe, train
from nrm.samplers import sampler_of
from nrm.sweeps import load_grid

SECONDS, BYTES = 5, 2 << 30
"""What one input may cost."""
BATCH = 10
"""Inputs for a target between two looks at the clock."""
SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
RULE = "visit(pickaxe, lava) & global_avoidance(door)"
FORMULAS = {
    "ltlf": [RULE, "F(a & X(b U !c)) -> G(a | WX b)", "strictly_ordered_visit(a, b, c)", '"x y" W (a <-> b ^ c)'],
    "ldlf": ["<(a; !b)*; c>tt & [true*]ff", "<?a; b + c>end"],
    "ppltl": ["O(b & O a) & H !c", "Y Y a S b", "ordered_visit(a, b)"],
    "re": ["(!c)*; a; b{2,4}; .*", "~(a; b?) & (a | b)*", "a{20}{20}", "absence(a, 2); b*"],
}
ENVS = {
    "map": "F gem",
    "letter": "F a",
    "flat": "F blue",
    "robot": "F blue",
    "zones": "F blue",
    "office": "F a",
    "water": "F red",
    "minigrid:MiniGrid-DoorKey-5x5-v0": "F goal",
    "gym:CartPole-v1": "F a",
}
"""Environments whose configurations are attacked, and their tasks."""
TRACES = ["recording,symbol\nr,gem\nr,lava\nq,door\n", '{"recording": "r", "symbol": "gem"}\n', "gem, lava\ndoor\n"]
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1e308,
        1e-320,
        10**17,
        10**30,
        float("nan"),
        [],
        {},
        [[]],
        "",
        "\x1b[2J",
        "\u202egem",
        "\ud800",
    ),
    *("evilmod:NAME", "gym:x:Y", "file:/etc/passwd", "x" * 300, [1] * 50, {"a": {"a": {}}}, "nan", "1e999"),
)
PIECES = [
    b"(",
    b")",
    b"[" * 99,
    b"{200}",
    b"*",
    b"!",
    b"&",
    b";",
    b",",
    b'"',
    b"\n",
    b"\0",
    b"\xff\xfe",
    b"e999",
    b"-",
    b":",
]


class SlowError(BaseException):
    """An input that takes too long; no `except Exception` may hide it."""


class Target(NamedTuple):
    """What is attacked."""

    seeds: list[bytes]
    load: Callable[[Path], object]
    """Takes a file."""
    change: Callable[[bytes, random.Random], bytes]
    ending: str = ".txt"


def changed_text(data: bytes, chance: random.Random) -> bytes:
    """Some bytes flipped, cut, repeated, or with pieces in between."""
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + chance.choice((1, 4, 64)))
        part = data[at:to]
        other = (
            b"",
            part[::-1],
            part * chance.choice((2, 9, 120)),
            chance.choice(PIECES),
            bytes([chance.randrange(256)]),
        )
        data = data[:at] + chance.choice(other) + data[to:]
    return data[:60_000]


def changed_values(value: Any, chance: random.Random) -> Any:
    """A value of JSON, or of torch, with one part that is another."""
    if isinstance(value, dict) and value and chance.random() < 0.95:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: changed_values(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        return [*value[:place], changed_values(value[place], chance), *value[place + chance.choice((0, 1, 1, 1)) :]]
    if isinstance(value, torch.Tensor) and chance.random() < 0.5:
        other: torch.Tensor = chance.choice(
            (value.flatten()[:0], value.to(torch.complex64), value[None], value.bool(), -value.double())
        )
        return other
    if isinstance(value, str) and chance.random() < 0.5:
        return changed_text(value.encode(), chance).decode(errors="replace")
    return chance.choice(ODD)


def changed_json(data: bytes, chance: random.Random) -> bytes:
    """JSON with other values, or as text."""
    if chance.random() < 0.4:
        return changed_text(data, chance)
    return json.dumps(changed_values(json.loads(data), chance)).encode()


def changed_torch(data: bytes, chance: random.Random) -> bytes:
    """A torch file with other values, or with other bytes."""
    if chance.random() < 0.5:
        return changed_text(data, chance) if chance.random() < 0.5 else data[: chance.randrange(len(data))]
    content = changed_values(torch.load(io.BytesIO(data), weights_only=True), chance)
    whole = io.BytesIO()
    torch.save(content, whole)
    return whole.getvalue()


def changed_arrays(data: bytes, chance: random.Random) -> bytes:
    """An .npz with other bytes, or whose members have others."""
    if chance.random() < 0.3:
        return changed_text(data, chance)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    array = np.load(io.BytesIO(members[name]))
    others = (
        array.ravel()[:0],
        array.astype(np.float64) if array.dtype.kind in "iub" else array,
        array[None],
        np.array(["x"]),
    )
    if chance.random() < 0.5:
        changed = io.BytesIO()
        np.save(changed, chance.choice(others))
        members[name] = changed.getvalue()
    else:
        members[name] = changed_text(members[name], chance)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, content in members.items():
            archive.writestr(one, content)
    return whole.getvalue()


def in_run(run: Path, name: str) -> Callable[[Path], object]:
    """Reads a run in which one file is another, everything that reads it."""

    def load(path: Path) -> object:
        file, folder = run / name, RunFolder(run)
        before = file.read_bytes()
        file.write_bytes(path.read_bytes())
        try:
            for read in (lambda: read_record(run), folder.machines, folder.load_policy, folder.load):
                with suppress(NrmError):
                    read()
            read_records(run.parent)
        finally:
            file.write_bytes(before)
        return None

    return load


def run_of(folder: Path, method: str) -> Path:
    """A small run."""
    quick = {"grounding": {"every": 10, "epochs": 2, "restarts": 1}} if method == "nrm" else {}
    config = choose_run("F gem & G !lava", "map", method, total_episodes=12, num_envs=2, settings=quick)
    run = RunFolder(folder / method / "run")
    train(run, run.begin(config))
    return run.path


def written(path: Path, write: Callable[[Path], object]) -> list[bytes]:
    """What is in a file, once it has been written."""
    write(path)
    return [path.read_bytes()]


def targets(folder: Path) -> Mapping[str, Target]:
    """All that is attacked; `folder`: where seeds are made."""
    made: dict[str, Target] = {}
    for name, texts in FORMULAS.items():
        seeds = [text.encode() for text in texts]
        made[f"{name}, parsed"] = Target(seeds, partial(_read, name), changed_text)
        made[f"{name}, compiled"] = Target(seeds, partial(_compiled, name), changed_text)
    machine = nrm.compile(RULE, symbols=SYMBOLS)
    for form, ending, change in (
        ("json", ".json", changed_json),
        ("dot", ".dot", changed_text),
        ("hoa", ".hoa", changed_text),
        ("rm", ".txt", changed_text),
    ):
        text: Any = form
        made[f"machine, {form}"] = Target([machine_text(machine, text).encode()], load_machine, change, ending)
    wide = nrm.compile("visit(a, b)", propositions=[*"ab", *(f"p{number}" for number in range(14))])
    made["machine, diagram"] = Target([machine_text(wide, "json").encode()], load_machine, changed_json, ".json")
    task = nrm.Task(read_formula(RULE).formula, machine.alphabet)
    made["task file"] = Target([task_toml(task).encode()], load_task, changed_text, ".toml")
    grid = b'tasks = ["F gem", 1]\nenvs = ["map"]\nseeds = [0, 1]\n[settings.network]\nencoder = "paper"\n'
    made["sweep"] = Target([grid], load_grid, changed_text, ".toml")
    recipe = b'num_envs = 4\n[algorithm]\ngamma = 0.9\n[network]\nencoder = "auto"\n'
    made["recipe"] = Target([recipe], lambda path: read_recipe(str(path)), changed_text, ".toml")
    made["formulas"] = Target([b"F a\nG !b # no\n"], lambda path: sampler_of(f"file:{path}").formulas, changed_text)  # type: ignore[attr-defined]
    reader = machine.alphabet
    made["traces"] = Target(
        [text.encode() for text in TRACES],
        lambda path: list(TraceReader(reader, "log").read(_text(path).splitlines(keepends=True))),
        changed_text,
    )
    table = b"recording,x,y,verdict\nr,0.5,1,true\nr,1,2,\nq,3,4,false\n"
    made["recordings, csv"] = Target([table], load_episodes, changed_text, ".csv")
    episodes = record_episodes([np.eye(3), np.ones((2, 3))], [np.zeros(3), np.ones(2)], metadata={"by": "us"})
    made["recordings, npz"] = Target(
        written(folder / "seed.npz", lambda path: write_episodes(path, episodes)), load_episodes, changed_arrays, ".npz"
    )
    for name, many in (("tables", [machine, machine]), ("diagrams", [wide])):
        pool = TaskSet(tuple(many), tuple(map(str, range(len(many)))))
        seeds = written(folder / f"{name}.npz", partial(save_pool, pool=pool, origin={"seed": 1}))
        made[f"tasks, {name}"] = Target(seeds, load_pool, changed_arrays, ".npz")
    model = NeuralRewardMachine(MlpGrounder(2, len(SYMBOLS)), machine)
    seeds = written(folder / "model.pt", lambda path: save_model(path, model))
    made["model"] = Target(seeds, load_model, changed_torch, ".pt")
    for method in ("nrm", "automata-learning"):
        run = run_of(folder, method)
        for file in sorted(run.iterdir()):
            kinds = {".json": changed_json, ".pt": changed_torch}
            if file.is_file() and file.name != ".lock":
                change = kinds.get(file.suffix, changed_text)
                made[f"{method}, {file.name}"] = Target([file.read_bytes()], in_run(run, file.name), change)
    made["reward scheme"] = Target(
        [b"distance:failure=-10", b"value_iteration:gamma=0.5,failure=-1", b"terminal", b"0, 50, 100, -100"],
        lambda path: with_rewards(machine, reward_from_text(_text(path))),
        changed_text,
    )
    told = [text.encode() for text in TRACES]
    made["nrm monitor"] = Target(told, partial(_monitored, RULE), changed_text, ".log")
    save_machine(machine, folder / "machine.json")
    table = b"recording,x,y\nr,0.5,1\nr,1,2\nq,3,4\n"
    made["nrm monitor, a model"] = Target([table], partial(_monitored, str(folder / "model.pt")), changed_text, ".csv")
    for env, rule in ENVS.items():
        config = choose_run(rule, env, "rm")
        seed = json.dumps(config.to_json()).encode()
        made[f"settings, {env}"] = Target([seed], _built, changed_json, ".json")
    words = b"train\n--task\nF a\n--env\nmap\n--algorithm.gamma\n0.9\n--out\nx"
    made["command line"] = Target([words], lambda path: _parsed(_text(path).split("\n")), changed_text)
    return made


def _built(path: Path) -> object:
    """The trainer of a configuration."""
    return RunConfig.from_json(read_json(path)).build_trainer()


def _monitored(rule: str, path: Path) -> object:
    """What a log looks like to `nrm monitor`."""
    with redirect_stdout(io.StringIO()):
        return _parsed(["monitor", rule, str(path)]).run()


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


def _read(logic: str, path: Path) -> object:
    return LANGUAGES[logic].parse(_text(path)).brief()


def _compiled(logic: str, path: Path) -> object:
    return nrm.compile(f"{logic}: {_text(path)}", symbols=("a", "b", "c", *SYMBOLS))


def attack(name: str, target: Target, chance: random.Random, path: Path, found: Counter[str], out: Path) -> None:
    """One input for one target."""
    seed = chance.choice(target.seeds)
    data = target.change(seed, chance)
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        target.load(path)
        found["read"] += 1
    except NrmError:
        found["refused"] += 1
    except BaseException as error:
        kind = "slow" if isinstance(error, SlowError) else "foreign"
        if isinstance(error, KeyboardInterrupt):
            raise
        found[kind] += 1
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "/nrm/" in f.filename), frames[-1])
        said = f"{kind} · {name} · {type(error).__name__} · {Path(place.filename).name}:{place.lineno}"
        found[said] += 1
        if found[said] == 1:
            print(said, str(error)[:120].encode("ascii", "backslashreplace").decode(), flush=True)
            (out / f"{kind}-{len(found)}{target.ending}").write_bytes(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Attack in turns until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="CPU minutes")
    parser.add_argument("--inputs", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets whose names have this in them")
    parser.add_argument("--out", type=Path, default=Path("out/reliability"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    result = fuzz(asked.minutes, asked.inputs, asked.seed, asked.only, asked.out)
    (asked.out / "fuzz.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


def fuzz(minutes: float, inputs: int, seed: int, only: str, out: Path) -> dict[str, Any]:
    """Attack the targets in turns; what was found, by kind and place."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_slow)
    for ended in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ended, signal.default_int_handler)
    chance, found = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as made, following(Given()):
        every = {name: one for name, one in targets(Path(made)).items() if only in name}
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, most))
        began, spent, counts = time.process_time(), dict.fromkeys(every, 0.0), Counter[str]()
        with suppress(KeyboardInterrupt):  # what was found so far counts
            while counts.total() < inputs and sum(spent.values()) < 60 * minutes:
                name = min(spent, key=lambda one: spent[one])
                before = time.process_time()
                for _ in range(BATCH):
                    attack(name, every[name], chance, Path(made, f"input{every[name].ending}"), found, out)
                counts[name] += BATCH
                spent[name] += time.process_time() - before
        seconds = time.process_time() - began
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, most))
    findings = {said: times for said, times in found.items() if "·" in said}
    kinds = {kind: found[kind] for kind in ("read", "refused", "foreign", "slow")}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "inputs": counts.total(),
        "targets": len(every),
        **kinds,
        "CPU s": round(seconds),
        "peak kB": peak,
        "findings": findings,
        "by target": dict(counts),
    }


def _too_slow(*_: object) -> None:
    raise SlowError


if __name__ == "__main__":
    main()
