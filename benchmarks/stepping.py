"""Steps per second of the batched grid environment, beside the same environments one by one under Gymnasium.

Both do all that a task needs: move, label, run the machine, pay, end and begin episodes, and show observations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

import nrm
from benchmarks.common import report
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, GymVectorEnv, MinecraftConfig, MinecraftEnv, TaskEnv

COUNT = 16
ROUNDS = 5
ENVS = {
    "map": MinecraftConfig(),
    "map, slip 0.1": MinecraftConfig(slip=0.1),
    "image": MinecraftConfig(observation="image"),
    "image, random start": MinecraftConfig(observation="image", start="random"),
    "image, layout drawn every episode": MinecraftConfig(observation="image", layout="episode"),
}


def seconds_per_step(step: Callable[[Tensor], object], steps: int) -> float:
    """The least mean time of a step over some rounds."""
    actions = torch.randint(4, (steps, COUNT), generator=torch.Generator().manual_seed(0))
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for action in actions:
            step(action)
        best = min(best, (time.perf_counter() - start) / steps)
    return best


def measure(config: MinecraftConfig, machine: nrm.MooreMachine) -> tuple[float, float]:
    """Seconds for a step of all environments: batched, and under Gymnasium's vector of environments."""
    batched = BatchedTasks(config, machine, COUNT)
    batched.reset(0)
    single = GymVectorEnv.of(lambda: TaskEnv(MinecraftEnv(config), machine), COUNT)
    single.reset(0)
    return seconds_per_step(batched.step, 2000), seconds_per_step(single.step, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    out = parser.parse_args().out
    torch.set_num_threads(1)
    machine = nrm.compile(nrm.logic.paper_task(1).formula(MINECRAFT_SYMBOLS), MINECRAFT_SYMBOLS)
    rows = []
    for name, config in ENVS.items():
        batched, single = measure(config, machine)
        rows.append([name, batched * 1e6, COUNT / batched, COUNT / single, single / batched])
    headings = ["env", "µs for a step of 16", "steps/s, batched", "steps/s, Gymnasium", "ratio"]
    report(f"{COUNT} environments with task 1, one core", headings, rows, out, "stepping")


if __name__ == "__main__":
    main()
