"""Learn what symbols look like from a log of episodes, without a simulator and without labels.

A robot has logged observations and rewards; the task is known. The log is an .npz file of plain arrays that any program
can write. The result is correct up to shortcuts that no reward can remove.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv, TaskEnv
from nrm.neural import FitConfig, grounder_for, load_episodes, record_episodes, save_episodes, save_model
from nrm.shortcuts import diagnose


@dataclass(frozen=True)
class Config:
    """Write a log, learn from it, and say what was learned."""

    task: str = "F(pickaxe & F gem) & G !lava"
    """A formula over pickaxe, lava, door, gem, empty."""
    episodes: int = 200
    """Episodes in the log."""
    out: Path = Path("out/offline")
    """The folder for the log and the model."""


def write_log(machine: nrm.MooreMachine, count: int, path: Path) -> None:
    """Walk at random and log positions and rewards. The true symbols are logged too, but only to evaluate."""
    env = TaskEnv(MinecraftEnv(), machine)
    env.action_space.seed(0)
    seen: list[list[NDArray[np.float32]]] = []
    paid: list[list[float]] = []
    true: list[list[int]] = []
    for _ in range(count):
        env.reset(seed=0)
        seen, paid, true = [*seen, []], [*paid, []], [*true, []]
        over = False
        while not over:
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            seen[-1].append(observation / 1.5 - 1)  # networks like numbers about 0
            paid[-1].append(float(reward))
            true[-1].append(info["letter"])
            over = terminated or truncated
    arrays = ([np.array(steps) for steps in column] for column in (seen, paid, true))
    save_episodes(path, record_episodes(*arrays, symbol_names=MINECRAFT_SYMBOLS))


def main(config: Config) -> None:
    """Log, learn, report."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    machine = nrm.compile(config.task, MINECRAFT_SYMBOLS)
    write_log(machine, config.episodes, config.out / "log.npz")

    log = load_episodes(config.out / "log.npz")
    model = nrm.NeuralRewardMachine(grounder_for(log.shape, machine.alphabet.size), machine)
    record = nrm.fit(model, log, config=FitConfig(epochs=300, restarts=8))
    save_model(config.out / "model.pt", model)
    verdict = "explains every reward" if record.explained else "does not explain every reward"
    print(f"{len(log)} episodes, {len(log.observations)} distinct observations; restart {record.best.number} {verdict}")

    assert log.index is not None
    assert log.symbols is not None
    with torch.no_grad():
        predicted = model.ground(log.observations).argmax(-1).numpy()[log.index]
    confusion = np.zeros((machine.alphabet.size, machine.alphabet.size))
    np.add.at(confusion, (log.symbols, predicted), 1)
    found = diagnose(nrm.shortcuts(machine), confusion)
    for true, taken in found.nearest.items():
        print(f"  {true:<8} is taken for {taken}")
    print(found.meaning)


if __name__ == "__main__":
    main(tyro.cli(Config))
