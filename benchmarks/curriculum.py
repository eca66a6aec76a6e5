"""Many tasks at once, or from short to long by success (`--tasks.curriculum none|success`), in LetterWorld.

    python -m benchmarks.curriculum --out out/bench --seeds 50 51

Prints the success on 20 drawn tasks that are not among those trained on, every 50,000 steps, and the ratio of CPU
seconds. Sampled actions, and no reward is read.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

from nrm.agents.evaluation import evaluate
from nrm.families import draw_pool
from nrm.files import make_folder, write_json
from nrm.runs import choose_run

EVERY = 50_000
EPISODES = 400


def run(method: str, seed: int, steps: int, tasks: dict[str, object]) -> dict[str, object]:
    """One run: success on unseen tasks as it goes, and when tasks of each length came in."""
    config = choose_run(None, "letter", method, seed, tasks="mixture", steps=steps, settings={"tasks": tasks})
    trainer = config.build_trainer()
    assert trainer.tasks is not None
    known = trainer.tasks
    unseen = draw_pool("mixture", known.alphabet, 20, seed + 7, without=known.machines, most_states=30)
    curve: list[tuple[int, float]] = []
    cpu, asked = 0.0, EVERY
    while not trainer.done:
        began = time.process_time()
        trainer.update()
        cpu += time.process_time() - began
        if trainer.steps >= asked:
            asked += EVERY
            world = config.build_world(200, unseen)
            found = evaluate(trainer, world, EPISODES, 1234, greedy=False, belief="open")
            curve.append((trainer.steps, round(found.success_rate, 3)))
    choices = [] if trainer.chooser is None else [(one.episode, one.longest) for one in trainer.chooser.choices]
    return {"seed": seed, "tasks": tasks, "cpu": round(cpu, 1), "curve": curve, "longest": choices}


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--method", default="nrm")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", nargs="+", type=int, default=[50, 51])
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for seed in options.seeds:
        pair = [run(options.method, seed, options.steps, {"curriculum": kind}) for kind in ("none", "success")]
        for one in pair:
            print(f"seed {seed}  {one['tasks']}: {one['curve']}, {one['cpu']} CPU s", flush=True)
        even, ordered = (float(str(one["cpu"])) for one in pair)
        print(f"seed {seed}  CPU seconds with the curriculum / without: {ordered / even:.2f}", flush=True)
        rows += pair
    write_json(make_folder(options.out) / "curriculum.json", rows)


if __name__ == "__main__":
    main()
