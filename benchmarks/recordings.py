"""Event detectors from judged recordings: real data, a rule, and one verdict for each recording.

Sessions are put together from real steps of known classes: two-second windows of a smartwatch (BasicMotions), spoken
vowels (JapaneseVowels) and images of digits. A session has 3 to 12 steps and a verdict; half of them pass. Detectors
learn from verdicts alone, from the rewards of every step, or with all labels; an LSTM learns the verdicts alone.
Training and test sessions are made of different steps, of different recordings where these are known.

Data: the files that the package `aeon` ships, and scikit-learn's digits.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import nn

import nrm
from benchmarks.common import report
from benchmarks.results import Benchmark, Headline, Row, complete, show
from nrm.detectors import EventDetector
from nrm.machines import MooreMachine

SYMBOLS = "abcdefghij"
ONE_RULE = "F(a & F b) & G !c"
HARD_RULE = "F(a & F b) & G !c & G !d"
MIXED, EVEN = 0.5, 1e6
"""How sessions mix symbols: each has a few favourites (Dirichlet), or all are equally frequent."""


@dataclass(frozen=True)
class Config:
    """Learn event detectors from judged recordings."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    seeds: tuple[int, ...] = (100,)
    """Which seeds; settings were chosen on 100 to 104."""
    memory: int = 0
    """Measure the peak memory of learning from so many long recordings instead."""


class Steps(NamedTuple):
    """Single steps: features (n, …) and classes (n,)."""

    features: NDArray[np.float32]
    classes: NDArray[np.int64]


def read_ts(problem: str, part: str) -> tuple[list[NDArray[np.float64]], list[str]]:
    """The series (time, channels) and classes of a data set that `aeon` ships."""
    found = find_spec("aeon")
    if found is None or found.origin is None:
        raise SystemExit("the data sets are in the package aeon: pip install --no-deps aeon")
    path = Path(found.origin).parent / "datasets" / "data" / problem / f"{problem}_{part}.ts"
    lines = [line.split(":") for line in path.read_text().splitlines() if line and line[0] not in "#@"]
    series = [np.array([[float(value) for value in channel.split(",")] for channel in line[:-1]]).T for line in lines]
    return series, [line[-1] for line in lines]


def described(window: NDArray[np.float64]) -> NDArray[np.float64]:
    """Features of a window (time, channels): place, spread, change and extremes of each channel, on a log scale."""

    def log(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.sign(values) * np.log1p(2 * np.abs(values)))

    change = np.abs(np.diff(window, axis=0)).mean(0)
    spread = np.log(window.std(0) + 0.05), np.log(change + 0.05)
    return np.concatenate([log(window.mean(0)), *spread, log(window.min(0)), log(window.max(0))])


