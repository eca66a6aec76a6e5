"""Counting reasoning shortcuts: the closed form beside Algorithm 1 and the brute force, in one run; and how it grows.

Algorithm 1 is timed twice: as printed (the machine reads each string from its start), and tuned by us (pairs of states
are carried along, and no string is read twice).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import factorial
from pathlib import Path
from typing import Any

import tyro

import nrm
from benchmarks.common import report, timed
from benchmarks.references import algorithm_1, brute_force, brute_force_formulas
from benchmarks.results import Benchmark, Headline, Row, complete
from nrm.machines import MooreMachine
from nrm.shortcuts import digits

METHODS = ("closed form", "Algorithm 1", "tuned", "brute force")


@dataclass(frozen=True)
class Config:
    """Compare ways to count shortcuts."""

    out: Path = Path("out/bench")
    """Where the tables and the picture go."""


def closed_form(machine: MooreMachine) -> int:
    """The whole analysis, from the machine to the number."""
    return nrm.shortcuts(machine).count


def tuned_algorithm_1(machine: MooreMachine) -> int:
    """Algorithm 1 with each string replaced by the pair of states that it and its image reach."""
    table, outputs, absorbing = machine.transitions.tolist(), machine.outputs.tolist(), machine.absorbing.tolist()
    letters = range(machine.alphabet.size)
    alive = 0
    for mapping in product(letters, repeat=len(letters)):
        data = [(table[machine.initial][p], table[machine.initial][mapping[p]]) for p in letters]
        while data and all(outputs[here] == outputs[there] for here, there in data):
            data = [
                (table[here][p], table[there][mapping[p]])
                for here, there in data
                if not (absorbing[here] and absorbing[there])
                for p in letters
                if table[here][p] != here or table[there][mapping[p]] != there
            ]
        alive += not data
    return alive


def task_row(number: int, repeat: int) -> Row:
    """One of the paper's tasks at five symbols: milliseconds of each method, and how many times the closed form's.

    The brute force over formulas, the paper's, is timed in the first repeat alone.
    """
    task = nrm.logic.paper_task(number)
    machine = nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS)
    ways: dict[str, tuple[Callable[[], int], int]] = {
        "closed form": (partial(closed_form, machine), 500),
        "Algorithm 1": (lambda: len(algorithm_1(machine).maps), 20),
        "tuned": (partial(tuned_algorithm_1, machine), 3),
        "brute force": (lambda: sum(1 for _ in brute_force(machine)), 20),
    }
    if not repeat:
        formulas = partial(brute_force_formulas, task.formula(), nrm.logic.PAPER_SYMBOLS)
        ways["brute force over formulas"] = lambda: sum(same for _, same in formulas()), 1
    times = {}
    for method, (way, most_runs) in ways.items():
        count, seconds = timed(way, most_runs=most_runs)
        times[method] = 1e3 * seconds
        if count != task.shortcuts:
            raise SystemExit(f"task {task.number}: {method} counts {count}")
    ratios = {f"{method}, ratio": time / times["closed form"] for method, time in times.items()}
    return {"kind": "paper", "task": number, "repeat": repeat, "count": task.shortcuts, **times, **ratios}


def visits(places: int, symbols: int) -> MooreMachine:
    """The task of visiting some of the symbols in any order."""
    names = [f"s{number}" for number in range(symbols)]
    return nrm.compile(" & ".join(f"F {name}" for name in names[:places]), names)


def growth_row(by: str, places: int, symbols: int) -> Row:
    """One point of the curves: the time to analyse, the machine being given."""
    machine = visits(places, symbols)
    count, seconds = timed(partial(closed_form, machine))
    if count != factorial(places) * (symbols - places) ** (symbols - places):
        raise SystemExit(f"visit({places}) over {symbols} symbols: wrong count {digits(count)}")
    found = nrm.shortcuts(machine)
    size: Row = {"states": machine.states, "symmetries": found.symmetries, "digits": len(digits(count))}
    return {
        "kind": "growth",
        "task": f"{places} of {symbols} symbols",
        "growth": by,
        "places": places,
        "symbols": symbols,
        **size,
        "closed form": 1e3 * seconds,
    }


GROWTH = {
    "symbols": [(2, symbols) for symbols in (5, 10, 30, 100, 300, 1000)],
    "states": [(places, places + 1) for places in (2, 4, 6, 8, 10, 12)],
    "symmetries": [(places, 12) for places in range(2, 11)],
}
"""Places to visit and symbols of each point of the curves."""


def run(kind: str, *given: Any) -> Row:
    """One row."""
    return task_row(*given) if kind == "task" else growth_row(*given)


def jobs(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """The paper's tasks, as often as there are seeds, and the curves."""
    tasks = {
        f"task {number} {repeat}": ("task", number, repeat) for repeat in range(len(seeds)) for number in range(1, 9)
    }
    return tasks | {f"{by} {at}": ("growth", by, *at) for by, points in GROWTH.items() for at in points}


SCORES = tuple(f"{method}{what}" for method in (*METHODS, "brute force over formulas") for what in ("", ", ratio"))
BENCHMARKS = {
    "shortcuts": Benchmark(
        Headline("shortcuts", "python -m benchmarks.headline shortcuts", ("count", *SCORES), by=("kind", "task")),
        jobs,
        run,
    )
}


def draw(tasks: list[Row], curves: dict[str, list[Row]], path: Path) -> None:
    """The times of the eight tasks, and the three curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(16, 4.2), constrained_layout=True)
    left = axes[0]
    places = range(len(tasks))
    for offset, (method, colour) in enumerate(zip(METHODS, ("#4c72b0", "#dd8452", "#e5c07b", "#c44e52"), strict=True)):
        heights = [float(row[method]) for row in tasks]
        left.bar(
            [place + 0.2 * offset for place in places],
            heights,
            0.2,
            label="Algorithm 1, tuned" if method == "tuned" else method,
            color=colour,
        )
    left.set(yscale="log", ylabel="milliseconds", title="eight tasks, five symbols", xlabel="task")
    left.set_xticks([p + 0.3 for p in places], [str(p + 1) for p in places])
    left.set_ylim(1e-2, 2e4)
    left.legend(fontsize=8, ncols=2, loc="upper center")
    for axis, (by, rows) in zip(axes[1:], curves.items(), strict=True):
        axis.plot([row[by] for row in rows], [row["closed form"] for row in rows], "o-", color="#4c72b0")
        axis.set(xscale="log", yscale="log", xlabel=by, ylabel="milliseconds", title=f"growth in {by}")
        axis.set_ylim(1e-2, 1e3)
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(config: Config) -> None:
    """Measure, print, write and draw."""
    (benchmark,) = BENCHMARKS.values()
    rows = complete(benchmark.headline, jobs((0,)), run, folder=config.out)["rows"]
    tasks = [row for row in rows if "repeat" in row]
    curves = {by: [row for row in rows if row.get("growth") == by] for by in GROWTH}
    columns = ("task", "count", *SCORES)
    report(
        "Milliseconds", columns, [[row.get(name, "-") for name in columns] for row in tasks], config.out, "shortcuts"
    )
    for by, points in curves.items():
        shown = ("places", "symbols", "states", "symmetries", "digits", "closed form")
        table = [[row[name] for name in shown] for row in points]
        report(f"The closed form, growth in {by}, milliseconds", shown, table, config.out, f"shortcuts-{by}")
    draw(tasks, curves, config.out / "shortcuts.png")


if __name__ == "__main__":
    main(tyro.cli(Config))
