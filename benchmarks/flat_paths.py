"""A figure of FlatWorld: the paths of one agent on the five published formulas.

python -m benchmarks.flat_paths --figure docs/images/flat-paths.png --seed 901

It trains the agent first, about five minutes of the processor.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import torch

from benchmarks.flat_world import PUBLISHED, configured, trained
from nrm.agents import Trainer, play
from nrm.envs.plane import FLAT
from nrm.envs.plane.env import colour
from nrm.machines import TaskSet, as_machine
from nrm.runs import RunConfig

EPISODES = 6
"""Paths of each formula."""


def paths(config: RunConfig, trainer: Trainer, formula: str, seed: int) -> list[tuple[list[list[float]], bool]]:
    """Where some episodes of one task led: their points, and whether they succeeded."""
    env = config.build_env(EPISODES, TaskSet((as_machine(formula, config.alphabet),), (formula,)))
    points: list[list[list[float]]] = [[] for _ in range(env.count)]
    won: dict[int, bool] = {}
    for played in play(trainer, env, seed, greedy=False, belief="open-loop"):
        for one, place in enumerate(played.batch.final_observation.tolist()):
            if one not in won:
                points[one].append(place)
                if bool(played.done[one]):
                    won[one] = bool(env.machine.accepting[int(played.state[one])])
        if len(won) == env.count:
            break
    return [(way, won[number]) for number, way in enumerate(points)]


def draw(axis: Any, ways: list[tuple[list[list[float]], bool]]) -> None:
    """The plane with some paths: a star where the task was satisfied, a cross where not."""
    from matplotlib.patches import Circle

    for disc in FLAT.placed:
        shade = [part / 255 for part in colour(FLAT, disc.name)]
        axis.add_patch(Circle((disc.x, disc.y), disc.radius, color=shade, alpha=0.55, linewidth=0))
    for points, won in ways:
        x, y = np.array(points).T
        axis.plot(x, y, color="#222222" if won else "#999999", linewidth=1.1)
        axis.plot(x[0], y[0], "o", color="white", markeredgecolor="#222222", markersize=5)
        axis.plot(x[-1], y[-1], "*" if won else "x", color="#222222", markersize=9)
    left, bottom, right, top = FLAT.bounds
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=(-2, 0, 2), yticks=(-2, 0, 2))


def main() -> None:
    """Train one agent, and draw."""
    from matplotlib import pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--figure", type=Path, required=True)
    parser.add_argument("--method", default="nrm")
    parser.add_argument("--seed", type=int, default=901)
    parser.add_argument("--frames", type=int, default=4_000_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = configured(options.method, "discrete", options.seed, options.frames, PUBLISHED, {})
    trainer, _ = trained(config)
    figure, axes = plt.subplots(1, 5, figsize=(17, 4), layout="constrained")
    for number, (axis, formula) in enumerate(zip(axes.flat, PUBLISHED, strict=True)):
        draw(axis, paths(config, trainer, formula, 90_000 + 100 * options.seed + number))
        axis.set_title("\n".join(wrap(f"{number + 1}: {formula}", 42)), fontsize=8)
    figure.savefig(options.figure, dpi=110)


if __name__ == "__main__":
    main()
