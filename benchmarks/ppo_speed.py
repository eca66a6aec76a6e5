"""PPO beside Stable-Baselines3's PPO: the same env, network and settings, in one run; returns and steps per second.

Both train RM on the map environment: the agent sees its position and the machine's state. Actor and critic have two
hidden tanh layers each and share none. Time is CPU time of the process, on one thread.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks.common import report
from benchmarks.training_speed import StateInObservation
from nrm.agents import PPOConfig, new_trainer
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, GymVectorEnv, MinecraftConfig, MinecraftEnv, TaskEnv
from nrm.machines import Alphabet, MooreMachine, Task


@dataclass(frozen=True)
class Config:
    """Compare PPO with PPO."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    task: int = 4
    """One of the paper's tasks."""
    steps: int = 60_000
    """Environment steps to train for, on each side."""
    num_envs: tuple[int, ...] = (16, 64)
    """Environments side by side."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of training."""


SETTINGS = PPOConfig(num_steps=32, update_epochs=3, minibatch_size=128, learning_rate=1e-3)
"""Without schedules, which the two libraries count differently; weights of entropy stay as they are at first."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    rate: float
    """Steps a CPU second."""
    final: float
    """Mean return of the last 100 episodes."""
    overall: float
    """Mean return of all episodes: how soon it was learned."""


def theirs(machine: MooreMachine, num_envs: int, steps: int, seed: int) -> Outcome:
    """Stable-Baselines3's PPO."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

    class Returns(BaseCallback):
        """Keeps the returns of finished episodes."""

        def __init__(self) -> None:
            super().__init__()
            self.found: list[float] = []

        def _on_step(self) -> bool:
            infos: list[dict[str, Any]] = self.locals["infos"]
            self.found += [info["episode"]["r"] / SETTINGS.reward_scale for info in infos if "episode" in info]
            return True

    def make() -> Any:
        from gymnasium.wrappers import TransformReward

        env = StateInObservation(TaskEnv(MinecraftEnv(), machine))
        return TransformReward(env, lambda reward: float(reward) * SETTINGS.reward_scale)

    hidden = 120
    model = PPO(
        "MlpPolicy",
        VecMonitor(DummyVecEnv([make] * num_envs)),
        n_steps=SETTINGS.num_steps,
        n_epochs=SETTINGS.update_epochs,
        batch_size=SETTINGS.minibatch_size,
        learning_rate=SETTINGS.learning_rate,
        gamma=SETTINGS.gamma,
        gae_lambda=SETTINGS.gae_lambda,
        clip_range=0.2,
        vf_coef=SETTINGS.vf_coef,
        ent_coef=SETTINGS.ent_coef,
        max_grad_norm=SETTINGS.max_grad_norm or np.inf,
        policy_kwargs={"net_arch": [hidden, hidden], "activation_fn": torch.nn.Tanh},
        device="cpu",
        seed=seed,
    )
    returns = Returns()
    began = time.process_time()
    model.learn(steps, callback=returns)
    seconds = time.process_time() - began
    return Outcome(steps / seconds, float(np.mean(returns.found[-100:])), float(np.mean(returns.found)))


def ours(machine: MooreMachine, num_envs: int, steps: int, seed: int, batched: bool) -> Outcome:
    """Ours, on the environment's tables, or on the very environments that the other side steps one by one."""
    env = (
        BatchedTasks(MinecraftConfig(), machine, num_envs)
        if batched
        else GymVectorEnv.of(lambda: TaskEnv(MinecraftEnv(), machine), num_envs)
    )
    constant = PPOConfig(**{**vars(SETTINGS), "final_ent_coef": SETTINGS.ent_coef})
    trainer = new_trainer(env, "rm", "ppo", episodes=10**9, seed=seed, settings={"algorithm": constant})
    began = time.process_time()
    while trainer.steps < steps:
        trainer.update()
    seconds = time.process_time() - began
    history = trainer.history
    return Outcome(trainer.steps / seconds, history.mean_return(), float(np.mean(history.returns)))


def main(config: Config) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    machine = Task.from_paper(config.task, Alphabet.exclusive(MINECRAFT_SYMBOLS)).machine()
    theirs(machine, 16, 1000, 0)  # what is imported at the first step is nobody's
    rows: list[tuple[object, ...]] = []
    for count in config.num_envs:
        sides: dict[str, list[Outcome]] = {"Stable-Baselines3": [], "ours, environments one by one": [], "ours": []}
        for seed in config.seeds:  # side after side within a seed: what else the machine does hits all of them
            sides["Stable-Baselines3"].append(theirs(machine, count, config.steps, seed))
            sides["ours, environments one by one"].append(ours(machine, count, config.steps, seed, batched=False))
            sides["ours"].append(ours(machine, count, config.steps, seed, batched=True))
        base = float(np.mean([outcome.rate for outcome in sides["Stable-Baselines3"]]))
        for name, outcomes in sides.items():
            means = np.mean([(outcome.rate, outcome.final, outcome.overall) for outcome in outcomes], 0)
            rate, final, overall = means.tolist()
            rows.append((f"{name}, {count} environments", rate, rate / base, final, overall))
    headings = (
        f"PPO with RM, task {config.task}, map",
        "steps per CPU s",
        "ratio",
        "return of the last 100",
        "return of all episodes",
    )
    title = f"PPO beside PPO, {config.steps:,} steps, {len(config.seeds)} seeds"
    report(title, headings, rows, config.out, "ppo_speed")


if __name__ == "__main__":
    main(tyro.cli(Config))
