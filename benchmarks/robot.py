"""A robot in the plane: PPO of Stable-Baselines3 with a neural reward machine, whose callback has its defaults.

Positions are the observations, so no two are equal and borders between symbols are learned from samples. The task:
the red disc, then the green one, never the blue one. Shown: success with the true state (RM) and with learned symbols
(NRM), CPU seconds, bursts, accuracy over the plane near borders and far from them, and a picture of the borders.
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
from numpy.typing import NDArray

import nrm
from benchmarks.common import report
from nrm.neural import NeuralRewardMachine
from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper
from nrm.tracking import AccuracyMeter

SYMBOLS = ("red", "green", "blue", "floor")
FORMULA = "F(red & F green) & G !blue"
DISCS = {"red": (-0.5, 0.1), "green": (0.45, 0.5), "blue": (0.75, -0.1)}
RADIUS, STEP, LIMIT = 0.25, 0.15, 60
NEAR = 0.05
"""Distance from a border that counts as near."""
SIDE = 201
"""Points along a side of the plane at which symbols are looked at."""


@dataclass(frozen=True)
class Config:
    """Train a robot."""

    out: Path = Path("out/bench")
    """Where the tables and the picture go."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 20
    """The first of them; settings were looked at with seeds below 10."""
    steps: int = 40_000
    """Environment steps of each run."""
    environments: int = 8
    """Environments side by side."""


class Robot(gymnasium.Env[NDArray[np.float32], Any]):
    """A point in the plane that moves by one of eight directions."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin somewhere at the lower edge."""
        super().reset(seed=seed, options=options)
        self.place = np.array([self.np_random.uniform(-0.9, 0.9), -0.8], dtype=np.float32)
        self.time = 0
        return self.place.copy(), {}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Move."""
        angle = 2 * np.pi * int(action) / 8
        move = STEP * np.array([np.cos(angle), np.sin(angle)]) + self.np_random.normal(0, 0.02, 2)
        self.place = np.clip(self.place + move, -1, 1).astype(np.float32)
        self.time += 1
        return self.place.copy(), 0.0, False, self.time >= LIMIT, {}


def letters_at(places: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) the symbol at places (n, 2)."""
    letters = np.full(len(places), SYMBOLS.index("floor"))
    for name, centre in DISCS.items():
        letters[np.linalg.norm(places - centre, axis=1) < RADIUS] = SYMBOLS.index(name)
    return letters


def holds(place: NDArray[Any], info: dict[str, Any], env: Any) -> int:  # noqa: ARG001 - as `TaskEnv` calls it
    """The letter where the robot stands."""
    return int(letters_at(place[None])[0])


def task_env() -> nrm.TaskEnv[Any, Any]:
    """The robot with its task."""
    machine = nrm.compile(FORMULA, SYMBOLS)
    return nrm.TaskEnv(Robot(), machine, holds)


def train(config: Config, seed: int, method: str) -> tuple[Any, Any, GroundingCallback, float]:
    """An agent with its environment, its callback, and what training took."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    machine = nrm.compile(FORMULA, SYMBOLS)
    venv = DummyVecEnv([task_env] * config.environments)
    model = machine if method == "rm" else nrm.model_for(venv.observation_space, machine, seed=seed)
    env = NeuralRewardMachineVecWrapper(venv, model, layout="flat", reward_scale=0.03)
    agent = PPO(
        "MlpPolicy",
        env,
        n_steps=128,
        batch_size=256,
        learning_rate=1e-3,
        gamma=0.95,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    callback = GroundingCallback(model, seed=seed)
    began = time.process_time()
    agent.learn(config.steps, callback=callback)
    return agent, model, callback, time.process_time() - began


def success(agent: Any, model: Any, seed: int, episodes: int = 200) -> float:
    """The share of fresh episodes that end with the task done, with sampled actions."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    env = NeuralRewardMachineVecWrapper(DummyVecEnv([task_env] * 10), model, layout="flat", record=False)
    env.seed(seed + 1000)
    observation = env.reset()
    good: list[bool] = []
    while len(good) < episodes:
        actions, _ = agent.predict(observation, deterministic=False)
        observation, _, dones, infos = env.step(actions)
        good += [info["level"] == 100 for done, info in zip(dones, infos, strict=True) if done]
    return float(np.mean(good[:episodes]))


def plane() -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Points of the plane, and which of them lie near a border."""
    axis = np.linspace(-1, 1, SIDE)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2).astype(np.float32)
    away = [np.abs(np.linalg.norm(points - centre, axis=1) - RADIUS) for centre in DISCS.values()]
    return points, np.min(away, axis=0) < NEAR


def draw(model: NeuralRewardMachine, path: Path) -> None:
    """The plane as the grounder sees it, with the true borders."""
    from matplotlib.figure import Figure

    points, _ = plane()
    said = model.said(torch.from_numpy(points)).argmax(-1).numpy().reshape(SIDE, SIDE)
    colours = np.array([(0.84, 0.19, 0.15), (0.1, 0.6, 0.3), (0.2, 0.35, 0.75), (0.95, 0.93, 0.88)])
    figure = Figure(figsize=(4.2, 4.2), layout="constrained")
    panel = figure.subplots()
    panel.imshow(colours[said], extent=(-1, 1, -1, 1), origin="lower", alpha=0.75)
    turn = np.linspace(0, 2 * np.pi, 100)
    for name, (x, y) in DISCS.items():
        panel.plot(x + RADIUS * np.cos(turn), y + RADIUS * np.sin(turn), color="black", linewidth=1.2)
        panel.annotate(name, (x, y), ha="center", va="center", color="white", fontsize=9)
    panel.set_title("What the grounder calls each place; circles are the truth", fontsize=9, loc="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main(config: Config) -> None:
    """Measure, print and draw."""
    torch.set_num_threads(1)
    points, near = plane()
    true = torch.from_numpy(letters_at(points))
    rows: list[tuple[object, ...]] = []
    ratios = []
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        spent = {}
        for method in ("rm", "nrm"):
            agent, model, callback, seconds = train(config, seed, method)
            spent[method] = seconds
            shown: tuple[object, ...] = ("–", "–", "–", "–")
            if isinstance(model, NeuralRewardMachine):
                meter = AccuracyMeter(nrm.compile(FORMULA, SYMBOLS))
                far, close = (
                    meter.measure(model, torch.from_numpy(points[which]), true[torch.from_numpy(which)]).plain
                    for which in (~near, near)
                )
                learned = sum(burst.record is not None for burst in callback.bursts)
                shown = (learned, len(callback.bursts), f"{far:.1%}", f"{close:.1%}")
                draw(model, config.out / f"robot-seed{seed}.png")
            rows.append((seed, method, f"{success(agent, model, seed):.1%}", f"{seconds:.1f}", *shown))
            print(*rows[-1], flush=True)
        ratios.append(spent["nrm"] / spent["rm"])
    title = f"A robot in the plane, {config.steps:,} steps of PPO; CPU time NRM / RM, median {np.median(ratios):.2f}"
    headings = ("seed", "method", "success", "CPU s", "bursts", "of checks", "right far from borders", "near borders")
    report(title, headings, rows, config.out, "robot")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
