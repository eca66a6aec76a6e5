"""Infinite tasks, zero-shot: rounds of agents that were trained on finite ones, and whether their beliefs drift.

    python -m benchmarks.headline infinite-tasks

Evaluates pretrained agents without reading rewards. Published figures are accepting visits of automata that were made
in another way, so that a visit there need not be a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.results import Benchmark, Headline, Jobs
from nrm.agents import evaluate, play
from nrm.machines import Rounds
from nrm.runs import load_run
from nrm.tracking import Belief


class Case(NamedTuple):
    """A formula that DeepLTL's authors test."""

    agent: str
    formula: str
    published: float
    """Accepting visits, mean of five seeds."""


CASES = (
    Case("letter", "GF a & GF b & GF c & GF d & G(!e & !f)", 3.05),
    Case("letter", "GF(e & (!a U f))", 17.8),
    Case("flat", "GF(blue & green) & GF(red & magenta)", 12.1),
    Case("flat", "GF red & GF yellow & GF orange & G !blue", 10.9),
    Case("flat", "GF(aqua & blue) & GF red & GF yellow & G !green", 6.98),
)
DRIFT = {"letter": "GF a & GF b & GF c & GF d", "flat": "GF red & GF yellow & GF orange"}
"""Tasks that cannot be violated, so that every episode lasts."""


EPISODES, DRIFT_STEPS = 100, 1000
"""Of a row, and the steps over which beliefs are followed."""


def jobs(seeds: Sequence[int]) -> Jobs:
    """A row for each seed and formula, and one for each agent and belief that is followed."""
    counted = {f"{number} {seed}": ("rounds", number, seed) for seed, number in product(seeds, range(len(CASES)))}
    followed = product(DRIFT, ("open-loop", "argmax"))
    return {**counted, **{f"{agent} {belief}": (agent, belief, seeds[0]) for agent, belief in followed}}


def run(what: str, which: Any, seed: int) -> dict[str, Any]:
    """One row: rounds of a formula, or the drift of an agent's belief."""
    torch.set_num_threads(1)
    return counts(CASES[which], seed) if what == "rounds" else drift(what, which, seed)


def counts(case: Case, seed: int) -> dict[str, Any]:
    """Visits, rounds and violations."""
    loaded = load_run(case.agent)
    made = loaded.config
    env = made.build_env(EPISODES, Rounds.of_task(made.task_named(f"ltl: {case.formula}")))
    found = evaluate(loaded.trainer, env, EPISODES, seed, greedy=False).rounds
    assert found is not None
    steps = made.settings["env"].steps
    row = {"task": case.formula, "agent": case.agent, "seed": seed, "steps": steps, "published": case.published}
    return {**row, **found._asdict()}


def drift(agent: str, belief: Belief, seed: int, count: int = 50) -> dict[str, Any]:
    """How often the most probable state is the true one, in each hundred steps of an episode."""
    loaded = load_run(agent)
    made = loaded.config.changed(env=replace(loaded.config.settings["env"], steps=DRIFT_STEPS))
    env = made.build_env(count, Rounds.of_task(made.task_named(f"ltl: {DRIFT[agent]}")))
    states: list[float] = []
    for played in play(loaded.trainer, env, seed, greedy=False, belief=belief):
        assert played.belief is not None
        states.append(float((played.belief.argmax(-1) == played.state).float().mean()))
        if len(states) == DRIFT_STEPS:
            break
    hundreds = np.reshape(states, (-1, 100)).mean(1).tolist()
    row = {"task": f"{agent}, {belief}", "agent": agent, "seed": seed, "formula": DRIFT[agent], "states": hundreds}
    return {**row, "first": hundreds[0], "fifth": hundreds[4], "tenth": hundreds[-1]}


SCORES = ("accepting_visits", "rounds", "violation_rate", "published", "steps", "first", "fifth", "tenth")
HEADLINE = Headline("infinite-tasks", "python -m benchmarks.headline infinite-tasks", SCORES, by=("task",))
BENCHMARKS = {"infinite-tasks": Benchmark(HEADLINE, jobs, run)}
