"""Counting reasoning shortcuts: the closed form against Algorithm 1 and the brute force, and how it grows.

    python benchmarks/shortcuts.py --out out/bench

All times of a row come from one run on one machine, so that ratios mean something. Algorithm 1 is timed twice: as
printed (the machine reads each string from its start) and tuned by us (pairs of states are carried along, and no string
is read twice).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import product
from math import factorial
from pathlib import Path

import nrm
from nrm.groundability import algorithm_1, brute_force
from nrm.groundability.counting import digits
from nrm.machines import MooreMachine

Row = dict[str, float | int | str]


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


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
    """The eight tasks at five symbols."""
    rows: list[Row] = []
    for task in nrm.PAPER_TASKS:
        machine = nrm.compile(task.formula(), nrm.PAPER_SYMBOLS)
        closed = seconds(lambda machine=machine: nrm.shortcuts(machine).count, 201)  # type: ignore[misc]
        printed = seconds(lambda machine=machine: algorithm_1(machine), 3)  # type: ignore[misc]
        tuned = seconds(lambda machine=machine: tuned_algorithm_1(machine), 5)  # type: ignore[misc]
        brute = seconds(lambda machine=machine: list(brute_force(machine)), 5)  # type: ignore[misc]
        counts = {
            nrm.shortcuts(machine).count,
            len(algorithm_1(machine).maps),
            tuned_algorithm_1(machine),
            len(list(brute_force(machine))),
            task.shortcuts,
        }
        if len(counts) > 1:
            raise SystemExit(f"task {task.number}: the counts differ: {sorted(counts)}")
        rows.append(
            {
                "task": f"{task.number} {task.name}",
                "count": task.shortcuts,
                "closed form (s)": closed,
                "Algorithm 1 (s)": printed,
                "tuned (s)": tuned,
                "brute force (s)": brute,
                "ratio Alg. 1": printed / closed,
                "ratio tuned": tuned / closed,
                "ratio brute": brute / closed,
            }
        )
    return rows


def visits(places: int, symbols: int) -> MooreMachine:
    """The task of visiting some of the symbols in any order."""
    names = [f"s{number}" for number in range(symbols)]
    return nrm.compile(" & ".join(f"F {name}" for name in names[:places]), names)


def growth(places: int, symbols: int, repeats: int) -> Row:
    """One point of the curves: the time to analyse, the machine being given."""
    machine = visits(places, symbols)
    found = nrm.shortcuts(machine)
    if found.symmetries != factorial(places) or found.count != factorial(places) * (symbols - places) ** (
        symbols - places
    ):
        raise SystemExit(f"visit({places}) over {symbols} symbols: wrong count {found}")
    return {
        "places": places,
        "symbols": symbols,
        "states": machine.states,
        "symmetries": found.symmetries,
        "digits": len(digits(found.count)),
        "time (s)": seconds(lambda: nrm.shortcuts(machine).count, repeats),
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """Each row with its time relative to the first."""
    first = float(rows[0]["time (s)"])
    return [{**row, "x first": float(row["time (s)"]) / first} for row in rows]


def table(title: str, rows: list[Row]) -> str:
    """Rows as text."""
    heads = list(rows[0])
    cells = [[_cell(row[head]) for head in heads] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(heads, *cells, strict=True)]
    lines = [title, "  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True))]
    lines += ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(lines)


def _cell(value: float | int | str) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value


def draw(tasks: list[Row], curves: dict[str, list[Row]], path: Path) -> None:
    """The times of the eight tasks, and the three curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(16, 4.2), constrained_layout=True)
    left = axes[0]
    places = range(len(tasks))
    kinds = [("brute force (s)", "#c44e52"), ("Algorithm 1 (s)", "#dd8452"), ("tuned (s)", "#e5c07b")]
    for offset, (kind, colour) in enumerate([*kinds, ("closed form (s)", "#4c72b0")]):
        left.bar([p + 0.2 * offset for p in places], [float(r[kind]) for r in tasks], 0.2, label=kind, color=colour)
    left.set(yscale="log", ylabel="seconds", title="eight tasks, five symbols", xlabel="task")
    left.set_xticks([p + 0.3 for p in places], [str(p + 1) for p in places])
    left.set_ylim(1e-5, 20)
    left.legend(fontsize=8, ncols=2, loc="upper center")
    for axis, (by, rows) in zip(axes[1:], curves.items(), strict=True):
        axis.plot([float(r[by]) for r in rows], [float(r["time (s)"]) for r in rows], "o-", color="#4c72b0")
        axis.set(xscale="log", yscale="log", xlabel=by, ylabel="seconds", title=f"growth in {by}")
        axis.set_ylim(1e-5, 1)
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="the folder to write into")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    tasks = paper_tasks()
    curves = {
        "symbols": with_ratios([growth(2, symbols, 51) for symbols in (5, 10, 30, 100, 300, 1000)]),
        "states": with_ratios([growth(places, places + 1, 5) for places in (2, 4, 6, 8, 10, 12)]),
        "symmetries": with_ratios([growth(places, 12, 5) for places in range(2, 11)]),
    }
    ratios = {head: statistics.median(float(row[head]) for row in tasks) for head in tasks[0] if "ratio" in head}
    text = "\n\n".join(
        [
            table("The paper's eight tasks, five symbols", tasks),
            "medians: " + ", ".join(f"{head} {ratio:,.0f}" for head, ratio in ratios.items()),
            *(table(f"Growth in {by} (visits)", rows) for by, rows in curves.items()),
        ]
    )
    print(text)
    (out / "shortcuts.txt").write_text(text + "\n")
    record = {"tasks": tasks, "medians": ratios, "growth": curves}
    (out / "shortcuts.json").write_text(json.dumps(record, indent=1, default=str) + "\n")
    draw(tasks, curves, out / "shortcuts.png")


if __name__ == "__main__":
    main()
