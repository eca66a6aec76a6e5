"""Q-learning on pairs of observation and machine state, with or without counterfactual experience (CRM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nrm.envs import TaskEnv
from nrm.tabular.learning import Step, Table, TabularAgent, TabularConfig, discounted, train


class QAgent(TabularAgent):
    """Values of actions for each observation and state of the machine."""

    def __init__(self, env: TaskEnv[Any, Any], config: TabularConfig, seed: int = 0, crm: bool = False) -> None:
        """`crm`: learn from each step in every state of every task, as if the episode were in it."""
        super().__init__(env, config, seed)
        self.crm = crm
        self.values = Table((self.machine.states, self.actions), config.initial)
        self._live = np.flatnonzero(~self.ends)

    def choose(self, row: int, info: dict[str, Any], epsilon: float) -> int:
        """By the values in the present state."""
        return self.epsilon_greedy(self.values[row][info["machine_state"]], epsilon)

    def learn(self, step: Step) -> None:
        """One update, in the state of the step or in all."""
        states = self._live if self.crm else np.array([step.state])
        reached = self.machine.columns[states, self.machine.class_of(step.letter)]
        over = self.ends[reached] | step.base_terminated
        following = self.values[step.next_row][reached].max(1)
        target = self.env.paid(states, reached) + discounted(self.config, following, over)
        values = self.values[step.row]
        values[states, step.action] += self.config.learning_rate * (target - values[states, step.action])


def q_learning(
    env: TaskEnv[Any, Any], total_timesteps: int = 100_000, *, crm: bool = False, seed: int = 0, **settings: float
) -> QAgent:
    """Train by Q-learning.

    Args:
        env: an environment with a task, or with a task set. Its rewards are learned from: to shape them, compile the
            task with a reward scheme and give `nrm.TaskEnv` the discount factor.
        total_timesteps: steps of training.
        crm: use counterfactual experience.
        seed: seed of episodes and of chance.
        settings: gamma, learning_rate, epsilon, initial: see `TabularConfig`.

    """
    agent = QAgent(env, TabularConfig(**settings), seed, crm)
    train(agent, total_timesteps, seed)
    return agent
