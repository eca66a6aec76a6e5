"""Infinite tasks, zero-shot: rounds of agents that were trained on finite ones, and whether their beliefs drift.

`python -m benchmarks.infinite_tasks` evaluates pretrained agents without reading rewards, and writes
`benchmarks/results/infinite-tasks.json`. Published figures are accepting visits of automata that were made in another
way, so that a visit there need not be a round.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro

from nrm.agents import evaluate, play
from nrm.files import write_text
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


@dataclass(frozen=True)
class Config:
    """Evaluate pretrained agents on infinite tasks."""

    seeds: tuple[int, ...] = (101, 102, 103, 104, 105)
    """Of the episodes."""
    episodes: int = 100
    """With each seed."""
    drift_steps: int = 1000
    """Steps over which beliefs are followed."""
    out: Path = Path("benchmarks/results/infinite-tasks.json")
    """Where the figures go."""


def counts(case: Case, config: Config) -> dict[str, Any]:
    """Visits, rounds and violations, by seed and on average."""
    run = load_run(case.agent)
    made = run.config
    tasks = Rounds.of_task(made.task_named(f"ltl: {case.formula}"))
    env = made.build_env(config.episodes, tasks)
    found = [evaluate(run.trainer, env, config.episodes, seed, greedy=False).rounds for seed in config.seeds]
    mean = np.mean([one for one in found if one is not None], axis=0).round(3).tolist()
    rounds = [round(one.rounds, 3) for one in found if one is not None]
    row = {"agent": case.agent, "formula": case.formula, "steps": made.settings["env"].steps}
    return {
        **row,
        **dict(zip(("accepting_visits", "rounds", "violation_rate"), mean, strict=True)),
        "by_seed": rounds,
        "published": case.published,
    }


def drift(agent: str, belief: Belief, config: Config, count: int = 50) -> dict[str, Any]:
    """How often the most probable state is the true one, and the symbol read, in each hundred steps of an episode."""
    run = load_run(agent)
    made = run.config.changed(env=replace(run.config.settings["env"], steps=config.drift_steps))
    env = made.build_env(count, Rounds.of_task(made.task_named(f"ltl: {DRIFT[agent]}")))
    states, symbols = [], []
    for played in play(run.trainer, env, config.seeds[0], greedy=False, belief=belief):
        assert played.belief is not None
        assert played.said is not None
        states.append(float((played.belief.argmax(-1) == played.state).float().mean()))
        symbols.append(float((played.said.argmax(-1) == played.label).float().mean()))
        if len(states) == config.drift_steps:
            break
    row = {"agent": agent, "formula": DRIFT[agent], "belief": belief}
    return {**row, "states": _hundreds(states), "symbols": _hundreds(symbols)}


def _hundreds(values: Sequence[float]) -> list[float]:
    return [round(float(np.mean(values[start : start + 100])), 4) for start in range(0, len(values), 100)]


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for case in CASES:
        rows.append(counts(case, config))
        print(rows[-1], flush=True)
    for agent in DRIFT:
        for belief in ("open-loop", "argmax"):
            rows.append(drift(agent, belief, config))
            print(rows[-1], flush=True)
    about = {"name": "infinite-tasks", "command": "python -m benchmarks.infinite_tasks", "seeds": list(config.seeds)}
    write_text(config.out, json.dumps({**about, "rows": rows, "summary": summarised(rows)}, indent=1) + "\n")


def summarised(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The figures that the documentation names."""
    names = ("steps", "published", "accepting_visits", "rounds", "violation_rate")
    counted = {row["formula"]: {name: row[name] for name in names} for row in rows if "rounds" in row}
    followed = {f"{row['agent']}, {row['belief']}": row["states"] for row in rows if "states" in row}
    places = {"first": 0, "middle": 4, "last": -1}
    drifts = {name: {said: states[place] for said, place in places.items()} for name, states in followed.items()}
    return {**counted, **drifts}


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
