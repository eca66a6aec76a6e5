"""Counting reasoning shortcuts: the closed form beside Algorithm 1 and the brute force, in one run; and how it grows.

Algorithm 1 is timed twice: as printed (the machine reads each string from its start), and tuned by us (pairs of states
are carried along, and no string is read twice).
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import factorial
from pathlib import Path

import tyro

import nrm
from benchmarks.common import report, timed
from nrm.groundability.counting import digits
from nrm.machines import MooreMachine
from nrm.results.groundability import measure_groundability

Row = dict[str, float | int | str]
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


def paper_tasks() -> list[Row]:
    """The eight tasks at five symbols: seconds for each method, and how many times the closed form's they are."""
    rows: list[Row] = []
    for measured in measure_groundability(budget=0):
        task = measured.task
        machine = nrm.compile(task.formula(), nrm.PAPER_SYMBOLS)
        count, tuned = timed(partial(tuned_algorithm_1, machine), most_runs=3)
        if {count, measured.count} != {task.shortcuts}:
            raise SystemExit(f"task {task.number}: the methods count {measured.count} and {count}")
        seconds = (measured.closed_form, measured.algorithm_1, tuned, measured.brute_force)
        times = dict(zip(METHODS, seconds, strict=True))
        ratios = {f"{method} ×": times[method] / times["closed form"] for method in METHODS[1:]}
        rows.append({"task": str(task.number), "count": task.shortcuts, **times, **ratios})
    return rows


def visits(places: int, symbols: int) -> MooreMachine:
    """The task of visiting some of the symbols in any order."""
    names = [f"s{number}" for number in range(symbols)]
    return nrm.compile(" & ".join(f"F {name}" for name in names[:places]), names)


def growth(places: int, symbols: int) -> Row:
    """One point of the curves: the time to analyse, the machine being given."""
    machine = visits(places, symbols)
    count, seconds = timed(partial(closed_form, machine))
    if count != factorial(places) * (symbols - places) ** (symbols - places):
        raise SystemExit(f"visit({places}) over {symbols} symbols: wrong count {digits(count)}")
    return {
        "places": places,
        "symbols": symbols,
        "states": machine.states,
        "symmetries": nrm.shortcuts(machine).symmetries,
        "digits of the count": len(digits(count)),
        "seconds": seconds,
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """Each row with its time relative to the first."""
    first = float(rows[0]["seconds"])
    return [{**row, "× first": float(row["seconds"]) / first} for row in rows]


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
    left.set(yscale="log", ylabel="seconds", title="eight tasks, five symbols", xlabel="task")
    left.set_xticks([p + 0.3 for p in places], [str(p + 1) for p in places])
    left.set_ylim(1e-5, 20)
    left.legend(fontsize=8, ncols=2, loc="upper center")
    for axis, (by, rows) in zip(axes[1:], curves.items(), strict=True):
        axis.plot([float(row[by]) for row in rows], [float(row["seconds"]) for row in rows], "o-", color="#4c72b0")
        axis.set(xscale="log", yscale="log", xlabel=by, ylabel="seconds", title=f"growth in {by}")
        axis.set_ylim(1e-5, 1)
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def table(title: str, rows: list[Row], out: Path, name: str) -> None:
    """Print and keep rows."""
    report(title, list(rows[0]), [list(row.values()) for row in rows], out, name)


def main(config: Config) -> None:
    """Measure, print, write and draw."""
    tasks = paper_tasks()
    medians: Row = {head: "" if isinstance(value, str) else _median(tasks, head) for head, value in tasks[0].items()}
    table(
        "Counting shortcuts, five symbols: seconds, and × the closed form",
        [*tasks, {**medians, "task": "median"}],
        config.out,
        "shortcuts",
    )
    curves = {
        "symbols": with_ratios([growth(2, symbols) for symbols in (5, 10, 30, 100, 300, 1000)]),
        "states": with_ratios([growth(places, places + 1) for places in (2, 4, 6, 8, 10, 12)]),
        "symmetries": with_ratios([growth(places, 12) for places in range(2, 11)]),
    }
    for by, rows in curves.items():
        table(f"The closed form, growth in {by}", rows, config.out, f"shortcuts-{by}")
    draw(tasks, curves, config.out / "shortcuts.png")


def _median(rows: list[Row], head: str) -> float:
    return statistics.median(float(row[head]) for row in rows)


if __name__ == "__main__":
    main(tyro.cli(Config))
