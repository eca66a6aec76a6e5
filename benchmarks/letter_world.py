"""One agent for every task in LetterWorld: trained on random tasks, tested on formulas that it has never seen.

    python -m benchmarks.letter_world --out out/bench --methods nrm rm --seeds 500 501 502 503 504

The five formulas are those that DeepLTL's authors publish figures for (15 million frames, true symbols). Ours are
tested with sampled actions, on fresh grids, and without reading any reward. Runs that are done are not repeated.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from benchmarks.unseen import all_runs, curve, outcomes
from nrm.agents import Trainer
from nrm.agents.evaluation import evaluate
from nrm.agents.task_evaluation import EDGES, by_size
from nrm.families import draw_pool
from nrm.families.chains import Reach, ReachAvoid
from nrm.families.compounds import Avoidance, Conjunctions
from nrm.machines import TaskPool
from nrm.runs import RunConfig, choose_run

FORMULAS = (
    "F (a & (!b U c)) & F d",
    "(F d) & (!f U (d & F b))",
    "(F ((a | c | j) & F b)) & (F (c & F d)) & F k",
    "!a U (b & (!c U (d & (!e U f))))",
    "((a | b | c | d) -> F (e & (F (f & F g)))) U (h & F i)",
)
PUBLISHED = {
    "DeepLTL": (0.999, 0.982, 1.000, 0.969, 0.997),
    "GCRL-LTL": (0.937, 0.935, 0.998, 0.816, 0.998),
    "LTL2Action": (0.754, 0.794, 0.406, 0.715, 0.441),
}
"""As published, with true symbols, after 15 million frames."""


def run(method: str, seed: int, steps: int, every: int, episodes: int, world: str, random: int) -> dict[str, object]:
    """One run: what it reaches on the five formulas as it goes, and at its end on longer ones."""
    config = choose_run(None, world, method, seed, tasks="mixture", steps=steps)
    test = TaskPool.of(FORMULAS, config.alphabet)
    trainer, found = curve(config, test, every, episodes, 90_000 + 100 * seed, f"{method} {seed}")
    assert trainer.tasks is not None
    longer = {}
    for name, family in {
        "reach 12": Reach(shortest=12, longest=12, choices=1),
        "reach and avoid 6": ReachAvoid(shortest=6, longest=6, choices=1, avoided=1),
    }.items():
        pool = draw_pool(family, config.alphabet, 20, 77_000 + seed, without=trainer.tasks.machines)
        longer[name] = float(np.mean([one.success for one in outcomes(config, trainer, pool, 50, 91_000)]))
    by_states = random_formulas(config, trainer, seed, random) if random else []
    return found | {"method": method, "seed": seed, "world": world, "longer": longer, "random": by_states}


def random_formulas(config: RunConfig, trainer: Trainer, seed: int, episodes: int) -> list[list[float]]:
    """Fewest and most states, tasks, success rate, by size of machine: a thousand random formulas, never trained.

    Half of them are two to four chains of up to five steps, the others up to four such chains with things that must
    never happen. Each is tried about as often as the other.
    """
    assert trainer.tasks is not None
    families = (Conjunctions(parts=4, longest=5), Avoidance(parts=4, longest=5))
    pools = [
        draw_pool(family, config.alphabet, 500, 78_000 + seed, without=trainer.tasks.machines) for family in families
    ]
    world = config.build_world(250, TaskPool.of(machine for pool in pools for machine in pool.machines))
    found = evaluate(trainer, world, episodes, 92_000 + seed, greedy=False, belief="open").by_task
    return [[one.least, one.most, one.tasks, one.success_rate] for one in by_size(found)]


def sizes_table(results: list[dict[str, object]]) -> str:
    """Markdown: success on the random formulas by size of machine, the mean over seeds."""
    methods = list(dict.fromkeys(str(result["method"]) for result in results if result.get("random")))
    if not methods:
        return ""
    rates: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for result in results:
        for _, most, tasks, rate in result.get("random", []):  # type: ignore[attr-defined]
            edge = next((edge for edge in EDGES if most <= edge), None)
            named = f"more than {EDGES[-1]}" if edge is None else f"up to {edge}"
            rates.setdefault(named, {}).setdefault(str(result["method"]), []).append((tasks, rate))
    lines = ["| states | tasks | " + " | ".join(method.upper() for method in methods) + " |"]
    lines.append("| --- | ---: |" + " ---: |" * len(methods))
    for named, of in rates.items():
        cells = (f"{np.average([r for _, r in of[m]], weights=[n for n, _ in of[m]]):.3f}" for m in methods)
        lines.append(f"| {named} | {sum(n for n, _ in of[methods[0]]):.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table(results: list[dict[str, object]]) -> str:
    """Markdown: a row for each method, the mean over seeds."""
    lines = [
        "| | labels | frames | CPU s | " + " | ".join(f"formula {n}" for n in range(1, 6)) + " | mean |",
        "| --- | --- | ---: | ---: |" + " ---: |" * 6,
    ]
    for name, figures in PUBLISHED.items():
        cells = " | ".join(f"{value:.3f}" for value in figures)
        lines.append(f"| {name}, published | true | 15M | | {cells} | {np.mean(figures):.3f} |")
    for method in dict.fromkeys(str(result["method"]) for result in results):
        mine = [result for result in results if result["method"] == method]
        last = [result["curve"][-1] for result in mine]  # type: ignore[index]
        success = np.array([[value for value, _ in point["formulas"]] for point in last])
        steps = np.nanmean([[value for _, value in point["formulas"]] for point in last], 0)
        cells = " | ".join(f"{s:.3f} ({n:.1f})" for s, n in zip(success.mean(0), steps, strict=True))
        cpu = np.mean([point["cpu"] for point in last])
        told = {"nrm": "none", "rm": "true", "rnn": "none"}.get(method, "")
        frames = int(np.mean([point["steps"] for point in last]))
        head = f"| {method.upper()}, {len(mine)} seeds | {told} | {frames:,} | {cpu:.0f}"
        lines.append(f"{head} | {cells} | {success.mean():.4f} |")
        longer: dict[str, list[float]] = {}
        for result in mine:
            for key, value in result["longer"].items():  # type: ignore[attr-defined]
                longer.setdefault(key, []).append(value)
        extra = "; ".join(f"{key}: {np.mean(values):.3f}" for key, values in longer.items())
        named = [result["symbols_right_after"] for result in mine]
        lines.append(f"<!-- {method}: {extra}; all symbols right after {named} frames -->")
    return "\n".join(lines)


def draw(results: list[dict[str, object]], path: Path) -> None:
    """Success on the unseen formulas against frames: the mean over formulas, a line for each seed and their mean."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
    colours = {"nrm": "#d55e00", "rm": "#0072b2", "rnn": "#009e73"}
    names = {"nrm": "NRM: no labels", "rm": "RM: true symbols", "rnn": "RNN: no machine"}
    for method in dict.fromkeys(str(result["method"]) for result in results):
        curves = [result["curve"] for result in results if result["method"] == method]
        lines: list[tuple[list[float], list[float]]] = [([], []) for _ in curves]
        for (frames, success), points in zip(lines, curves, strict=True):
            for point in points:  # type: ignore[attr-defined]
                frames.append(point["steps"] / 1000)
                success.append(float(np.mean([value for value, _ in point["formulas"]])))
            axis.plot(frames, success, color=colours[method], linewidth=0.7, alpha=0.4)
        shortest = min(len(frames) for frames, _ in lines)
        mean = np.mean([success[:shortest] for _, success in lines], 0)
        axis.plot(lines[0][0][:shortest], mean, color=colours[method], linewidth=2, label=names[method])
    for (name, figures), dash in zip(PUBLISHED.items(), ("--", "-.", ":"), strict=True):
        label = f"{name}, published, 15 million frames"
        axis.axhline(float(np.mean(figures)), color="grey", linestyle=dash, linewidth=1, label=label)
    axis.set(xlabel="thousand frames", ylabel="success, five unseen formulas", ylim=(0, 1.02), xlim=(0, None))
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run what is not done yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--methods", nargs="+", default=["nrm", "rm", "rnn"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[500, 501, 502, 503, 504])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--every", type=int, default=50_000)
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--random", type=int, default=10_000, help="episodes of a thousand random formulas; 0 for none")
    parser.add_argument("--world", default="letter")
    parser.add_argument("--figure", type=Path, help="draw success against frames here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = {
        f"{method}-{seed}-{options.steps}": (
            method,
            seed,
            options.steps,
            options.every,
            options.episodes,
            options.world,
            options.random,
        )
        for method in options.methods
        for seed in options.seeds
    }
    results = list(all_runs(options.out / f"{options.world}_world", names, run))
    print(table(results), sizes_table(results), sep="\n\n")
    if options.figure is not None:
        draw(results, options.figure)


if __name__ == "__main__":
    main()
