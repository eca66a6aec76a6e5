"""One task seen as a state of its machine, or through the view of tasks (`--network.view state|task`).

    python -m benchmarks.task_view --out out/bench --seeds 500 501

Prints, for each task, the steps after which 90 of the last 100 episodes succeeded, seed by seed, and the ratio of their
means. Settings are the defaults; nothing was chosen for this comparison.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from nrm.agents import History
from nrm.files import make_folder, write_json
from nrm.runs import choose_run

CASES = {
    "map, F(pickaxe & F lava) & F gem": ("map", "F(pickaxe & F lava) & F gem", 60_000),
    "map, F pickaxe & F lava & F door & F gem": ("map", "F pickaxe & F lava & F door & F gem", 150_000),
    "letter, F(a & F(b & F(c & F(d & F e))))": ("letter", "F(a & F(b & F(c & F(d & F e))))", 100_000),
    "letter, F a & F b & F c & F d": ("letter", "F a & F b & F c & F d", 100_000),
}
"""Environment, task, and most steps."""


def solved_at(history: History) -> int | None:
    """Steps after which 90 of the last 100 episodes succeeded; None where they never did."""
    successes = np.cumsum([0, *history.successes])
    recent = successes[100:] - successes[:-100]
    found = np.flatnonzero(recent >= 90)
    return int(history.steps[found[0] + 99]) if len(found) else None


def run(env: str, task: str, steps: int, method: str, view: str, seed: int) -> int | None:
    """Train until it is solved, or for so many steps."""
    settings = {"network": {"view": view}}
    trainer = choose_run(task, env, method, seed, total_timesteps=steps, settings=settings).build_trainer()
    while not trainer.done and solved_at(trainer.history) is None:
        trainer.update()
    return solved_at(trainer.history)


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--methods", nargs="+", default=["rm"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[500, 501])
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for method in options.methods:
        for name, (env, task, steps) in CASES.items():
            found = {
                view: [run(env, task, steps, method, view, seed) for seed in options.seeds]
                for view in ("state", "task")
            }
            means = {
                view: float(np.mean([steps if one is None else one for one in each])) for view, each in found.items()
            }
            ratio = means["task"] / means["state"]
            rows.append({"method": method, "case": name, "seeds": options.seeds, **found, "ratio": ratio})
            print(f"{method}  {name}: state {found['state']}, task {found['task']}; task/state {ratio:.2f}", flush=True)
    write_json(make_folder(options.out) / "task_view.json", rows)


if __name__ == "__main__":
    main()
