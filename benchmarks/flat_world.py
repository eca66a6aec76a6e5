"""One agent for every task in FlatWorld: trained on random tasks, tested on formulas that it has never seen.

    python -m benchmarks.flat_world --out out/bench --methods nrm rm --actions discrete --seeds 500 501 502 503 504

The five formulas are those that DeepLTL's authors publish figures for (15 million frames, true symbols). Ours are
tested with sampled actions from fresh starts; those that learn their symbols in three ways: reading no reward (open),
the same by the most probable symbol of each step (crisp), and reading the rewards (conditioned). Runs that are done are
not repeated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.unseen import all_runs, curve, outcomes
from nrm.machines import TaskPool
from nrm.runs import choose_run
from nrm.tracking import Belief

FORMULAS = (
    "F ((red & magenta) & F ((blue & green) & F yellow))",
    "F (orange & (!red U magenta))",
    "(!red U (green & blue & aqua)) & F (orange & (F (red & magenta)))",
    "((!yellow & !orange) U (green & blue)) & (!green U magenta)",
    "(blue -> F magenta) U (yellow | ((green & blue) & F orange))",
)
PUBLISHED = {"DeepLTL": (1.000, 0.999, 0.978, 0.860, 0.996)}
"""As published, with true symbols, after 15 million frames."""
BELIEFS: dict[str, tuple[Belief, ...]] = {"nrm": ("open", "crisp", "conditioned")}
"""How agents of a method are tested; one way where they are told what holds."""


def run(method: str, actions: str, seed: int, steps: int, every: int, episodes: int) -> dict[str, Any]:
    """One run: what it reaches on the five formulas as it goes, and at its end in every way."""
    settings = {"world": {"actions": actions}, "tasks": {"held_out": list(FORMULAS)}}
    config = choose_run(None, "flat", method, seed, tasks="mixture", steps=steps, settings=settings)
    test = TaskPool.of(FORMULAS, config.alphabet)
    first_seed = 90_000 + 100 * seed
    trainer, found = curve(config, test, every, episodes, first_seed, f"{method} {actions} {seed}")
    final = {
        belief: outcomes(config, trainer, test, episodes, first_seed, belief) for belief in BELIEFS.get(method, ())[1:]
    }
    final["open"] = found["curve"][-1]["formulas"]
    borders = trainer.borders()
    named = None if borders is None else {"plane": borders.overall.plain, "each": borders.overall.balanced}
    return found | {"method": method, "actions": actions, "seed": seed, "final": final, "named": named}


def table(results: list[dict[str, Any]]) -> str:
    """Markdown: a row for each method, kind of actions and way to test; the mean over seeds, and the worst seed."""
    lines = [
        "| | labels | frames | CPU s | " + " | ".join(f"formula {n}" for n in range(1, 6)) + " | mean |",
        "| --- | --- | ---: | ---: |" + " ---: |" * 6,
    ]
    for name, figures in PUBLISHED.items():
        cells = " | ".join(f"{value:.3f}" for value in figures)
        lines.append(f"| {name}, published | true | 15M | | {cells} | {np.mean(figures):.3f} |")
    for method, actions in dict.fromkeys((result["method"], result["actions"]) for result in results):
        mine = [result for result in results if (result["method"], result["actions"]) == (method, actions)]
        lines += list(_rows(method, actions, mine))
    return "\n".join(lines)


def _rows(method: str, actions: str, mine: list[dict[str, Any]]) -> Iterable[str]:
    cpu = np.mean([result["curve"][-1]["cpu"] for result in mine])
    frames = int(np.mean([result["steps"] for result in mine]))
    told = {"nrm": "none", "rm": "true"}.get(method, "")
    for belief in BELIEFS.get(method, ("open",)):
        success = np.array([[value for value, _ in result["final"][belief]] for result in mine])
        steps = np.nanmean([[value for _, value in result["final"][belief]] for result in mine], 0)
        how = f", {belief}" if method in BELIEFS else ""
        cells = " | ".join(
            f"{mean:.3f} ({worst:.2f}; {count:.0f})"
            for mean, worst, count in zip(success.mean(0), success.min(0), steps, strict=True)
        )
        head = f"| {method.upper()}, {actions}, {len(mine)} seeds{how} | {told} | {frames:,} | {cpu:.0f}"
        yield f"{head} | {cells} | {success.mean():.4f} |"
    named = [result["named"]["plane"] for result in mine if result.get("named")]
    if named:
        yield f"<!-- {method}, {actions}: share of the plane named right {[round(value, 3) for value in named]} -->"


def main() -> None:
    """Run what is not done yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--methods", nargs="+", default=["nrm", "rm"])
    parser.add_argument("--actions", nargs="+", default=["discrete", "continuous"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[500, 501, 502, 503, 504])
    parser.add_argument("--steps", type=int, default=1_500_000)
    parser.add_argument("--every", type=int, default=500_000)
    parser.add_argument("--episodes", type=int, default=500)
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = {
        f"{method}-{actions}-{seed}-{options.steps}": (
            method,
            actions,
            seed,
            options.steps,
            options.every,
            options.episodes,
        )
        for actions in options.actions
        for method in options.methods
        for seed in options.seeds
    }
    print(table(list(all_runs(options.out / "flat_world", names, run))))


if __name__ == "__main__":
    main()
