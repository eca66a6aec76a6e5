"""A trained agent that somebody else steps, from one observation to the next action, or that executes a formula."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import gymnasium
import numpy as np
import torch
from torch import Tensor

from nrm.agents.playing import Chooser, unrewarded
from nrm.agents.training import Trainer
from nrm.envs import GymVectorEnv, labelling, letter_of
from nrm.errors import ConfigError, EnvError, LimitError, NrmWarning, listing
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_machine, not_asked
from nrm.shortcuts import task_set_shortcuts
from nrm.tracking import Belief, Report, Transition

MAX_STATES = 5000
"""States of a machine past which a belief over them, at every step of many environments, takes too long."""


class Policy:
    """A trained agent: `reset()` begins an episode, `act(observation)` chooses the next action.

    It keeps the state of the episode and reads no rewards. Methods that are given the true symbols also need `labels`,
    as in `info["labels"]`.
    """

    def __init__(self, trainer: Trainer, read_task: Callable[[str], MachineLike] = lambda text: text) -> None:
        """`read_task`: what the words of a task mean in the agent's environment."""
        self._trainer, self._read_task, self._tasks = trainer, read_task, trainer.tasks
        self._labelled = trainer.learner.memory.sees_truth or (
            trainer.inference is not None and trainer.inference.letters.labelled
        )
        self._action: Tensor | None = None
        self._chooser: Chooser | None = None

    def reset(self, task: MachineLike | None = None, *, seed: int = 0) -> None:
        """Begin an episode.

        Args:
            task: agents of many tasks only: the task to execute, also an unseen formula.
            seed: seed of sampled actions.

        """
        self._begin(task, seed, self._tasks.either(unrewarded(self._trainer.learner.memory), "open-loop"))

    def _begin(self, task: MachineLike | None, seed: int, belief: Belief) -> None:
        trainer = self._trainer
        self._machine = self._tasks.either(self._own_machine, self._machine_of)(task)
        self._memory = trainer.learner.memory.on(None, TaskSet((self._machine,), (str(task),)), belief)
        self._chooser = Chooser(trainer, self._memory, seed)
        self._carry = self._memory.begin(torch.zeros(1, dtype=torch.int64, device=trainer.device))
        self._state, self._action = self._machine.initial, None

    @torch.no_grad()
    def act(self, observation: Any, *, labels: Any = None, greedy: bool = False) -> Any:
        """The next action, in the format of the environment.

        Args:
            observation: the current observation, of the shape seen in training.
            labels: the true symbols now, for methods that are given them. Not read right after `reset`.
            greedy: take the most probable action instead of sampling.

        """
        if self._action is not None:
            self._read(observation, labels)
        return self._choose(observation, greedy)

    @torch.no_grad()
    def _choose(self, observation: Any, greedy: bool) -> Any:
        if self._chooser is None:
            raise EnvError("call reset() before the first act()")
        shown = self._shown(observation)
        self._carry = self._memory.settled(self._carry, partial(self._chooser.summary, shown))
        self._action = self._chooser.choose(shown, self._carry, greedy)
        row, env = self._action.cpu().numpy(), self._trainer.env
        action: Any = env.given(row)[0] if isinstance(env, GymVectorEnv) else row[0]
        return int(action) if np.ndim(action) == 0 else action

    @torch.no_grad()
    def _read(self, observation: Any, labels: Any) -> tuple[Tensor | None, Report]:
        """Take in what the last action led to: the letter, where it is given, and what the memory believes now."""
        assert self._chooser is not None
        assert self._action is not None
        shown, before = self._shown(observation), self._carry
        features = self._chooser.summary(shown) if self._memory.learns else None
        letter, state = self._truth(labels)
        seen = Transition(shown, features, self._action, torch.zeros(1, device=shown.device), state, letter)
        self._carry = self._memory.read(before, seen)
        return letter, self._memory.report(before, seen, self._carry)

    def _own_machine(self, task: MachineLike | None) -> MooreMachine:
        if task is not None:
            raise ConfigError(f"the agent was trained on one task, and cannot do {task}; call reset() without one")
        return self._trainer.env.machine

    def _machine_of(self, task: MachineLike | None) -> MooreMachine:
        trainer = self._trainer
        if task is None:
            raise ConfigError("the agent does many tasks; say which one: reset(task='F a')")
        known = trainer.env.machine.alphabet
        machine = as_machine(self._read_task(task) if isinstance(task, str) else task, known)
        if machine.alphabet != known:
            raise EnvError(f"the task is over {machine.alphabet.symbols}, the agent knows {known.symbols}")
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


