"""An env in which one observation does not show the symbol: recurrent grounder, plain one, RM and recurrent policies.

A walker on a ring sees what lies in the cell ahead, and whether it has just moved; what lies under its feet it never
sees. So the symbol of a step is what was ahead one step before, if it has moved since. There are two apples and two
bananas, elsewhere in every episode. The task is to take one of each and no more of either: after the first fruit
somebody has to remember which it was, and the rewards do not tell, since both pay the same.

All agents are Stable-Baselines3's PPO with one set of settings (RecurrentPPO is sb3-contrib's); they differ in what
stands beside the observation: the true state of the machine, a belief from a grounder, or nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

import nrm
from benchmarks.results import Benchmark, Headline, Row, complete, show
from nrm.machines import MooreMachine
from nrm.neural import EpisodeBuffer, NeuralRewardMachine, grounded_traces
from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper
from nrm.tracking import AccuracyMeter, RecordedEpisode
from nrm.wrappers import model_for

SYMBOLS = ("apple", "banana", "nothing")
TASK = "F apple & F banana & G(apple -> WX G !apple) & G(banana -> WX G !banana)"
METHODS = ("RM", "NRM, recurrent", "NRM, plain", "PPO", "RecurrentPPO")
ENVIRONMENTS = 16
EVALUATED = 64
"""Environments of an evaluation, each for two episodes."""


class BlindSpot(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A ring of cells with fruit, seen from behind the nose.

    Actions: 0 walks on, taking what lies there; 1 turns round. Observations: apple ahead, banana ahead, nothing ahead,
    and whether the last action walked. The two cells beside the first one are empty.
    """

    action_space = spaces.Discrete(2)

    def __init__(self, cells: int = 9, steps: int = 30) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (4,), np.float32)
        self._cells = cells
        self._steps = steps

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Fruit at random, facing either way."""
        super().reset(seed=seed, options=options)
        self._lies = np.full(self._cells, 2)
        places = 2 + self.np_random.permutation(self._cells - 3)
        self._lies[places[:2]], self._lies[places[2:4]] = 0, 1
        self._place, self._way, self._time = 0, int(self.np_random.choice([-1, 1])), 0
        return self._look(False), {"labels": {"nothing"}}

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Walk or turn."""
        under, self._time = 2, self._time + 1
        if action == 0:
            self._place = (self._place + self._way) % self._cells
            under, self._lies[self._place] = int(self._lies[self._place]), 2
        else:
            self._way = -self._way
        return self._look(action == 0), 0.0, False, self._time >= self._steps, {"labels": {SYMBOLS[under]}}

    def _look(self, walked: bool) -> NDArray[np.float32]:
        seen = np.zeros(4, dtype=np.float32)
        seen[self._lies[(self._place + self._way) % self._cells]] = 1.0
        seen[3] = walked
        return seen


@dataclass(frozen=True)
class Config:
    """Compare what remembers on an environment in which one observation does not show the symbol."""

    out: Path = Path("out/bench")
    """The tables go here."""
    steps: int = 40_000
    """Steps of training of each run."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Seeds of training; settings were chosen on seed 0."""
    methods: tuple[str, ...] = METHODS
    """Which to run."""


def num_envs(machine: MooreMachine, count: int, model: Any, record: bool) -> VecEnv:
    """Environments with the belief of `model` beside what they show, if there is one; all pay a hundredth.

    Beliefs read no reward, neither in training nor in tests.
    """

    def make() -> gymnasium.Env[Any, Any]:
        env: gymnasium.Env[Any, Any] = nrm.TaskEnv(BlindSpot(), machine)
        return env if model is not None else gymnasium.wrappers.TransformReward(env, lambda paid: 0.01 * float(paid))

    venv = DummyVecEnv([make] * count)
    if model is None:
        return venv
    return NeuralRewardMachineVecWrapper(venv, model, belief="open-loop", record=record, reward_scale=0.01)


