"""DQN with and without counterfactual experience, told the symbols or learning them: success against steps.

All agents are Stable-Baselines3's DQN with one set of settings; what differs is where the belief comes from (the true
state, or the neural machine) and the replay buffer. All take as many gradient steps, each on as many steps of the
environment; with counterfactual experience every one of these comes in every state of the machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import nrm
from benchmarks.common import report
from nrm.envs import ACTIONS, MINECRAFT_SYMBOLS, MinecraftEnv
from nrm.machines import MooreMachine
from nrm.sb3 import BeliefExtractor, GroundingCallback, NeuralRewardMachineVecWrapper, counterfactual
from nrm.wrappers import model_for

METHODS = {
    "DQN, true state": (True, False),
    "DQN + CRM, true labels": (True, True),
    "DQN, belief": (False, False),
    "DQN + CRM, neural symbols": (False, True),
}
"""Name: (told the symbols, counterfactual)."""
COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")


@dataclass(frozen=True)
class Config:
    """Measure what counterfactual experience is worth."""

    out: Path = Path("out/bench")
    """Tables and the picture go here."""
    task: str = "F pickaxe & F gem & F door & G !lava"
    """A formula over pickaxe, lava, door, gem, empty. Where every state has a potential of its own, rewards alone
    tell the state and there is nothing to ground; here three states share a potential, and three others another one."""
    reward: str = "distance"
    """The reward scheme."""
    steps: int = 8000
    """Steps of training of each run."""
    every: int = 500
    """Steps between two evaluations."""
    seeds: tuple[int, ...] = (3, 4, 5, 6, 7)
    """Seeds of training; settings were chosen on seeds 0 to 2."""
    num_envs: int = 4
    """Environments side by side."""
    episodes: int = 24
    """Episodes of an evaluation, each from a random cell."""
    random_moves: float = 0.1
    """The share of random moves in evaluations. Without any, two cells whose values are nearly equal trap an agent."""


def vectorised(machine: MooreMachine, model: Any, count: int, record: bool) -> NeuralRewardMachineVecWrapper:
    envs = [lambda: nrm.TaskEnv(MinecraftEnv(start="random"), machine)] * count
    return NeuralRewardMachineVecWrapper(DummyVecEnv(envs), model, reward_scale=0.01, record=record)  # type: ignore[arg-type]


def success(agent: DQN, env: NeuralRewardMachineVecWrapper, machine: MooreMachine, random_moves: float) -> float:
    """The share of one episode per environment that satisfies the task, acting greedily but for some random moves."""
    generator = np.random.default_rng(12345)
    env.seed(12345)
    seen: Any = env.reset()
    ended, good = np.zeros(env.num_envs, dtype=bool), np.zeros(env.num_envs, dtype=bool)
    while not ended.all():
        actions, _ = agent.predict(seen, deterministic=True)
        slips = generator.random(env.num_envs) < random_moves
        actions = np.where(slips, generator.integers(0, len(ACTIONS), env.num_envs), actions)
        seen, _, dones, infos = env.step(actions)
        for index in np.flatnonzero(dones & ~ended):
            good[index] = machine.accepting[infos[index]["machine_state"]]
        ended |= dones
    return float(good.mean())


class Evaluation(BaseCallback):
    """Notes the success after every so many steps."""

    def __init__(self, config: Config, machine: MooreMachine, model: Any) -> None:
        super().__init__()
        self._every = config.every // config.num_envs
        self._random_moves = config.random_moves
        self._machine = machine
        self._env = vectorised(machine, model, config.episodes, record=False)
        self.curve: list[float] = []
        self.seconds = 0.0

    def _on_step(self) -> bool:
        if self.n_calls % self._every == 0:
            began = time.process_time()
            assert isinstance(self.model, DQN)
            self.curve.append(success(self.model, self._env, self._machine, self._random_moves))
            self.seconds += time.process_time() - began
        return True


def run(config: Config, method: str, seed: int) -> tuple[NDArray[np.float64], float]:
    """Success after every `config.every` steps, and the CPU seconds of training."""
    told, imagines = METHODS[method]
    machine = nrm.compile(config.task, MINECRAFT_SYMBOLS, reward=config.reward)
    model = machine if told else model_for(MinecraftEnv().observation_space, machine, seed=seed)
    venv = vectorised(machine, model, config.num_envs, record=True)
    agent = DQN(
        "MultiInputPolicy",
        venv,
        learning_rate=1e-3,
        gamma=0.9,
        learning_starts=500,
        batch_size=64,
        train_freq=1,
        gradient_steps=2,
        exploration_fraction=0.5,
        exploration_final_eps=0.05,
        target_update_interval=500,
        policy_kwargs={"features_extractor_class": BeliefExtractor, "net_arch": [64, 64]},
        seed=seed,
        device="cpu",
        **(counterfactual(venv, machine) if imagines else {}),
    )
    evaluation = Evaluation(config, machine, model)
    began = time.process_time()
    agent.learn(config.steps, callback=[GroundingCallback(model, every=20, seed=seed), evaluation])
    return np.array(evaluation.curve), time.process_time() - began - evaluation.seconds


def picture(config: Config, curves: dict[str, NDArray[np.float64]]) -> None:
    """Draw success against steps: the mean over seeds, and their range."""
    figure, panel = plt.subplots(figsize=(7, 4))
    for (method, rows), colour in zip(curves.items(), COLOURS, strict=True):
        steps = config.every * np.arange(1, rows.shape[1] + 1)
        panel.plot(steps, rows.mean(0), color=colour, label=method, linestyle="-" if "CRM" in method else "--")
        panel.fill_between(steps, rows.min(0), rows.max(0), color=colour, alpha=0.12, linewidth=0)
    panel.set(xlabel="steps", ylabel="success", ylim=(-0.02, 1.02), title=config.task)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(config.out / "counterfactual.png", dpi=110)
    plt.close(figure)


def main(config: Config) -> None:
    """Run every method with every seed, and report."""
    torch.set_num_threads(1)
    config.out.mkdir(parents=True, exist_ok=True)
    curves: dict[str, NDArray[np.float64]] = {}
    rows: list[tuple[object, ...]] = []
    for method in METHODS:
        runs = [run(config, method, seed) for seed in config.seeds]
        curves[method] = np.array([curve for curve, _ in runs])
        # The first evaluation from which on at least nine tenths succeed, on average over seeds.
        good = np.flatnonzero(curves[method].mean(0) < 0.9)
        first = 0 if not good.size else int(good[-1]) + 1
        reached = config.every * (first + 1)
        rows.append(
            (
                method,
                float(curves[method].mean()),
                float(curves[method].mean() / curves["DQN, true state"].mean()),
                reached if reached <= config.steps else "never",
                float(curves[method][:, -1].mean()),
                float(np.mean([seconds for _, seconds in runs])),
            )
        )
        Console(width=160).print(method, curves[method].mean(0).round(2).tolist(), highlight=False)
    headings = ("agent", "mean success", "/ plain DQN's", "steps until 0.9 for good", "success at the end", "CPU s")
    title = f"{config.task}, {config.steps:,} steps, {len(config.seeds)} seeds"
    report(title, headings, rows, config.out, "counterfactual")
    picture(config, curves)


if __name__ == "__main__":
    main(tyro.cli(Config))
