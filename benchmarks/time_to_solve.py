"""CPU seconds until a task is solved for good, on the map: ours beside Stable-Baselines3's A2C and PPO.

A run is solved where the mean return of the last 100 episodes reaches 99 % of the best and stays there for 1,000 more.
Theirs are given the true state of the machine, as our RM is; ours are NRM, which learns the symbols, and RNN, which is
told nothing, too. Every agent runs with as many environments as suit it best: `--choose` finds that on a seed of its
own. Results are kept in files, one a run: the same command goes on where it was interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro

from benchmarks.common import report
from benchmarks.training_speed import StateInObservation
from nrm.agents import METHODS, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, MinecraftConfig, MinecraftEnv, TaskEnv
from nrm.files import read_json, write_json
from nrm.machines import Alphabet, MooreMachine, Task

WINDOW, GOAL, STAYS = 100, 0.99, 1000
"""Episodes of the mean, the share of the best that it must reach, and for how many more episodes."""
AGENTS = ("rm", "nrm", "rnn", "sb3-a2c", "sb3-ppo")
LABELS = {"sb3-a2c": "SB3 A2C, true state", "sb3-ppo": "SB3 PPO, true state"}
BEST = 100.0
"""The best return of every task."""


@dataclass(frozen=True)
class Config:
    """Measure how long agents take."""

    out: Path = Path("out/time_to_solve")
    """Where runs and tables go."""
    agents: tuple[str, ...] = AGENTS
    """Which agents."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    seeds: tuple[int, ...] = (500, 501, 502)
    """Seeds that are reported."""
    num_envs: tuple[int, ...] | None = None
    """Environments of each of the agents; when absent, as `--choose` found them in the same folder, else 16."""
    choose: bool = False
    """Find the best number of environments instead, on seed 100."""
    candidates: tuple[int, ...] = (4, 16, 64)
    """Numbers of environments to choose from."""
    choose_tasks: tuple[int, ...] = (4, 8)
    """Tasks to choose on."""
    episodes: int = 10_000
    """Episodes after which a run counts as not solved."""


class Watch:
    """Episodes as they end, and what had been spent by then."""

    def __init__(self, episodes: int) -> None:
        self.began = time.process_time()
        self.returns: list[float] = []
        self.spent: list[float] = []
        self._most = episodes
        self._low = -1
        """The last episode at which the mean was too low."""

    def add(self, returns: Sequence[float]) -> None:
        """Take in episodes that have just ended."""
        for value in returns:
            self.returns.append(value)
            self.spent.append(time.process_time() - self.began)
            if len(self.returns) < WINDOW or np.mean(self.returns[-WINDOW:]) < GOAL * BEST:
                self._low = len(self.returns) - 1

    @property
    def done(self) -> bool:
        """Whether the run is solved for good, or has had its episodes."""
        return len(self.returns) >= self._most or len(self.returns) - 1 - self._low >= STAYS

    def result(self) -> dict[str, Any]:
        """Seconds and episodes up to the first of the good means; None where the run was not solved."""
        solved = len(self.returns) - 1 - self._low >= STAYS
        place = self._low + 1
        return {
            "seconds": self.spent[place] if solved else None,
            "episodes": place + 1 if solved else None,
            "all_seconds": self.spent[-1],
            "last": float(np.mean(self.returns[-WINDOW:])),
        }


def ours(machine: MooreMachine, method: str, count: int, seed: int, episodes: int) -> dict[str, Any]:
    """One run of ours."""
    watch = Watch(episodes)
    env = BatchedTasks(MinecraftConfig(), machine, count)
    trainer = new_trainer(env, method, episodes=episodes, seed=seed)
    while not watch.done:
        trainer.update()
        watch.add(trainer.history.returns[len(watch.returns) :])
    return watch.result()