def success(agent: Any, env: VecEnv, machine: MooreMachine) -> float:
    """The share of episodes that satisfy the task, acting as in training: two of each environment."""
    env.seed(777)
    seen: Any = env.reset()
    state, began = None, np.ones(env.num_envs, dtype=bool)
    left = np.full(env.num_envs, 2)
    good: list[bool] = []
    while (left > 0).any():
        actions, state = agent.predict(seen, state=state, episode_start=began, deterministic=False)
        seen, _, began, infos = env.step(actions)
        good += [bool(machine.accepting[infos[i]["machine_state"]]) for i in np.flatnonzero(began & (left > 0))]
        left -= began
    return float(np.mean(good))


def run(steps: int, method: str, seed: int) -> Row:
    """Train and evaluate one agent.

    `success`: the share of test episodes that satisfy the task; `accuracy`: the share of their steps whose symbol is
    named, modulo shortcuts, and `balanced` its mean over the symbols; `updates`: how often the grounder learned.
    """
    machine = nrm.compile(TASK, SYMBOLS)
    model: Any = None
    if method == "RM":
        model = machine
    elif method.startswith("NRM"):
        grounder = "recurrent" if method.endswith("recurrent") else "auto"
        model = model_for(BlindSpot().observation_space, machine, grounder=grounder, seed=seed)
    env = num_envs(machine, ENVIRONMENTS, model, record=True)
    settings: dict[str, Any] = {
        "learning_rate": 1e-3,
        "n_steps": 64,
        "batch_size": 256,
        "n_epochs": 6,
        "gamma": 0.97,
        "ent_coef": 0.01,
        "seed": seed,
        "device": "cpu",
    }
    kind: Any = PPO
    if method == "RecurrentPPO":
        kind = RecurrentPPO
        settings["policy_kwargs"] = {"lstm_hidden_size": 64}
    policy = "MultiInputPolicy" if model is not None else "MlpLstmPolicy" if kind is RecurrentPPO else "MlpPolicy"
    agent = kind(policy, env, **settings)
    grounding = GroundingCallback(model, seed=seed) if method.startswith("NRM") else None
    began = time.process_time()
    agent.learn(steps, callback=grounding)
    seconds = time.process_time() - began
    test = num_envs(machine, EVALUATED, model, record=grounding is not None)
    what: Row = {"method": method, "seed": seed, "cpu_seconds": seconds}
    if grounding is None:
        return what | {"success": success(agent, test, machine)}
    assert isinstance(test, NeuralRewardMachineVecWrapper)
    test.tracker.keeps_letters = True
    share = success(agent, test, machine)
    learned = sum(update.record is not None for update in grounding.updates)
    accuracy, balanced = named(model, machine, test.tracker.take())
    return what | {"success": share, "accuracy": accuracy, "balanced": balanced, "updates": learned}


def named(
    model: NeuralRewardMachine, machine: MooreMachine, episodes: Sequence[RecordedEpisode]
) -> tuple[float, float]:
    """How often the symbol of a step is named: modulo shortcuts, and as the mean over the three symbols."""
    buffer = EpisodeBuffer.for_machine(machine)
    for episode in episodes:
        buffer.add(episode.observations, rewards=episode.rewards, symbols=episode.letters)
    true, said = buffer.symbols(), np.concatenate(grounded_traces(model, buffer))
    assert true is not None
    mirrored = (said, np.array([1, 0, 2])[said])  # the one symmetry of the task calls apples bananas
    balanced = max(
        float(np.mean([(names == true)[true == letter].mean() for letter in range(3)])) for names in mirrored
    )
    return AccuracyMeter(machine).measure_episodes(model, buffer).modulo_shortcuts, balanced


def jobs(seeds: Sequence[int], steps: int = 40_000, methods: Sequence[str] = METHODS) -> dict[str, tuple[Any, ...]]:
    """A run of every method and seed."""
    return {f"{method} {seed} {steps}": (steps, method, seed) for method in methods for seed in seeds}


SCORES = ("success", "accuracy", "balanced", "updates", "cpu_seconds")
COMMAND = "python -m benchmarks.headline hidden-symbols"
BENCHMARKS = {"hidden-symbols": Benchmark(Headline("hidden-symbols", COMMAND, SCORES), jobs, run)}


def main(config: Config) -> None:
    """Run all, print the table."""
    headline = BENCHMARKS["hidden-symbols"].headline
    show(complete(headline, jobs(config.seeds, config.steps, config.methods), run, folder=config.out), config.out)


if __name__ == "__main__":
    main(tyro.cli(Config))
