"""Training steps per CPU second: ours beside Stable-Baselines3's A2C, same networks and environments, in one run.

Both train RM on the map environment: the agent sees its position and the machine's state. Also the profile of an NRM
run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro

from benchmarks.common import report
from nrm.agents import METHODS, Trainer, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, MinecraftConfig, MinecraftEnv, TaskEnv
from nrm.machines import Alphabet, MooreMachine, Task


@dataclass(frozen=True)
class Config:
    """Measure speed."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    task: int = 4
    """One of the paper's tasks."""
    steps: int = 40_000
    """Environment steps to train for, on each side."""
    num_envs: int = 16
    """Environments side by side."""


class StateInObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The machine's state, one-hot, beside the observation: a reward machine for agents of other libraries."""

    def __init__(self, env: TaskEnv[Any, Any]) -> None:
        super().__init__(env)
        self.states = env.machine.states
        self.observation_space = gymnasium.spaces.Box(-1.0, 4.0, (2 + self.states,), np.float32)

    def _joined(self, observation: Any, info: dict[str, Any]) -> Any:
        return np.concatenate([observation, np.eye(self.states, dtype=np.float32)[info["machine_state"]]])

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(**options)
        return self._joined(observation, info), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._joined(observation, info), reward, terminated, truncated, info


def sb3_seconds(machine: MooreMachine, num_envs: int, steps: int) -> float:
    """CPU seconds of Stable-Baselines3 for so many steps."""
    from stable_baselines3 import A2C
    from stable_baselines3.common.vec_env import DummyVecEnv

    agent, hidden = A2CConfig(), 120
    vector = DummyVecEnv([lambda: StateInObservation(TaskEnv(MinecraftEnv(), machine))] * num_envs)
    model = A2C(
        "MlpPolicy",
        vector,
        n_steps=agent.num_steps,
        learning_rate=agent.learning_rate,
        gamma=agent.gamma,
        gae_lambda=agent.gae_lambda,
        vf_coef=0.5,
        ent_coef=agent.ent_coef,
        use_rms_prop=False,
        policy_kwargs={"net_arch": [hidden, hidden], "activation_fn": torch.nn.Tanh},
        device="cpu",
        seed=0,
    )
    began = time.process_time()
    model.learn(steps)
    return time.process_time() - began


def trainer(machine: MooreMachine, method: str, num_envs: int) -> Trainer:
    """One of our runs."""
    return new_trainer(BatchedTasks(MinecraftConfig(), machine, num_envs), method, episodes=10**9)


def our_seconds(run: Trainer, steps: int) -> float:
    """CPU seconds of ours for so many steps."""
    began = time.process_time()
    while run.steps < steps:
        run.update()
    return time.process_time() - began


def shares(run: Trainer, steps: int) -> dict[str, float]:
    """CPU seconds that an NRM run spends acting, learning and grounding."""
    spent = {"acting": 0.0, "learning": 0.0, "grounding": 0.0}

    def watched(owner: Any, name: str, part: str) -> None:
        genuine = getattr(owner, name)

        def call(*args: Any) -> Any:
            began = time.process_time()
            result = genuine(*args)
            spent[part] += time.process_time() - began
            return result

        setattr(owner, name, call)

    watched(run.learner, "collect", "acting")
    watched(run.learner, "learn", "learning")
    watched(run.grounding, "add", "grounding")
    spent["all"] = our_seconds(run, steps)
    spent["recording"] = spent["all"] - spent["acting"] - spent["learning"] - spent["grounding"]
    return spent


def main(config: Config) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    machine = Task.from_paper(config.task, Alphabet.exclusive(MINECRAFT_SYMBOLS)).machine()
    theirs = config.steps / sb3_seconds(machine, config.num_envs, config.steps)
    rows: list[tuple[object, ...]] = [("Stable-Baselines3 A2C, RM", theirs, 1.0)]
    for method in METHODS:
        ours = config.steps / our_seconds(trainer(machine, method, config.num_envs), config.steps)
        rows.append((f"ours, {METHODS[method].label}", ours, ours / theirs))
    ours = 4 * config.steps / our_seconds(trainer(machine, "rm", 64), 4 * config.steps)
    rows.append(("ours, RM, 64 environments", ours, ours / theirs))
    headings = (f"training on the map, {config.num_envs} environments", "steps per CPU second", "ratio")
    report("Speed of training", headings, rows, config.out, "training_speed")
    spent = shares(trainer(machine, "nrm", config.num_envs), config.steps)
    parts = [(name, spent[name], f"{spent[name] / spent['all']:.0%}") for name in spent if name != "all"]
    report("Where an NRM run spends its time", ("part", "seconds", "share"), parts, config.out, "training_profile")


if __name__ == "__main__":
    main(tyro.cli(Config))
