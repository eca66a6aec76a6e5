"""A trained agent that somebody else steps: from one observation to the next action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nrm.agents.playing import Chooser, unrewarded
from nrm.agents.task_execution import check_new_tasks
from nrm.agents.training import Trainer
from nrm.envs import GymVectorEnv, letter_of
from nrm.errors import ConfigError, EnvError
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_machine
from nrm.tracking import Belief, Transition


class Policy:
    """A trained agent: `reset()` begins an episode, `act(observation)` chooses the next action.

    It remembers what it needs of the episode. It reads no rewards. A method that is given the true symbols needs
    `labels` too: what holds, as `info["labels"]` says it.
    """

    def __init__(self, trainer: Trainer, read_task: Callable[[str], MachineLike] = lambda text: text) -> None:
        """`read_task`: what the words of a task mean in the agent's environment."""
        self._trainer, self._read_task = trainer, read_task
        self._labelled = trainer.learner.memory.sees_truth or (
            trainer.inference is not None and trainer.inference.letters.labelled
        )
        self._action: Tensor | None = None
        self._chooser: Chooser | None = None

    def reset(self, task: MachineLike | None = None, *, seed: int = 0) -> None:
        """Begin an episode.

        Args:
            task: what to do, also a formula that it has never seen. For agents of many tasks, and only for these.
            seed: of the actions that are sampled.

        """
        trainer = self._trainer
        self._machine = self._machine_of(task)
        memory = trainer.learner.memory
        kind: Belief = unrewarded(memory) if trainer.tasks is None else "open-loop"
        self._memory = memory.on(None, TaskSet((self._machine,), (str(task),)), kind)
        self._chooser = Chooser(trainer, self._memory, None, trainer.env.actions, seed, stuck_noise=True)
        self._carry = self._memory.begin(torch.zeros(1, dtype=torch.int64, device=trainer.device))
        self._state, self._action = self._machine.initial, None

    @torch.no_grad()
    def act(self, observation: Any, *, labels: Any = None, greedy: bool = False) -> Any:
        """The next action, as the environment takes it.

        Args:
            observation: what the environment shows now, of the shape that the agent was trained on.
            labels: what holds now; for methods that are given the true symbols. Not read right after `reset`.
            greedy: take the best action and not a sample.

        """
        if self._chooser is None:
            raise EnvError("call reset() before the first act()")
        shown = self._shown(observation)
        if self._action is not None:
            features = self._chooser.summary(shown) if self._memory.learns else None
            nothing = torch.zeros(1, device=shown.device)
            letter, state = self._truth(labels)
            seen = Transition(shown, features, self._action, nothing, state, letter)
            self._carry = self._memory.read(self._carry, seen)
        self._action = self._chooser.choose(shown, self._carry, greedy)
        row, env = self._action.cpu().numpy(), self._trainer.env
        action: Any = env.given(row)[0] if isinstance(env, GymVectorEnv) else row[0]
        return int(action) if np.ndim(action) == 0 else action

    def _machine_of(self, task: MachineLike | None) -> MooreMachine:
        trainer = self._trainer
        if trainer.tasks is None:
            if task is not None:
                raise ConfigError(f"the agent was trained on one task, and cannot do {task}; call reset() without one")
            return trainer.env.machine
        if task is None:
            raise ConfigError("the agent does many tasks; say which one: reset(task='F a')")
        machine = as_machine(self._read_task(task) if isinstance(task, str) else task, trainer.env.machine.alphabet)
        check_new_tasks(trainer, TaskSet((machine,), (str(task),)))
        return machine

    def _shown(self, observation: Any) -> Tensor:
        env = self._trainer.env
        if env.spec.entries is not None:
            entries = env.spec.entries
            alone = {entries.parts[0].name: observation}
            observation = entries.join(observation if isinstance(observation, Mapping) else alone)
        shown = torch.as_tensor(np.array(observation))[None]
        if tuple(shown.shape[1:]) != tuple(env.shape):
            raise EnvError(f"the observation has shape {tuple(shown.shape[1:])}, and the agent reads {env.shape}")
        return shown.to(self._trainer.device, env.dtype)

    def _truth(self, labels: Any) -> tuple[Tensor | None, Tensor | None]:
        """The letter that was read and the state that it leads to, for memories that are given them."""
        if not self._labelled:
            return None, None
        if labels is None:
            method = self._trainer.method.name
            raise EnvError(f"the method '{method}' is given the true symbols: act(observation, labels=info['labels'])")
        letter = letter_of(labels, self._machine.alphabet, None, "this step")
        self._state = self._machine.next_state(self._state, letter)
        device = self._trainer.device
        return torch.tensor([letter], device=device), torch.tensor([self._state], device=device)
