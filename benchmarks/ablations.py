"""What each part of an agent for every task brings, in LetterWorld: the same runs with one thing changed.

    python -m benchmarks.ablations --out out/bench --seeds 810 811 812

Success on the five formulas of `benchmarks.letter_world` as training goes on: sampled actions, no reward is read unless
a column says so. Runs that are done are not repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks.common import report
from benchmarks.letter_world import FORMULAS
from benchmarks.unseen import all_runs, curve, outcomes
from nrm.machines import TaskSet
from nrm.runs import choose_run

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "as it is": {},
    "rewards read in training": {"grounding": {"belief": "filtered"}},
}


@dataclass(frozen=True)
class Config:
    """Compare."""

    out: Path = Path("out/bench")
    """Where results go."""
    seeds: tuple[int, ...] = (810, 811, 812)
    """Seeds of training."""
    variants: tuple[str, ...] = tuple(VARIANTS)
    """What is compared."""
    steps: int = 300_000
    """Steps of a run."""
    every: int = 50_000
    """Steps between tests of 100 episodes a formula."""
    episodes: int = 500
    """Episodes of each formula at the end."""


def measured(config: Config, variant: str, seed: int) -> dict[str, Any]:
    """Train one agent, and test it with and without rewards."""
    settings = {**VARIANTS[variant]}
    settings["tasks"] = {**settings.get("tasks", {}), "held_out": FORMULAS, "up_to_renaming": True}
    run = choose_run(None, "letter", "nrm", seed, tasks="mixture", total_timesteps=config.steps, settings=settings)
    test = TaskSet.of(FORMULAS, run.alphabet)
    trainer, found = curve(run, test, config.every, config.episodes, 90_000 + 100 * seed, f"{variant} {seed}")
    read = outcomes(run, trainer, test, config.episodes, 93_000 + 100 * seed, belief="filtered")
    return found | {"rewards read": [one.success for one in read]}


def rows(config: Config) -> list[tuple[object, ...]]:
    """A line for each variant: means over seeds."""
    lines: list[tuple[object, ...]] = []
    for variant in config.variants:
        names = {f"{variant.replace(' ', '-')}-{seed}-{config.steps}": (config, variant, seed) for seed in config.seeds}
        found = list(all_runs(config.out / "ablations", names, measured))
        success = np.array(
            [[np.mean([one[0] for one in point["formulas"]]) for point in run["curve"]] for run in found]
        )
        last = np.array([[one[0] for one in run["curve"][-1]["formulas"]] for run in found])
        lines.append(
            (
                variant,
                f"{np.mean([run['curve'][-1]['cpu'] for run in found]):.0f}",
                " ".join(f"{run['symbols_right_after'] or 'never':,}" for run in found),
                *(f"{value:.3f}" for value in success.mean(0)),
                " ".join(f"{value:.3f}" for value in success[:, -1]),
                f"{last.mean(0).min():.3f}",
                f"{np.nanmean([[one[1] for one in run['curve'][-1]['formulas']] for run in found]):.1f}",
                f"{np.mean([run['rewards read'] for run in found]):.3f}",
            )
        )
    return lines


def main(config: Config) -> None:
    """Train, test and print."""
    torch.set_num_threads(1)
    points = range(config.every, config.steps + 1, config.every)
    headings = ("NRM", "CPU s", "symbols right after", *(f"{at // 1000}k" for at in points))
    headings += ("by seed", "worst formula", "steps", "rewards read")
    title = f"What each part brings: mean success on five unseen formulas, {len(config.seeds)} seeds"
    report(title, headings, rows(config), config.out, "ablations")


if __name__ == "__main__":
    main(tyro.cli(Config))