Ended = Literal["done", "lost", "environment", "steps"]
"""The agent calls the task done, or lost, more probable than not; the environment ended; or the steps are over."""


class RolloutResult(NamedTuple):
    """The result of executing a formula."""

    accepted: float | None
    """The agent's probability that the task is satisfied; 0 or 1 if symbols are given, None without a machine."""
    steps: int
    letters: tuple[str, ...]
    """The predicted symbols, step by step; the true ones if they are given."""
    actions: tuple[Any, ...]
    env_reward: float
    """The sum of rewards of the environment."""
    ended: Ended
    """Why it stopped."""


class Agent:
    """An agent of many tasks: it executes any formula over its symbols."""

    def __init__(self, trainer: Trainer) -> None:
        if not trainer.tasks.either(False, True):
            raise ConfigError(
                "this agent was trained on one task; to execute formulas, train on many: nrm train --tasks mixture"
            )
        self._trainer = trainer
        self.alphabet = trainer.env.machine.alphabet

    def execute(
        self,
        formula: MachineLike,
        env: gymnasium.Env[Any, Any],
        *,
        seed: int | None = None,
        greedy: bool = False,
        argmax: bool = False,
        most_steps: int = 1000,
    ) -> RolloutResult:
        """Execute a formula in a Gymnasium environment with the observations of training.

        The episode ends when the agent believes that the task is satisfied or violated, when the environment ends it,
        or after `most_steps`. No reward is read. `argmax`: use the most probable symbol of each step, so that small
        doubts do not add up. An agent that is given the symbols needs an environment with labels (`info["labels"]`).
        """
        policy, label = Policy(self._trainer), labelling(None, env)
        policy._begin(formula, seed or 0, "argmax" if argmax else "open-loop")
        machine, accepted = policy._machine, 0.0 if self._trainer.method.tracks_states else None
        letters: list[str] = []
        actions: list[Any] = []
        paid = 0.0
        ended: Ended = "steps"
        observation, _ = env.reset(seed=seed)
        while ended == "steps" and len(actions) < most_steps:
            actions.append(policy._choose(observation, greedy))
            observation, reward, terminated, truncated, info = env.step(actions[-1])
            paid += float(reward)
            letter, report = policy._read(observation, label(observation, info, env) if policy._labelled else None)
            if terminated or truncated:
                ended = "environment"
            if report.states is not None:
                said = letter if report.letters is None else report.letters.argmax(-1)
                letters += [] if said is None else [self.alphabet.letter_name(int(said[0]))]
                belief = report.states[0].double().cpu().numpy()
                accepted, lost = float(belief @ machine.accepting), float(belief @ machine.dead)
                if accepted + lost > 0.5:
                    ended = "done" if accepted >= lost else "lost"
        return RolloutResult(accepted, len(actions), tuple(letters), tuple(actions), paid, ended)


def check_new_tasks(trainer: Trainer, tasks: TaskSet) -> None:
    """Raise where a task asks for nothing, or for the impossible, or is too large to be followed.

    Warn where a task tells symbols apart that no task in training did, so that a grounder cannot have learned them.
    """
    for name, machine in zip(tasks.names, tasks.machines, strict=True):
        if what := not_asked(machine):
            raise ConfigError(f"the task {name} {what}; there is nothing to execute")
        if machine.states > MAX_STATES:
            raise LimitError(
                f"the machine of the task {name} has {machine.states:,} states, more than the limit of {MAX_STATES:,}"
            )
    if trainer.model is None:
        return
    known = set(trainer.tasks.machines)
    new = [machine for machine in tasks.machines if machine not in known]
    for names in task_set_shortcuts(trainer.tasks).confusable if new else ():
        apart = sum(_tells_apart(machine, names) for machine in new)
        if apart:
            which = "the task tells" if len(tasks) == 1 else f"{apart} of {len(tasks)} tasks tell"
            warnings.warn(
                f"{which} {listing(names)} apart, which no task in training did: the agent may confuse them",
                NrmWarning,
                stacklevel=3,
            )


def _tells_apart(machine: MooreMachine, names: tuple[str, ...]) -> bool:
    """Whether letters of these names move a machine differently."""
    alphabet = machine.alphabet
    return len({machine.letter_class[alphabet.letter(alphabet.read_step(name))] for name in names}) > 1
