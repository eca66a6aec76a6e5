"""The settings of RNN in LetterWorld, chosen on formulas and seeds that are reported nowhere else.

    python -m benchmarks.headline rnn-tuning

One run for each variant and seed: the success on 40 unseen formulas of the distribution that is trained on. The
results file also has rows of other ways to give RNN its task, which are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.common import processor_seconds
from benchmarks.letter_world import FORMULAS, PATTERNS, configured
from benchmarks.results import Benchmark, Headline
from nrm.agents import evaluate
from nrm.machines import TaskSet
from nrm.samplers import sample_tasks

STEPS, EPISODES = 150_000, 2_000
MANY: dict[str, Any] = {"update_epochs": 3, "minibatch_size": 512}
VARIANTS: dict[str, tuple[int, dict[str, Any]]] = {
    "64 environments": (64, {"algorithm": MANY}),
    "128 units": (64, {"algorithm": MANY, "recurrent": {"size": 128}}),
    "learning rate 0.002": (64, {"algorithm": {**MANY, "learning_rate": 0.002}}),
    "entropy 0.02": (64, {"algorithm": {**MANY, "ent_coef": 0.02}}),
    "rollouts of 64": (32, {"algorithm": {**MANY, "num_steps": 64}}),
}
"""Environments and changes of the defaults."""


def run(variant: str, seed: int, steps: int, episodes: int) -> dict[str, Any]:
    """One row: an agent with changed settings on formulas that it was not trained on."""
    began = processor_seconds()
    kept = {"held_out": (*FORMULAS, *PATTERNS), "up_to_renaming": True}
    config = configured("rnn", seed, steps, kept, tuned=VARIANTS[variant])
    trainer = config.build_trainer()
    trainer.run()
    cpu = processor_seconds() - began
    without = (*trainer.tasks.machines, *TaskSet.of(FORMULAS, config.alphabet).machines)
    unseen = sample_tasks("mixture", config.alphabet, 40, 55_000, without=without)
    found = evaluate(trainer, config.build_env(200, unseen), episodes, 66_000 + seed, greedy=False)
    row = {"settings": variant, "given": "machine, attended to", "seed": seed, "frames": trainer.steps}
    return {**row, "cpu_seconds": cpu, "success": found.success_rate}


def jobs(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every variant and seed."""
    return {f"{name}-{seed}-{STEPS}-{EPISODES}": (name, seed, STEPS, EPISODES) for name in VARIANTS for seed in seeds}


COMMAND = "python -m benchmarks.headline rnn-tuning"
HEADLINE = Headline("rnn-tuning", COMMAND, ("success", "cpu_seconds"), ("given", "settings", "frames"))
BENCHMARKS = {"rnn-tuning": Benchmark(HEADLINE, jobs, run, (101, 107))}