def theirs(machine: MooreMachine, name: str, count: int, seed: int, episodes: int) -> dict[str, Any]:
    """One run of Stable-Baselines3, with our networks, discount and scale of rewards."""
    from stable_baselines3 import A2C, PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    watch = Watch(episodes)
    ours_config, hidden = A2CConfig(), 120

    class Watching(BaseCallback):
        def _on_step(self) -> bool:
            infos = [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
            watch.add([value / ours_config.reward_scale for value in infos])
            return not watch.done

    def make() -> gymnasium.Env[Any, Any]:
        told = StateInObservation(TaskEnv(MinecraftEnv(), machine))
        scaled = gymnasium.wrappers.TransformReward(told, lambda reward: float(reward) * ours_config.reward_scale)
        return Monitor(scaled)

    common: dict[str, Any] = {
        "learning_rate": ours_config.learning_rate,
        "gamma": ours_config.gamma,
        "gae_lambda": ours_config.gae_lambda,
        "vf_coef": 0.5,
        "ent_coef": 0.01,
        "policy_kwargs": {"net_arch": [hidden, hidden], "activation_fn": torch.nn.Tanh},
        "device": "cpu",
        "seed": seed,
    }
    vector = DummyVecEnv([make] * count)
    if name == "sb3-a2c":
        model: Any = A2C("MlpPolicy", vector, n_steps=ours_config.num_steps, use_rms_prop=False, **common)
    else:
        model = PPO("MlpPolicy", vector, n_steps=max(16, 2048 // count), batch_size=128, **common)
    model.learn(10**9, callback=Watching())
    return watch.result()


def num_envs(config: Config) -> list[int]:
    """The environments of each agent: those with which it solved most tasks of `choose_tasks`, then the fastest."""
    if config.num_envs is not None:
        return list(config.num_envs)
    best = []
    for agent in config.agents:
        found = []
        for count in config.candidates:
            paths = [_path(config, agent, count, task, 100) for task in config.choose_tasks]
            seconds = [read_json(path)["seconds"] for path in paths if path.exists()]
            solved = [value for value in seconds if value is not None]
            if solved:
                found.append((-len(solved), sum(solved), count))
        best.append(min(found)[2] if found else 16)
    return best


def runs(config: Config) -> Iterator[tuple[str, int, int, int]]:
    """Agent, environments, task and seed of every run."""
    for task in config.choose_tasks if config.choose else config.tasks:
        for seed in (100,) if config.choose else config.seeds:
            for agent, chosen in zip(config.agents, num_envs(config), strict=True):
                for count in config.candidates if config.choose else (chosen,):
                    yield agent, count, task, seed


def result(config: Config, agent: str, count: int, task: int, seed: int) -> dict[str, Any]:
    """What became of a run, now or before."""
    path = _path(config, agent, count, task, seed)
    if path.exists():
        found: dict[str, Any] = read_json(path)
        return found
    machine = Task.from_paper(task, Alphabet.exclusive(MINECRAFT_SYMBOLS)).machine()
    run = theirs if agent.startswith("sb3") else ours
    found = run(machine, agent, count, seed, config.episodes)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found)
    print(agent, count, f"task {task}", f"seed {seed}", found, flush=True)
    return found


def _path(config: Config, agent: str, count: int, task: int, seed: int) -> Path:
    return config.out / "runs" / f"{agent}-{count}-{task}-{seed}.json"


def main(config: Config) -> None:
    """Run, and print tables."""
    torch.set_num_threads(1)
    found = {run: result(config, *run) for run in runs(config)}
    names = {agent: LABELS.get(agent) or f"ours, {METHODS[agent].label}" for agent in config.agents}
    if config.choose:
        rows = []
        for agent in config.agents:
            cells: list[object] = [names[agent]]
            for count in config.candidates:
                chosen = [value for (who, many, *_), value in found.items() if (who, many) == (agent, count)]
                solved = [value["seconds"] for value in chosen if value["seconds"] is not None]
                cells.append(f"{np.mean(solved):.1f}" if len(solved) == len(chosen) else f"{len(solved)} solved")
            rows.append(cells)
        headings = ["agent", *(f"{count} environments" for count in config.candidates)]
        report("CPU seconds until solved, seed 100", headings, rows, config.out, "num_envs")
        return
    rows = []
    for task in config.tasks:
        row: list[object] = [str(task)]
        for agent in config.agents:
            values = [value["seconds"] for (who, _, which, _), value in found.items() if (who, which) == (agent, task)]
            solved = [value for value in values if value is not None]
            median = f"{np.median([value if value is not None else np.inf for value in values]):.1f}"
            row.append(median if len(solved) == len(values) else f"{median} ({len(solved)}/{len(values)})")
        rows.append(row)
    title = f"CPU seconds until {GOAL:.0%} for good, medians of {len(config.seeds)} seeds"
    named = [f"{names[agent]} ({count})" for agent, count in zip(config.agents, num_envs(config), strict=True)]
    report(title, ["task", *named], rows, config.out, "time_to_solve")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
