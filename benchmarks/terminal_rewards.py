"""Rewards at the end of an episode only: RM and NRM on the paper's tasks, beside rewards at every step.

    python -m benchmarks.headline terminal-rewards

Each agent is trained for 3,000 episodes on the map, and tested on 200 fresh ones without rewards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from benchmarks.common import processor_seconds
from benchmarks.results import Benchmark, Headline, Jobs, Row
from nrm.agents import evaluate
from nrm.runs import choose_run

REWARDS = ("distance", "terminal")


def jobs(seeds: Sequence[int]) -> Jobs:
    """A run for each seed, task, method and reward."""
    every = product(seeds, range(1, 9), ("rm", "nrm"), REWARDS)
    return {f"{task} {method} {reward} {seed}": (task, method, reward, seed) for seed, task, method, reward in every}


def measured(task: int, method: str, reward: str, seed: int) -> Row:
    """Train one agent and test it with sampled actions."""
    run = choose_run(str(task), "map", method, seed, total_episodes=3000, reward=reward)
    began = processor_seconds()
    trainer = run.build_trainer()
    trainer.run()
    spent = processor_seconds() - began
    tested = evaluate(trainer, run.build_env(50), 200, 12345, greedy=False)
    returns = trainer.history.returns
    return {
        "task": task,
        "method": method,
        "reward": reward,
        "seed": seed,
        "test": tested.mean_return,
        "area": sum(returns) / len(returns),
        "grounding": tested.grounding and tested.grounding.modulo_shortcuts,
        "updates": None if trainer.grounding is None else trainer.grounding.updates,
        "cpu_seconds": spent,
    }


HEADLINE = Headline(
    "terminal-rewards",
    "python -m benchmarks.headline terminal-rewards",
    ("test", "area", "grounding", "updates", "cpu_seconds"),
    ("task", "method", "reward"),
)
BENCHMARKS = {"terminal-rewards": Benchmark(HEADLINE, jobs, measured)}
