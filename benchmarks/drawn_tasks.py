"""One agent for every task from images of layouts that are drawn anew: trained on random tasks, tested on others.

    python -m benchmarks.drawn_tasks --out out/bench --methods nrm rm

The paper's eight tasks are held out of training, and copies of them with other items too (--equal-only: the eight
alone). So are 200 sequences of four to six steps, half of them with something to avoid at each step; those of training
have three at most. Tests draw actions, on fresh layouts, and read no reward. Runs that are done are not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks.results import Benchmark, Headline, Row, complete, show
from benchmarks.unseen import all_runs, curve, outcomes
from nrm.envs.counter_rng import words
from nrm.envs.grids import next_cells
from nrm.envs.minecraft.env import MinecraftConfig, MinecraftDynamics, begin
from nrm.machines import MooreMachine, TaskSet
from nrm.runs import RunConfig, choose_run
from nrm.samplers import TemplateSampler, sample_tasks

EIGHT = tuple("12345678")
LONGER = 200


@dataclass(frozen=True)
class Config:
    """Train and test."""

    out: Path = Path("out/bench")
    """Where results go."""
    methods: tuple[str, ...] = ("nrm", "rm")
    """What is compared."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Seeds of training; settings were chosen on seeds 100, 101, 500 to 504 and 510 to 514."""
    steps: int = 400_000
    """Steps of a run."""
    size: int = 4
    """Cells along a side."""
    items: tuple[str, ...] = ()
    """Names of the items, the paper's four first: pickaxe lava door gem and others. The paper's alone when absent."""
    pixels: int | None = None
    """Pixels along a side of an image; 64, the environment's own, when absent, which on 4x4 cells is 16 a cell."""
    every: int = 100_000
    """Steps between tests."""
    episodes: int = 500
    """Episodes of each of the paper's tasks at the end; a longer task gets a tenth."""
    equal_only: bool = False
    """Hold out the paper's tasks alone: copies of them with other items may be trained on."""


def chosen(config: Config, method: str, seed: int) -> RunConfig:
    """One run: many tasks, without the paper's."""
    given = {"size": config.size, "items": config.items, "pixels": config.pixels}
    env = {name: value for name, value in given.items() if value}
    settings: dict[str, dict[str, Any]] = {"env": env, "tasks": {"held_out": EIGHT}}
    settings["tasks"]["up_to_renaming"] = not config.equal_only
    return choose_run(
        None, "image-episode", method, seed, tasks="mixture", total_timesteps=config.steps, settings=settings
    )


def longer_tasks(run: RunConfig, seed: int) -> TaskSet:
    """Sequences that are longer than those of training."""
    families = (
        TemplateSampler("reach", min_steps=4, max_steps=6),
        TemplateSampler("reach-avoid", min_steps=4, max_steps=6, max_avoided=1),
    )
    assert run.pool is not None
    pools = [sample_tasks(one, run.alphabet, LONGER // 2, seed, without=run.pool.machines) for one in families]
    machines, names = (sum((getattr(pool, part) for pool in pools), ()) for part in ("machines", "names"))
    return TaskSet(machines, names)


def measured(config: Config, method: str, seed: int) -> dict[str, Any]:
    """Train one agent, and test it."""
    run = chosen(config, method, seed)
    eight = TaskSet.of([run.task_named(name) for name in EIGHT])
    trainer, found = curve(run, eight, config.every, config.episodes, 90_000 + 100 * seed, f"{method} {seed}")
    longer = longer_tasks(run, 77_000 + seed)
    results = outcomes(run, trainer, longer, max(1, config.episodes // 10), 91_000 + 1000 * seed)
    return found | {"method": method, "seed": seed, "longer": [one.success for one in results]}


def possible(env: MinecraftConfig, machine: MooreMachine, layouts: int = 20_000) -> float:
    """The share of drawn layouts in which a task can be done at all: forbidden items may wall others off."""
    drawn = begin(env, words(range(layouts)))
    letters = MinecraftDynamics(env).contents_letters(machine.alphabet)[drawn.contents]  # (layouts, cells)
    moves, cells = next_cells(*env.shape), env.cells
    numbers = np.arange(layouts)
    # What can be reached, (layouts, cells, states): moves are taken until nothing is new.
    reached = np.zeros((layouts, cells, machine.states), dtype=bool)
    reached[numbers, drawn.start, machine.initial] = True
    while True:
        before = reached.copy()
        for cell in range(cells):
            for there in set(moves[cell].tolist()) - {cell}:
                for state in np.flatnonzero(~machine.accepting):
                    following = machine.transitions[state, letters[:, there]]
                    reached[numbers, there, following] |= reached[:, cell, state]
        if (before == reached).all():
            return float(reached[:, :, machine.accepting].any((1, 2)).mean())


def named_env(config: Config) -> str:
    """The environment and what is held out, for the names of files."""
    items = f"-{len(config.items)}-items" if config.items else ""
    pixels = f"-{config.pixels}-pixels" if config.pixels else ""
    return f"{config.size}x{config.size}{items}{pixels}-{'equal' if config.equal_only else 'renamed'}"


def row(config: Config, method: str, seed: int) -> Row:
    """One run as numbers; its curve stays in a file below `config.out`."""
    name = f"{method}-{named_env(config)}-{seed}-{config.steps}"
    (found,) = all_runs(config.out / "drawn_tasks", {name: (config, method, seed)}, measured)
    last = found["curve"][-1]
    longer = {"longer": float(np.mean(found["longer"])), "symbols_right_after": found["symbols_right_after"]}
    what = {"method": method, "seed": seed, "frames": found["steps"], "cpu_seconds": last["cpu"]}
    return {**what, **by_task([success for success, _ in last["formulas"]]), **longer}


def bound(config: Config) -> Row:
    """What the best agent could reach: the share of layouts in which each of the paper's tasks can be done at all."""
    run = chosen(config, "rm", 0)
    best = [possible(run.settings["env"], run.task_named(name).machine()) for name in EIGHT]
    return {"method": "possible", **by_task(best)}


def by_task(success: Sequence[float]) -> Row:
    """Success on the paper's tasks, and their mean."""
    return {"success": float(np.mean(success)), **dict(zip(TASKS, success, strict=True))}


def run(kind: str, *given: Any) -> Row:
    """One row."""
    return row(*given) if kind == "run" else bound(*given)


def jobs(config: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every method and seed, and what is possible."""
    env = named_env(config)
    runs = product(config.methods, seeds)
    found = {f"{env} {method} {seed} {config.steps}": ("run", config, method, seed) for method, seed in runs}
    return {f"{env} possible": ("bound", config), **found}


TASKS = tuple(f"task {number}" for number in EIGHT)
COMMAND = "python -m benchmarks.headline drawn-tasks"
SCORES = ("success", *TASKS, "longer", "symbols_right_after", "frames", "cpu_seconds")
HEADLINE = Headline("drawn-tasks", COMMAND, SCORES)
BENCHMARKS = {"drawn-tasks": Benchmark(HEADLINE, partial(jobs, Config()), run)}


def main(config: Config) -> None:
    """Train, test and print."""
    headline = HEADLINE._replace(name=f"drawn-tasks-{named_env(config)}")
    show(complete(headline, jobs(config, config.seeds), run, folder=config.out), config.out)


if __name__ == "__main__":
    main(tyro.cli(Config))
