"""A robot in the plane: PPO of Stable-Baselines3 with a neural reward machine, whose callback has its defaults.

No two observations are equal, so borders between symbols are learned from samples. The task: the red disc, then the
green one, never the blue one. Shown: success with the true state (RM) and with learned symbols (NRM), CPU seconds, what
the callback decided, accuracy near borders and far from them, and a picture of the borders.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

import nrm
from nrm.envs import PlaneConfig, PlaneEnv
from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper

FORMULA = "F(red & F green) & G !blue"


@dataclass(frozen=True)
class Config:
    """Train a robot."""

    out: Path = Path("out/bench")
    """Where the table and the pictures go."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 500
    """The first of them; settings were chosen on seeds below 10."""
    steps: int = 40_000
    """Environment steps of each run."""
    environments: int = 8
    """Environments side by side."""
    observation: Literal["position", "lidar"] = "position"
    """What the robot sees."""
    methods: tuple[Literal["rm", "nrm"], ...] = ("rm", "nrm")
    """Which methods."""


class Trained(NamedTuple):
    """A run."""

    agent: Any
    model: Any
    callback: GroundingCallback
    seconds: float


def environments(world: PlaneConfig, machine: nrm.MooreMachine, count: int) -> Any:
    """Robots with their task."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([lambda: nrm.TaskEnv(PlaneEnv(world), machine)] * count)


def train(config: Config, world: PlaneConfig, machine: nrm.MooreMachine, seed: int, method: str) -> Trained:
    """Train one agent."""
    from stable_baselines3 import PPO

    envs = environments(world, machine, config.environments)
    model = machine if method == "rm" else nrm.model_for(envs.observation_space, machine, seed=seed)
    agent = PPO(
        "MlpPolicy",
        NeuralRewardMachineVecWrapper(envs, model, layout="flat", reward_scale=0.01),
        n_steps=128,
        batch_size=256,
        learning_rate=1e-3,
        gamma=0.97,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    callback = GroundingCallback(model, seed=seed)
    began = time.process_time()
    agent.learn(config.steps, callback=callback)
    return Trained(agent, model, callback, time.process_time() - began)


def success(run: Trained, world: PlaneConfig, machine: nrm.MooreMachine, seed: int, episodes: int = 200) -> float:
    """The share of fresh episodes that end with the task done, with sampled actions; each robot plays equally many."""
    count = 10
    envs = environments(world, machine, count)
    env = NeuralRewardMachineVecWrapper(envs, run.model, layout="flat", record=False)
    env.seed(seed + 1000)
    observation = env.reset()
    torch.manual_seed(seed)
    good: list[list[bool]] = [[] for _ in range(count)]
    while min(map(len, good)) < episodes // count:
        actions, _ = run.agent.predict(observation, deterministic=False)
        observation, _, dones, infos = env.step(actions)
        for place in np.flatnonzero(dones):
            good[place].append(bool(machine.accepting[infos[place]["machine_state"]]))
    return float(np.mean([share[: episodes // count] for share in good]))


if __name__ == "__main__":
    import sys
    torch.set_num_threads(1)
    config = Config(steps=int(sys.argv[1]))
    world = PlaneConfig()
    machine = nrm.compile(FORMULA, list(world.symbols))
    for seed in range(int(sys.argv[3]), int(sys.argv[4])):
        run = train(config, world, machine, seed, sys.argv[2])
        print(seed, sys.argv[2], success(run, world, machine, seed), run.seconds, Counter(b.decision.verdict for b in run.callback.bursts), flush=True)
