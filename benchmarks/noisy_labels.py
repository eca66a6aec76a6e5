"""Labelling functions that are sometimes wrong: gold mining.

    python -m benchmarks.headline noisy-labels

Two of six cells of ore hold gold, elsewhere in every episode. A detector takes each symbol for another one with the
probability `noise`; what it says of a cell stays the same throughout an episode. Each agent is PPO with one
set of settings, is trained for 40,000 steps on true rewards, and is tested on 500 fresh episodes without rewards.
Settings were chosen on seed 5000.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product

from benchmarks.common import processor_seconds
from benchmarks.results import Benchmark, Headline, Jobs, Row
from nrm.agents import evaluate
from nrm.runs import choose_run

METHODS = ("rm", "naive", "independent-belief", "nrm", "state-prediction", "rnn")
NOISE = (0.0, 0.1, 0.2, 0.3)
SETTINGS: dict[str, dict[str, object]] = {
    "algorithm": {"learning_rate": 3e-3},
    "grounding": {"belief": "open-loop", "every": 240, "keep": 720, "restarts": 4},
}


def jobs(seeds: Sequence[int]) -> Jobs:
    """A run for each seed, noise and method; RM sees no detector, so that one noise stands for all."""
    every = product(seeds, NOISE, METHODS)
    wanted = [(method, noise, seed) for seed, noise, method in every if method != "rm" or not noise]
    return {f"{method} {noise} {seed}": (method, noise, seed) for method, noise, seed in wanted}


def measured(method: str, noise: float, seed: int) -> Row:
    """Train one agent and test it with sampled actions.

    `states`: the share of test steps after which the most probable state of the memory is the true one.
    """
    labels = json.dumps({"confusion": noise, "persistent": True})
    settings = {**SETTINGS, "env": {"gold": 2, "steps": 50, "labels": labels}}
    run = choose_run(
        None, "gold-mining", method, seed, algorithm="ppo", total_timesteps=40_000, settings=_used(settings, method)
    )
    began = processor_seconds()
    trainer = run.build_trainer()
    trainer.run()
    spent = processor_seconds() - began
    tested = evaluate(trainer, run.build_env(50), 500, 12345, greedy=False)
    return {
        "method": method,
        "noise": noise,
        "seed": seed,
        "success": tested.success_rate,
        "return": tested.mean_return,
        "states": tested.state_accuracy,
        "cpu_seconds": spent,
    }


def _used(settings: dict[str, dict[str, object]], method: str) -> dict[str, dict[str, object]]:
    """The sections that a method has."""
    return {name: values for name, values in settings.items() if name != "grounding" or method == "nrm"}


SCORES = ("success", "return", "states", "cpu_seconds")
HEADLINE = Headline("noisy-labels", "python -m benchmarks.headline noisy-labels", SCORES, ("noise", "method"))
BENCHMARKS = {"noisy-labels": Benchmark(HEADLINE, jobs, measured, seeds=(4000, 4001, 4002, 4003))}
