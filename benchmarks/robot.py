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
import tyro

import nrm
from benchmarks.common import report
from nrm.envs import BatchedTasks, PlaneConfig, PlaneEnv
from nrm.envs.plane.env import PlaneDynamics
from nrm.neural import NeuralRewardMachine
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
    num_envs: int = 8
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


def num_envs(env: PlaneConfig, machine: nrm.MooreMachine, count: int) -> Any:
    """Robots with their task."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([lambda: nrm.TaskEnv(PlaneEnv(env), machine)] * count)


def train(config: Config, env: PlaneConfig, machine: nrm.MooreMachine, seed: int, method: str) -> Trained:
    """Train one agent."""
    from stable_baselines3 import PPO

    envs = num_envs(env, machine, config.num_envs)
    model = machine if method == "rm" else nrm.model_for(envs.observation_space, machine, seed=seed)
    agent = PPO(
        "MultiInputPolicy",
        NeuralRewardMachineVecWrapper(envs, model, reward_scale=0.01),
        n_steps=128,
        batch_size=256,
        learning_rate=1e-3,
        gamma=0.98,
        ent_coef=0.02,
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    callback = GroundingCallback(model, seed=seed)
    began = time.process_time()
    agent.learn(config.steps, callback=callback)
    return Trained(agent, model, callback, time.process_time() - began)


def success(run: Trained, batched: PlaneConfig, machine: nrm.MooreMachine, seed: int, episodes: int = 200) -> float:
    """The share of fresh episodes that end with the task done, with sampled actions; each robot plays equally many."""
    count = 10
    envs = num_envs(batched, machine, count)
    env = NeuralRewardMachineVecWrapper(envs, run.model, record=False)
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


def decided(callback: GroundingCallback) -> str:
    """How often the callback decided what."""
    counts = Counter(update.decision.verdict for update in callback.updates)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "–"


def draw(models: dict[int, NeuralRewardMachine], env: PlaneConfig, path: Path, side: int = 301) -> None:
    """The plane as the grounders of some seeds see it, with the true borders."""
    from matplotlib.figure import Figure

    from nrm.envs.plane.env import FLOOR, colour

    left, bottom, right, top = env.bounds
    across, up = np.meshgrid(np.linspace(left, right, side), np.linspace(bottom, top, side))
    points = np.stack([across, up], axis=-1).reshape(-1, 2).astype(np.float32)
    seen = PlaneDynamics(env).observe({"place": points})
    colours = np.array([*(colour(env, name) for name in env.names), FLOOR]) / 255
    figure = Figure(figsize=(2.6 * len(models), 2.9), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(models)))
    turn = np.linspace(0, 2 * np.pi, 100)
    for panel, (seed, model) in zip(panels, models.items(), strict=True):
        said = model.said(torch.from_numpy(seen)).argmax(-1).numpy().reshape(side, side)
        panel.imshow(colours[said], extent=(left, right, bottom, top), origin="lower", alpha=0.8)
        for disc in env.placed:
            panel.plot(disc.x + disc.radius * np.cos(turn), disc.y + disc.radius * np.sin(turn), "k", linewidth=1)
        panel.set_xlim(left, right)
        panel.set_ylim(bottom, top)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_title(f"seed {seed}", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(config: Config) -> None:
    """Measure, print and draw."""
    torch.set_num_threads(1)
    env = PlaneConfig(observation=config.observation)
    machine = nrm.compile(FORMULA, env.alphabet)
    probe = BatchedTasks(env, machine, 1).probe(20_000, 0)
    dynamics = PlaneDynamics(env)
    near = np.abs(dynamics.away(dynamics.scattered(20_000, 0)["place"])).min(1) <= env.step / 2
    rows: list[tuple[object, ...]] = []
    spent: dict[str, list[float]] = {method: [] for method in config.methods}
    models: dict[int, NeuralRewardMachine] = {}
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        for method in config.methods:
            run = train(config, env, machine, seed, method)
            spent[method].append(run.seconds)
            shown: tuple[object, ...] = ("–", "–", "–")
            if isinstance(run.model, NeuralRewardMachine):
                # The task has no symmetries, so what is right is right plainly.
                right = (run.model.letters(run.model.said(probe.observations)) == probe.letters).double().numpy()
                shown = (f"{right[near].mean():.1%}", f"{right[~near].mean():.1%}", decided(run.callback))
                models[seed] = run.model
                for update in run.callback.updates:
                    print(f"  seed {seed}: {update.decision.verdict}: {update.decision.reason}")
            share = success(run, env, machine, seed)
            rows.append((str(seed), method, f"{share:.1%}", f"{run.seconds:.1f}", *shown))
            print(*rows[-1], flush=True)
    ratio = ""
    if set(config.methods) == {"rm", "nrm"}:
        ratios = np.array(spent["nrm"]) / np.array(spent["rm"])
        ratio = f"; CPU time NRM / RM: {np.median(ratios):.2f} (median), {min(ratios):.2f} to {max(ratios):.2f}"
    title = f"A robot in the plane by {config.observation}, {config.steps:,} steps of PPO{ratio}"
    heading = f"right within {env.step / 2:g} of a border"
    headings = ("seed", "method", "success", "CPU s", heading, "elsewhere", "decisions")
    name = f"robot-{config.observation}"
    report(title, headings, rows, config.out, name)
    if models:
        draw(models, env, config.out / f"{name}.png")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
