"""Hierarchical reinforcement learning for reward machines (HRM): what to do next, and how."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from nrm.envs import TaskEnv
from nrm.errors import NrmWarning, listing
from nrm.machines import Options
from nrm.tabular.learning import Step, Table, TabularAgent, TabularConfig, discounted, train


class HierarchicalAgent(TabularAgent):
    """A controller chooses an edge that leaves the state, the policy of an option makes its guard true.

    An option ends where the state changes or the episode ends. The policy of every option learns from every step:
    it gets 1 where its guard is true. The controller learns from the rewards of whole options.
    """

    def __init__(self, env: TaskEnv[Any, Any], config: TabularConfig, seed: int = 0) -> None:
        super().__init__(env, config, seed)
        self.options = Options.of(env.tasks)
        self.controller = Table((self.machine.states, len(self.options)), config.initial)
        self.policies = Table((len(self.options), self.actions), config.initial)
        self.happened = np.zeros(len(self.options), dtype=np.bool_)
        """(options,) whether the guard of an option was ever true."""
        self.option: int | None = None
        """What the agent is about; None where it must choose."""
        self._state = -1

    def choose(self, row: int, info: dict[str, Any], epsilon: float) -> int:
        """By the option, which is chosen first if there is none."""
        state = info["machine_state"]
        if info["letter"] < 0 or state != self._state or self.option is None:
            self._state, self._begun, self._total, self._discount = state, row, 0.0, 1.0
            offered = np.flatnonzero(self.options.possible[state])
            self.option = int(offered[self.epsilon_greedy(self.controller[row][state, offered], epsilon)])
        return self.epsilon_greedy(self.policies[row][self.option], epsilon)

    def learn(self, step: Step) -> None:
        """All policies learn; the controller does if the option is over."""
        self._learn_policies(step)
        self._total += self._discount * step.reward
        self._discount *= self.config.gamma
        if step.ended or step.next_state != step.state:
            self._learn_controller(step)
            self.option = None

    def _learn_policies(self, step: Step) -> None:
        letters = self.machine.class_of(step.letter)
        reached, lost = self.options.aims[:, letters], self.options.loses[:, letters]
        self.happened |= reached
        over = reached | lost | step.base_terminated
        target = reached + discounted(self.config, self.policies[step.next_row].max(1), over)
        values = self.policies[step.row]
        values[:, step.action] += self.config.learning_rate * (target - values[:, step.action])

    def _learn_controller(self, step: Step) -> None:
        """From the rewards of the option; what follows is worth what the best option there is."""
        assert self.option is not None
        target = self._total
        if not (self.ends[step.next_state] or step.base_terminated):
            offered = self.options.possible[step.next_state]
            target += self._discount * self.controller[step.next_row][step.next_state, offered].max()
        values = self.controller[self._begun][step.state]
        values[self.option] += self.config.learning_rate * (target - values[self.option])


def hrm(
    env: TaskEnv[Any, Any], total_timesteps: int = 100_000, *, seed: int = 0, **settings: float
) -> HierarchicalAgent:
    """Train a hierarchical agent. Warns of edges that no observation has triggered.

    Args:
        env: an environment with a task, or with a task set, whose options are then shared.
        total_timesteps: steps of training.
        seed: seed of episodes and of chance.
        settings: gamma, learning_rate, epsilon, initial: see `TabularConfig`.

    """
    agent = HierarchicalAgent(env, TabularConfig(**settings), seed)
    train(agent, total_timesteps, seed)
    if untaken := agent.options.untaken(agent.happened):
        warnings.warn(
            f"no observation of training triggered {listing(untaken, 4)}: the options for it learned nothing",
            NrmWarning,
            stacklevel=2,
        )
    return agent
