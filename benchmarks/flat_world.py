"""One agent for every task in FlatWorld: trained on random tasks, tested on formulas that it has never seen.

    python -m benchmarks.flat_world --out out/bench --methods nrm rm --actions discrete --seeds 881 882 883 884 885

The five formulas are those that DeepLTL's authors publish figures for (15 million frames, true symbols). Ours are
tested with sampled actions from fresh starts, reading no reward (open); the same without strides at random where they
get no further (calm); and those that learn their symbols also by the most probable symbol of each step (crisp), and
reading the rewards (conditioned). Runs that are done are not repeated.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import torch

from benchmarks.unseen import all_runs, curve, outcomes
from nrm.agents import Trainer
from nrm.agents.evaluation import play
from nrm.envs.plane import FLAT
from nrm.envs.plane.painter import colour
from nrm.machines import TaskPool
from nrm.runs import RunConfig, choose_run
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
EPISODES_DRAWN = 6
"""Of each formula, how many paths are drawn."""
CALM = "calm"
"""Tested like open, without restlessness."""
BELIEFS: dict[str, tuple[Belief, ...]] = {"nrm": ("crisp", "conditioned")}
"""How else agents of a method are tested, besides open and calm."""


def run(method: str, actions: str, seed: int, steps: int, every: int, episodes: int) -> dict[str, Any]:
    """One run: what it reaches on the five formulas as it goes, and at its end in every way."""
    settings: dict[str, dict[str, Any]] = {"world": {"actions": actions}, "tasks": {"held_out": list(FORMULAS)}}
    config = choose_run(None, "flat", method, seed, tasks="mixture", steps=steps, settings=settings)
    test = TaskPool.of(FORMULAS, config.alphabet)
    first_seed = 90_000 + 100 * seed
    trainer, found = curve(config, test, every, episodes, first_seed, f"{method} {actions} {seed}")
    final = {"open": found["curve"][-1]["formulas"]}
    final[CALM] = outcomes(config, trainer, test, episodes, first_seed, restless=False)
    for belief in BELIEFS.get(method, ()):
        final[belief] = outcomes(config, trainer, test, episodes, first_seed, belief)
    borders = trainer.borders()
    named = None if borders is None else {"plane": borders.overall.plain, "each": borders.overall.balanced}
    ways = [paths(config, trainer, test.subset([number]), first_seed) for number in range(len(test))]
    return found | {
        "method": method,
        "actions": actions,
        "seed": seed,
        "final": final,
        "named": named,
        "paths": ways,
    }


def paths(config: RunConfig, trainer: Trainer, task: TaskPool, seed: int) -> list[dict[str, Any]]:
    """Where some episodes of one task led: their points, and whether they succeeded."""
    world = config.build_world(EPISODES_DRAWN, task)
    points: list[list[list[float]]] = [[] for _ in range(world.count)]
    won: dict[int, bool] = {}
    for played in play(trainer, world, seed, greedy=False, belief="open"):
        places = played.batch.final_observation.tolist()
        for one in range(world.count):
            if one not in won:
                points[one].append([round(number, 3) for number in places[one]])
                if bool(played.done[one]):
                    won[one] = bool(world.machine.accepting[int(played.state[one])])
        if len(won) == world.count:
            break
    return [{"points": way, "won": won[number]} for number, way in enumerate(points)]


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Success against frames of all runs, and the paths of the first run on each formula."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11.4, 8.2), layout="constrained")
    _draw_curves(axes.flat[0], results)
    for number, axis in enumerate(axes.flat[1:]):
        _draw_paths(axis, results[0]["paths"][number])
        axis.set_title("\n".join(wrap(f"{number + 1}: {FORMULAS[number]}", 46)), fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_curves(axis: Any, results: list[dict[str, Any]]) -> None:
    """The mean success on the five formulas, a line for each run."""
    colours = {"rm": "#0072b2", "nrm": "#d55e00"}
    kinds = Counter((result["method"], result["actions"]) for result in results)
    named = set()
    for result in results:
        frames = [point["steps"] / 1e6 for point in result["curve"]]
        means = [np.mean([success for success, _ in point["formulas"]]) for point in result["curve"]]
        dashes = "-" if result["actions"] == "discrete" else "--"
        kind = (result["method"], result["actions"])
        label = None if kind in named else f"{kind[0].upper()}, {kind[1]}, {kinds[kind]} seeds"
        named.add(kind)
        axis.plot(frames, means, dashes, color=colours.get(result["method"], "#555555"), marker="o", ms=3, label=label)
    axis.axhline(np.mean(PUBLISHED["DeepLTL"]), color="#999999", linewidth=1, label="DeepLTL, published, 15M frames")
    lowest = min(line.get_ydata().min() for line in axis.lines[:-1])
    axis.set(xlim=(0, None), xlabel="million frames", ylabel="success, mean of five formulas")
    axis.set_ylim(max(0.0, 2 * lowest - 1), 1.01)  # as much room below the lines for the legend as they take
    axis.legend(fontsize=7, loc="lower right")


def _draw_paths(axis: Any, ways: list[dict[str, Any]]) -> None:
    """The plane with some paths."""
    from matplotlib.patches import Circle

    for disc in FLAT.placed:
        shade = [part / 255 for part in colour(FLAT, disc.name)]
        axis.add_patch(Circle((disc.x, disc.y), disc.radius, color=shade, alpha=0.55, linewidth=0))
    for way in ways:
        x, y = np.array(way["points"]).T
        axis.plot(x, y, color="#222222" if way["won"] else "#999999", linewidth=1.1)
        axis.plot(x[0], y[0], "o", color="white", markeredgecolor="#222222", markersize=5)
        axis.plot(x[-1], y[-1], "*" if way["won"] else "x", color="#222222", markersize=9)
    left, bottom, right, top = FLAT.bounds
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=(-2, 0, 2), yticks=(-2, 0, 2))


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
    for belief in ("open", CALM, *BELIEFS.get(method, ())):
        success = np.array([[value for value, _ in result["final"][belief]] for result in mine])
        counts = np.array([[value for _, value in result["final"][belief]] for result in mine])
        steps = [np.nanmean(column) if np.isfinite(column).any() else np.nan for column in counts.T]
        cells = " | ".join(
            f"{mean:.3f} ({worst:.2f}; {count:.0f})"
            for mean, worst, count in zip(success.mean(0), success.min(0), steps, strict=True)
        )
        head = f"| {method.upper()}, {actions}, {len(mine)} seeds, {belief} | {told} | {frames:,} | {cpu:.0f}"
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
    parser.add_argument("--seeds", nargs="+", type=int, default=[881, 882, 883, 884, 885])
    parser.add_argument("--steps", type=int, default=4_000_000)
    parser.add_argument("--every", type=int, default=1_000_000)
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--figure", type=Path, help="draw success against frames, and paths of the first run, here")
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
    results = list(all_runs(options.out / "flat_world", names, run))
    print(table(results))
    if options.figure is not None:
        draw(results, options.figure)


if __name__ == "__main__":
    main()
