"""What a grounder from another task is worth: episodes until the return stays high, with it and without.

For each pair of tasks a run on the first one is trained; then runs on the second one begin with its grounder, which
learns on or stays as it is, beside runs that begin with nothing (NRM) and runs that are told the symbols (RM).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

import nrm
from benchmarks.common import report
from nrm.files import write_json

ENOUGH = 95.0
"""The mean return of the last 100 episodes that counts as learned."""
WINDOW = 100


@dataclass(frozen=True)
class Config:
    """The tasks, by pairs of source and target, and the seeds."""

    pairs: tuple[str, ...] = ("4-7", "4-8", "1-7", "4-2", "4-5", "2-4")
    """Source and target by their numbers in the paper."""
    reward: str = "distance"
    """Of the targets: three_value pays nothing on the way."""
    beliefs: tuple[str, ...] = ("filtered", "open-loop")
    """Whether beliefs read rewards, or follow observations alone."""
    seeds: tuple[int, ...] = (500, 501, 502, 503, 504)
    env: str = "map"
    episodes: int = 2_000
    """Of each run on a target."""
    source_episodes: int = 1_500
    out: Path = Path("out/bench")


def reached(returns: list[float]) -> int | None:
    """The first episode at which the mean return of the last 100 is high enough; None where it never is."""
    means = np.convolve(returns, np.ones(WINDOW) / WINDOW, mode="valid")
    high = np.flatnonzero(means >= ENOUGH)
    return int(high[0]) + WINDOW if len(high) else None


def run(config: Config, folder: Path, task: int, seed: int, method: str, **grounding: Any) -> dict[str, Any]:
    """Train one run in a folder, unless it is there."""
    done = folder / "measured.json"
    if done.exists():
        found: dict[str, Any] = json.loads(done.read_text())
        return found
    source = grounding.pop("source", False)
    settings = {"grounding": grounding} if method == "nrm" else {}
    wanted = nrm.Task.from_paper(task, nrm.Alphabet.exclusive(nrm.envs.MINECRAFT_SYMBOLS))
    wanted = replace(wanted, reward="distance" if source else config.reward)
    episodes = config.source_episodes if source else config.episodes
    chosen = nrm.choose_run(wanted, config.env, method, seed, total_episodes=episodes, settings=settings)
    place = nrm.runs.RunFolder(folder)
    place.begin(chosen)
    trainer = place.load()
    began = time.process_time()
    nrm.train(place, trainer)
    found = {
        "reached": reached(trainer.history.returns),
        "area": float(np.mean(trainer.history.returns[:500])),
        "first": trainer.history.accuracy[0][1:] if trainer.history.accuracy else None,
        "last": trainer.history.accuracy[-1][1:] if trainer.history.accuracy else None,
        "cpu": time.process_time() - began,
    }
    write_json(done, found)
    return found


def main(config: Config) -> None:
    """Train all, and print the table."""
    torch.set_num_threads(1)
    store = config.out / f"transfer-{config.env}"
    store.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = []
    for belief in config.beliefs:
        for pair in config.pairs:
            source, target = (int(part) for part in pair.split("-"))
            found: dict[str, list[dict[str, Any]]] = {}
            for seed in config.seeds:
                start = store / f"source-{source}-{seed}"
                run(config, start, source, seed, "nrm", source=True)
                kinds: dict[str, tuple[str, dict[str, Any]]] = {
                    "told the symbols (RM)": ("rm", {}),
                    "NRM from nothing": ("nrm", {"belief": belief}),
                    "NRM with a grounder": ("nrm", {"belief": belief, "initial": str(start)}),
                    "the same, frozen": ("frozen", {"belief": belief, "initial": str(start)}),
                }
                for name, (method, settings) in kinds.items():
                    given = "" if "initial" not in settings else f"-from{source}"
                    told = "" if method == "rm" else f"-{belief}"
                    place = store / f"{target}-{config.reward}-{method}{told}{given}-{seed}"
                    found.setdefault(name, []).append(run(config, place, target, seed, method, **settings))
            rows += [_row(pair, belief, name, runs) for name, runs in found.items()]
    headings = ("pair", "belief", "agent", "median", "episodes to 95", "first 500", "first names", "CPU s")
    title = f"Transfer in {config.env}, {config.reward} rewards, seeds {config.seeds[0]} to {config.seeds[-1]}"
    report(title, headings, rows, config.out, f"transfer-{config.env}-{config.reward}")


def _row(pair: str, belief: str, name: str, runs: list[dict[str, Any]]) -> list[object]:
    each = [one["reached"] for one in runs]
    median = float(np.median([np.inf if one is None else one for one in each]))
    first = [one["first"][0] for one in runs if one["first"]]
    return [
        pair.replace("-", " to "),
        belief,
        name,
        "never" if np.isinf(median) else int(median),
        ", ".join("never" if one is None else str(one) for one in each),
        float(np.mean([one["area"] for one in runs])),
        f"{np.mean(first):.0%}" if first else "",
        float(np.mean([one["cpu"] for one in runs])),
    ]


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
