"""Learn the task itself: from positions and rewards alone to a machine that can be drawn, checked and reused.

Neither symbols nor task are given. The inferred machine has symbols s0, s1, …; it is correct if renaming them makes it
equivalent to the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv, TaskEnv
from nrm.neural import RecordedEpisodes, record_episodes, renaming


@dataclass(frozen=True)
class Config:
    """Discover a machine, and hold it against the truth."""

    task: str = "F pickaxe & G !lava"
    """The truth: a formula over pickaxe, lava, door, gem, empty."""
    episodes: int = 150
    """Random episodes to learn from."""
    states: int = 6
    """At least as many states as the task may need."""
    out: Path = Path("out/learned")
    """The folder for the pictures and the machine."""


def walks(machine: nrm.MooreMachine, count: int) -> RecordedEpisodes:
    """Positions and rewards of a random walker."""
    # Episodes go on after success: what a symbol does then cannot be learned from episodes that end there.
    env = TaskEnv(MinecraftEnv(), machine, end="absorbing")
    env.action_space.seed(0)
    seen, paid = [], []
    for _ in range(count):
        env.reset(seed=0)
        steps, over = [], False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            steps.append((observation, float(reward)))
            over = terminated or truncated
        seen.append(np.array([observation for observation, _ in steps]))
        paid.append(np.array([reward for _, reward in steps]))
    return record_episodes(seen, paid)


def main(config: Config) -> None:
    """Discover, compare, draw."""
    torch.set_num_threads(1)
    truth = nrm.compile(config.task, MINECRAFT_SYMBOLS)
    found = nrm.discover(walks(truth, config.episodes), config.states)
    print(f"found a machine of {found.machine.states} states; the truth has {truth.states}")
    print(f"  {found.inferred.certainty}; of episodes held out, {found.inferred.held_out:.0%} are predicted")
    for symbol, name in enumerate(found.machine.alphabet.symbols):
        places = [f"({x:g}, {y:g})" for x, y in found.observations[found.symbols == symbol].tolist()]
        print(f"  {name}: seen at {' '.join(places[:6])}{' …' * (len(places) > 6)}")
    letters = renaming(found.machine, truth)
    if letters is None:
        print("no renaming of symbols makes it the true machine: more episodes may")
    else:
        print("with its symbols renamed it is equivalent:")
        print("  " + ", ".join(f"{name} = s{letter}" for name, letter in zip(MINECRAFT_SYMBOLS, letters, strict=True)))
    config.out.mkdir(parents=True, exist_ok=True)
    nrm.draw(truth, config.out / "truth.svg", "the truth")
    nrm.draw(found.machine, config.out / "learned.svg", "learned from rewards")
    nrm.save_machine(found.machine, config.out / "learned.json")
    nrm.save_machine(found.machine, config.out / "learned.txt")  # for the original reward machine code
    print(f"see {config.out / 'learned.svg'} beside {config.out / 'truth.svg'}")


if __name__ == "__main__":
    main(tyro.cli(Config))
