"""Our decision diagrams beside native packages: the conjunction that no two of n variables hold, and a walk over it.

The packages are no dependencies: `pip install dd oxidd` to have their columns. Translation makes many small diagrams
and looks at their nodes one by one, so both are measured.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from benchmarks.common import processor_seconds, report, timed
from nrm.automata import TRUE, Bdd


@dataclass(frozen=True)
class Config:
    """Compare decision diagrams."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    variables: tuple[int, ...] = (10, 20, 40)
    """Numbers of variables."""


def pairs(count: int) -> list[tuple[int, int]]:
    """Every two variables."""
    return [(one, two) for two in range(count) for one in range(two)]


def ours(count: int) -> int:
    """The number of nodes that a walk over the conjunction finds."""
    diagrams = Bdd(2_000_000)
    root = TRUE
    for one, two in pairs(count):
        root = diagrams.conjunction(
            root, diagrams.disjunction(diagrams.literal(one, False), diagrams.literal(two, False))
        )
    seen, pending = set[int](), [root]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            if node > TRUE:
                pending += [diagrams.low[node], diagrams.high[node]]
    return len(seen)


def cudd(count: int) -> int:
    """The same by CUDD, through `dd`."""
    package: Any = importlib.import_module("dd.cudd")
    diagrams = package.BDD()
    diagrams.configure(reordering=False)
    names = [f"p{number}" for number in range(count)]
    diagrams.declare(*names)
    root = diagrams.true
    for one, two in pairs(count):
        root = root & (~diagrams.var(names[one]) | ~diagrams.var(names[two]))
    seen, pending = set[int](), [root]
    while pending:
        node = pending.pop()
        if int(node) not in seen:
            seen.add(int(node))
            if node.var is not None:
                pending += [node.low, node.high]
    return len(seen)


def oxidd(count: int) -> int:
    """The same by OxiDD."""
    package: Any = importlib.import_module("oxidd.bdd")
    diagrams = package.BDDManager(1 << 20, 1 << 18, 1)
    diagrams.add_vars(count)
    variables = [diagrams.var(number) for number in range(count)]
    root = diagrams.true()
    for one, two in pairs(count):
        root = root & (~variables[one] | ~variables[two])
    return int(root.node_count())


def measured(work: Callable[[int], int], count: int) -> object:
    """Milliseconds; `-` where the package is not installed."""
    try:
        return 1e3 * timed(lambda: work(count), 0.5, clock=processor_seconds)[1]
    except ImportError:
        return "-"


def main(config: Config) -> None:
    """Measure and print."""
    rows = [[count, *(measured(work, count) for work in (ours, cudd, oxidd))] for count in config.variables]
    headings = ["variables", "ours (ms)", "dd with CUDD (ms)", "OxiDD, without the walk (ms)"]
    report("No two of n variables", headings, rows, config.out, "diagrams")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