@cache
def whole(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Features and classes of all steps of a data set, and which recording each is of."""
    if name.startswith("digits"):
        from sklearn.datasets import load_digits  # type: ignore[import-untyped]

        data = load_digits()
        keep = data.target < int(name.split("-")[1])
        return data.data[keep].astype(np.float32), data.target[keep].astype(np.int64), np.arange(keep.sum())
    problem = {"motions": "BasicMotions", "vowels": "JapaneseVowels"}[name]
    parts = [read_ts(problem, part) for part in ("TRAIN", "TEST")]
    series, labels = [one for part in parts for one in part[0]], [one for part in parts for one in part[1]]
    classes = np.unique(labels, return_inverse=True)[1]
    cut = [one.reshape(5, 20, 6) if name == "motions" else one[None] for one in series]
    features = np.stack([described(window) for windows in cut for window in windows])
    counts = [len(windows) for windows in cut]
    return features.astype(np.float32), np.repeat(classes, counts), np.repeat(np.arange(len(cut)), counts)


def split(name: str, seed: int) -> tuple[Steps, Steps]:
    """Three quarters of the recordings to learn from, and the others for the test."""
    features, classes, recordings = whole(name)
    order = np.random.default_rng(seed).permutation(recordings.max() + 1)
    train = np.isin(recordings, order[: int(0.75 * len(order))])
    return Steps(features[train], classes[train]), Steps(features[~train], classes[~train])


class Sessions(NamedTuple):
    """Recordings, with their verdicts, rules and true symbols."""

    recordings: list[NDArray[np.float32]]
    verdicts: list[bool]
    tasks: list[int]
    letters: list[NDArray[np.int64]]


def sessions(
    machines: Sequence[MooreMachine], steps: Steps, count: int, mixing: float, generator: np.random.Generator
) -> Sessions:
    """As many sessions of each rule; half of them pass."""
    size = machines[0].alphabet.size
    of_class = [np.flatnonzero(steps.classes == number) for number in range(size)]
    made = Sessions([], [], [], [])
    for task, machine in enumerate(machines):
        wanted = {True: count // len(machines) // 2, False: count // len(machines) - count // len(machines) // 2}
        while any(wanted.values()):
            shares = generator.dirichlet(np.full(size, mixing))
            letters = generator.choice(size, size=generator.integers(3, 13), p=shares)
            verdict = machine.accepts([machine.alphabet.symbols[letter] for letter in letters])
            if not wanted[verdict]:
                continue
            wanted[verdict] -= 1
            rows = [generator.choice(of_class[letter]) for letter in letters]
            for values, value in zip(made, (steps.features[rows], verdict, task, letters), strict=True):
                values.append(value)  # type: ignore[attr-defined]
    return made


def chain(symbols: Iterable[str]) -> list[str]:
    """For each symbol the rule that it is followed by the next, and that the one after that is avoided."""
    names = list(symbols)
    following = zip(names, names[1:] + names[:1], names[2:] + names[:2], strict=True)
    return [f"F({first} & F {then}) & G !{avoided}" for first, then, avoided in following]


def run(data: str, rules: tuple[str, ...], count: int, method: str, mixing: float, seed: int) -> Row:
    """One detector, or one sequence classifier."""
    train, test = split(data, seed)
    symbols = list(SYMBOLS[: int(train.classes.max()) + 1])
    machines = [nrm.compile(rule, symbols, reward="acceptance") for rule in rules]
    generator = np.random.default_rng(seed)
    shown = sessions(machines, train, count, mixing, generator)
    later = sessions(machines, test, 400, mixing, generator)
    began = time.process_time()
    row: Row = {"data": data, "rules": len(rules), "recordings": count, "method": method, "seed": seed}
    row["case"] = "even" if mixing == EVEN else "mixed"
    if method == "lstm":
        return row | {
            "verdicts": classifier(shown, later, len(rules), seed),
            "cpu_seconds": time.process_time() - began,
        }
    detector, predicted = EventDetector(list(rules), symbols, seed=seed), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = len(detector.coverage(shown.recordings, shown.verdicts, tasks=shown.tasks).weak)
        learn(detector, machines, shown, method, generator)
    seconds = time.process_time() - began
    names = np.array(symbols)
    said = np.searchsorted(names, np.concatenate(detector.predict(later.recordings)))
    true = np.concatenate(later.letters)
    return row | {
        "accuracy": float((said == true).mean()),
        "accuracy_modulo": float((classes_of(machines)[said] == classes_of(machines)[true]).mean()),
        "verdicts": detector.score(later.recordings, later.verdicts, later.tasks),
        "restarts": len(detector.record_.attempts),
        "warned": predicted > 0,
        "cpu_seconds": seconds,
    }


def learn(
    detector: EventDetector,
    machines: Sequence[MooreMachine],
    shown: Sessions,
    method: str,
    generator: np.random.Generator,
) -> None:
    """Fit by verdicts, by verdicts of which a share is wrong, by the rewards of every step, or with all labels."""
    if method == "rewards":
        names = machines[0].alphabet.symbols
        paid = [
            machines[task].run([names[letter] for letter in letters]).rewards
            for task, letters in zip(shown.tasks, shown.letters, strict=True)
        ]
        detector.fit(shown.recordings, rewards=paid, tasks=shown.tasks)
        return
    verdicts, labels = shown.verdicts, None
    if method == "labels":
        labels = [[SYMBOLS[letter] for letter in letters] for letters in shown.letters]
    if method.startswith("wrong"):
        detector.set_params(verdict_noise=float(method.split("-")[1]))
        wrong = generator.random(len(verdicts)) < detector.verdict_noise
        verdicts = [bool(verdict != flipped) for verdict, flipped in zip(verdicts, wrong, strict=True)]
    detector.fit(shown.recordings, verdicts, tasks=shown.tasks, labels=labels)


def classes_of(machines: Sequence[MooreMachine]) -> NDArray[np.int64]:
    """(symbols,) symbols that all rules treat alike have one number."""
    columns = np.concatenate([machine.transitions for machine in machines])
    return np.unique(columns, axis=1, return_inverse=True)[1].ravel()


def classifier(shown: Sessions, later: Sessions, rules: int, seed: int) -> float:
    """The share of unseen verdicts that an LSTM gets right, which is given the number of the rule."""
    torch.manual_seed(seed)
    every = np.concatenate(shown.recordings)
    centre, spread = every.mean(0), every.std(0) + 1e-3 * every.std(0).max()

    def batch(some: Sessions, rows: NDArray[np.int64]) -> tuple[Any, torch.Tensor]:
        tasks = np.eye(rules, dtype=np.float32)
        steps = [(some.recordings[row] - centre) / spread for row in rows]
        given = [
            np.hstack([one, np.tile(tasks[some.tasks[row]], (len(one), 1))])
            for one, row in zip(steps, rows, strict=True)
        ]
        packed = nn.utils.rnn.pack_sequence([torch.from_numpy(one) for one in given], enforce_sorted=False)
        return packed, torch.tensor([float(some.verdicts[row]) for row in rows])

    lstm, last = nn.LSTM(every.shape[1] + rules, 64), nn.Linear(64, 1)
    optimizer = torch.optim.AdamW([*lstm.parameters(), *last.parameters()], lr=3e-3, weight_decay=0.1)
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(shown.verdicts))
    held_out, rest = order[: len(order) // 5], order[len(order) // 5 :]
    best, score = np.inf, 0.0
    for _ in range(40):
        for rows in np.array_split(generator.permutation(rest), -(-len(rest) // 64)):
            packed, verdicts = batch(shown, rows)
            logits = last(lstm(packed)[1][0][0])[:, 0]
            loss = nn.functional.binary_cross_entropy_with_logits(logits, verdicts)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            packed, verdicts = batch(shown, held_out)
            now = nn.functional.binary_cross_entropy_with_logits(last(lstm(packed)[1][0][0])[:, 0], verdicts)
            if float(now) < best:
                packed, verdicts = batch(later, np.arange(len(later.verdicts)))
                best, score = (
                    float(now),
                    float(((last(lstm(packed)[1][0][0])[:, 0] > 0) == (verdicts > 0.5)).float().mean()),
                )
    return score


FOUR_RULES = tuple(chain(SYMBOLS[:5])[:4])
SIZES = (25, 100, 400, 1000)
CASES: tuple[tuple[str, tuple[str, ...], int, str, float], ...] = (
    *(("motions", (ONE_RULE,), 600, method, MIXED) for method in ("verdicts", "rewards", "labels", "lstm")),
    *(("digits-5", FOUR_RULES, 2000, method, MIXED) for method in ("verdicts", "labels", "lstm")),
    ("digits-5", (HARD_RULE,), 1500, "verdicts", EVEN),
    *(("motions", (ONE_RULE,), 600, method, MIXED) for method in ("wrong-0.05", "wrong-0.1")),
    *(("motions", (ONE_RULE,), count, "verdicts", MIXED) for count in (25, 50, 100, 200, 400, 1000)),
    *(("motions", (ONE_RULE,), count, method, MIXED) for count in (25, 100) for method in ("rewards", "labels")),
    *(("digits-5", rules, count, "verdicts", MIXED) for rules in ((ONE_RULE,), FOUR_RULES) for count in SIZES),
    *(("digits-5", FOUR_RULES, count, method, MIXED) for count in SIZES[::2] for method in ("rewards", "labels")),
    ("digits-5", FOUR_RULES, 2000, "rewards", MIXED),
    ("digits-5", (HARD_RULE,), 1500, "labels", EVEN),
    ("vowels", tuple(chain(SYMBOLS[:9])), 1800, "verdicts", MIXED),
    ("vowels", tuple(chain(SYMBOLS[:9])), 1800, "labels", MIXED),
    ("digits-10", tuple(chain(SYMBOLS)), 2000, "verdicts", MIXED),
    ("digits-10", tuple(chain(SYMBOLS)), 2000, "labels", MIXED),
)


def jobs(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every case and seed."""
    return {
        f"{data} {len(rules)} {count} {method} {mixing:g} {seed}": (data, rules, count, method, mixing, seed)
        for data, rules, count, method, mixing in CASES
        for seed in seeds
    }


SCORES = ("accuracy", "accuracy_modulo", "verdicts", "warned", "restarts", "cpu_seconds")
COLUMNS = ("data", "rules", "recordings", "method", "case")
COMMAND = "python -m benchmarks.headline recordings"
BENCHMARKS = {"recordings": Benchmark(Headline("recordings", COMMAND, SCORES, COLUMNS, "data"), jobs, run)}


def peak_memory(count: int) -> tuple[object, ...]:
    """Recordings, GB at the peak of the whole process, and CPU seconds of one epoch on recordings of 1,000 steps."""
    generator = np.random.default_rng(0)
    places = 3 * np.eye(4, dtype=np.float32)

    def recording() -> NDArray[np.float32]:
        letters = generator.choice(4, size=1000, p=[0.001, 0.001, 0.0005, 0.9975])
        return np.asarray(places[letters] + generator.normal(0, 0.3, (1000, 4)), dtype=np.float32)

    recordings = [recording() for _ in range(count)]
    verdicts = [number % 2 == 0 for number in range(count)]
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        EventDetector(ONE_RULE, list("abcd"), restarts=1, epochs=1).fit(recordings, verdicts)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return count, round(kilobytes / 2**20, 2), round(time.process_time() - began, 1)


def main(config: Config) -> None:
    """Measure and print."""
    if config.memory:
        report("Memory", ("recordings", "GB", "CPU s"), [peak_memory(config.memory)], config.out, "recordings-memory")
        return
    show(complete(BENCHMARKS["recordings"].headline, jobs(config.seeds), run, folder=config.out), config.out)


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
