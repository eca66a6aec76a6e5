"""What tabular agents share: tables, settings, the loop of training, and episodes of a trained agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import FloatArray, Letter, State
from nrm.envs import TaskEnv, ending_states
from nrm.errors import EnvError
from nrm.settings import Checked, Positive, Share

PROBATION = 1000
"""Steps after which observations must have come again, or they are taken for continuous ones."""


class Step(NamedTuple):
    """One step of an episode, observations by their rows in the tables."""

    row: int
    state: State
    action: int
    reward: float
    letter: Letter
    """What was read."""
    next_row: int
    next_state: State
    base_terminated: bool
    """Whether the environment itself ended the episode."""
    ended: bool
    """Whether the episode is over, for whatever reason."""


@dataclass(frozen=True, kw_only=True)
class TabularConfig(Checked):
    """Settings of tabular agents."""

    error = EnvError

    gamma: Share = 0.9
    """Discount factor."""
    learning_rate: Positive = 0.5
    """Share by which a value moves to its target."""
    epsilon: Share = 0.1
    """Share of random choices in training."""
    initial: float = 2.0
    """The value of what was never tried. Above every possible one, it makes agents explore."""


class Table:
    """Values (rows, …) of observations, which get rows as they are met."""

    def __init__(self, shape: tuple[int, ...], initial: float) -> None:
        self._initial = initial
        self.values: FloatArray = np.full((256, *shape), initial)

    def __getitem__(self, row: int) -> FloatArray:
        """(…) the values of a row, to read and to write."""
        if row >= len(self.values):
            more = np.full_like(self.values, self._initial)
            self.values = np.concatenate([self.values, more])
        found: FloatArray = self.values[row]
        return found


class TabularAgent(ABC):
    """An agent on one environment with a task, or with a task set."""

    def __init__(self, env: TaskEnv[Any, Any], config: TabularConfig, seed: int = 0) -> None:
        space = env.action_space
        if not isinstance(space, spaces.Discrete):
            raise EnvError(f"tabular agents choose among some actions, Discrete(n), not in {space}")
        if env.gamma not in (1.0, config.gamma):
            raise EnvError(f"the environment shapes rewards for gamma={env.gamma}, the agent's is {config.gamma}")
        self.env, self.config = env, config
        self.actions, self._first_action = int(space.n), int(space.start)
        self.machine = env.machine
        self.ends = ending_states(env.tasks, env.end)
        self.generator = np.random.default_rng(seed)
        self.rewards: list[float] = []
        """What each step of training paid."""
        self._rows: dict[bytes, int] = {}

    def row(self, observation: Any) -> int:
        """The row of an observation."""
        return self._rows.setdefault(np.asarray(observation).tobytes(), len(self._rows))

    def check_rows(self, steps: int) -> None:
        """Raise `EnvError` if hardly any observation of so many steps has come again."""
        if len(self._rows) > 0.9 * steps:
            raise EnvError(
                f"{len(self._rows)} of {steps} observations are new, as if they were continuous; tabular agents need "
                "observations that come again. Use nrm.train, or Stable-Baselines3"
            )

    def epsilon_greedy(self, values: FloatArray, epsilon: float) -> int:
        """The place of the best value, one of the best where there are several, or with probability epsilon any."""
        if epsilon and self.generator.random() < epsilon:
            return int(self.generator.integers(len(values)))
        best = np.flatnonzero(values == values.max())
        return int(best[self.generator.integers(len(best))] if len(best) > 1 else best[0])

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """The best action, as the environment takes it; `info`: what `reset` or `step` gave beside the observation."""
        return self._first_action + self.choose(self.row(observation), info, 0.0)

    @abstractmethod
    def choose(self, row: int, info: dict[str, Any], epsilon: float) -> int:
        """An action, numbered from 0."""

    @abstractmethod
    def learn(self, step: Step) -> None:
        """Learn from a step."""


def train(agent: TabularAgent, total_timesteps: int, seed: int = 0) -> None:
    """Train for some steps, episode after episode."""
    env = agent.env
    observation, info = env.reset(seed=seed)
    row = agent.row(observation)
    for number in range(total_timesteps):
        action = agent.choose(row, info, agent.config.epsilon)
        observation, reward, terminated, truncated, after = env.step(agent._first_action + action)
        next_row, ended = agent.row(observation), terminated or truncated
        moved = info["machine_state"], action, reward, after["letter"], next_row, after["machine_state"]
        agent.learn(Step(row, *moved, after["base_terminated"], ended))
        agent.rewards.append(reward)
        row, info = next_row, after
        if ended:
            observation, info = env.reset()
            row = agent.row(observation)
        if number + 1 == PROBATION:
            agent.check_rows(PROBATION)


class Played(NamedTuple):
    """An episode of an agent that takes no chances."""

    steps: int
    reward: float
    """The sum."""
    success: bool


def play(agent: TabularAgent, env: gymnasium.Env[Any, Any], task: int = 0, seed: int = 0) -> Played:
    """One episode of a task, by its number."""
    observation, info = env.reset(seed=seed, options={"task": task})
    steps, total, ended = 0, 0.0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation, info))
        steps, total, ended = steps + 1, total + float(reward), terminated or truncated
    return Played(steps, total, bool(agent.machine.accepting[info["machine_state"]]))


def discounted(config: TabularConfig, following: FloatArray, over: NDArray[np.bool_]) -> FloatArray:
    """What the values of what follows are worth now; nothing where the episode is over."""
    return config.gamma * np.where(over, 0.0, following)
