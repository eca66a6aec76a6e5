"""FlatWorld's settings: what each mechanism brings, on formulas and seeds that are reported nowhere else.

    python -m benchmarks.flat_tuning --variants base 'training_horizon 100' --seeds 101 107

One run for each variant and seed: the mean success on two sets of 20 random formulas (`flat_world.tuning_formulas`).
The rows are kept in `benchmarks/results/flat-tuning.json`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.flat_world import PUBLISHED, RANDOM, configured, scores, trained, tuning_formulas
from benchmarks.results import Benchmark, Headline, complete
from nrm.runs.sections import Changes

VARIANTS: dict[str, Changes] = {
    "base": {},
    "training_horizon 100": {"tasks": {"training_horizon": 100}},
    "training_horizon 500": {"tasks": {"training_horizon": None}},
}
"""Changes of what ships."""


def run(variant: str, method: str, actions: str, seed: int, frames: int, episodes: int) -> dict[str, Any]:
    """One row: an agent with changed settings."""
    sets = {name: tuning_formulas(name) for name in RANDOM}
    held_out = (*PUBLISHED, *(formula for formulas in sets.values() for formula in formulas))
    config = configured(method, actions, seed, frames, held_out, VARIANTS[variant])
    trainer, cpu = trained(config)
    row = {"settings": variant, "method": method, "actions": actions, "seed": seed, "frames": trainer.steps}
    found = {name: scores(config, trainer, formulas, episodes, 50_000 + seed) for name, formulas in sets.items()}
    means = {name: np.mean([one[1] for one in tests]) for name, tests in found.items()}
    return {**row, "cpu_seconds": cpu, **means, "formulas": found}


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: the mean success of each variant by seed."""
    lines = ["| settings | method | actions | frames | random, by seed | nests |", "| --- " * 6 + "|"]
    for kind in dict.fromkeys((row["settings"], row["method"], row["actions"], row["frames"]) for row in rows):
        mine = [row for row in rows if (row["settings"], row["method"], row["actions"], row["frames"]) == kind]
        cells = [", ".join(f"{row[name]:.3f}" for row in mine) for name in RANDOM]
        lines.append(f"| {' | '.join(map(str, (*kind, *cells)))} |")
    return "\n".join(lines)


def jobs(
    seeds: Sequence[int],
    variants: Sequence[str] = tuple(VARIANTS),
    method: str = "rm",
    actions: str = "discrete",
    frames: int = 1_200_000,
    episodes: int = 100,
) -> dict[str, tuple[Any, ...]]:
    """A run of every variant and seed."""
    return {
        f"{variant}-{method}-{actions}-{seed}-{frames}-{episodes}": (variant, method, actions, seed, frames, episodes)
        for variant, seed in product(variants, seeds)
    }


SEEDS = (101, 107)
"""For choosing; they are reported nowhere else."""
HEADLINE = Headline(
    "flat-tuning", "python -m benchmarks.headline flat-tuning", tuple(RANDOM), by=("settings", "method", "actions")
)
BENCHMARKS = {"flat-tuning": Benchmark(HEADLINE, jobs, run, SEEDS)}


def main() -> None:
    """Run what is not done yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--method", default="rm")
    parser.add_argument("--actions", default="discrete")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--frames", type=int, default=1_200_000)
    parser.add_argument("--episodes", type=int, default=100)
    print(table(complete(HEADLINE, jobs(**vars(parser.parse_args())), run)["rows"]))


if __name__ == "__main__":
    main()
