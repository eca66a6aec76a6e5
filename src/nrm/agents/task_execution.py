"""An agent that was trained on many tasks, given a formula."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, cast

import gymnasium
import numpy as np
import torch
from torch import Tensor

from nrm.agents.playing import play
from nrm.agents.training import Trainer
from nrm.envs import BatchedEnv, StepBatch, Truth, labelling, letter_of
from nrm.errors import ConfigError, EnvError, LimitError, NrmWarning, listing
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_machine, not_asked
from nrm.shortcuts import task_set_shortcuts

Env = gymnasium.Env[Any, Any]
MAX_STATES = 5000
"""States of a machine past which a belief over them, at every step of many environments, takes too long."""

Ended = Literal["done", "lost", "environment", "steps"]
"""The agent calls the task done, or lost, more probable than not; the environment ended; or the steps are over."""


class RolloutResult(NamedTuple):
    """What became of a formula."""

    accepted: float | None
    """How probable the agent calls it that the task is done: 1 or 0 if it is given the symbols, None without a machine.
    """
    steps: int
    letters: tuple[str, ...]
    """What it read, step by step: the most probable letter, or the true one where it is given."""
    actions: tuple[Any, ...]
    env_reward: float
    """What the environment itself paid."""
    ended: Ended
    """Why it stopped."""


class Agent:
    """A policy that sees tasks through their view, so that any formula over the symbols that it knows will do."""

    def __init__(self, trainer: Trainer) -> None:
        if trainer.tasks is None:
            raise ConfigError(
                "this agent was trained on one task and knows no other; train one on many: nrm train --tasks mixture"
            )
        self._trainer = trainer
        self.alphabet = trainer.env.machine.alphabet

    def execute(
        self,
        formula: MachineLike,
        env: Env,
        *,
        seed: int | None = None,
        greedy: bool = False,
        argmax: bool = False,
        most_steps: int = 1000,
    ) -> RolloutResult:
        """Execute a formula in a Gymnasium environment that shows what the agent was trained on.

        It acts until it believes the task done or lost, the environment ends, or `most_steps` are over. No reward is
        read. `argmax`: each step is read as its most probable symbol, so that small doubts do not add up. An agent that
        is given the symbols needs an environment with labels (`info["labels"]`).
        """
        trainer = self._trainer
        machine = as_machine(formula, self.alphabet)
        if machine.alphabet != self.alphabet:
            raise EnvError(f"the task is over {machine.alphabet.symbols}, the agent knows {self.alphabet.symbols}")
        tasks = TaskSet((machine,), (str(formula),))
        check_new_tasks(trainer, tasks)
        single = _SingleEnv(env, tasks, trainer.env, seed, labelled=trainer.learner.memory.sees_truth)
        steps = play(trainer, cast(BatchedEnv, single), seed or 0, greedy, "argmax" if argmax else "open-loop")
        accepted = 0.0 if trainer.method.tracks_states else None
        ended: Ended = "steps"
        letters: list[str] = []
        for played in islice(steps, most_steps):
            if played.belief is not None:
                said = played.label if played.said is None else played.said.argmax(-1)
                letters.append(self.alphabet.letter_name(int(said[0])))
                belief = played.belief[0].double().numpy()
                accepted, lost = float(belief @ machine.accepting), float(belief @ machine.dead)
                if accepted + lost > 0.5:
                    ended = "done" if accepted >= lost else "lost"
            if ended == "steps" and bool(played.done[0]):
                ended = "environment"
            if ended != "steps":
                break
        return RolloutResult(accepted, len(single.taken), tuple(letters), tuple(single.taken), single.paid, ended)


class _SingleEnv:
    """A Gymnasium environment as a batch of one with a task that pays nothing, for one episode."""

    count = 1
    frames = None

    def __init__(self, env: Env, tasks: TaskSet, like: BatchedEnv, seed: int | None, labelled: bool) -> None:
        """`like`: what the agent was trained on; `labelled`: whether the environment says what holds."""
        self.shape = tuple(env.observation_space.shape or ())
        if self.shape != tuple(like.shape):
            raise EnvError(f"the environment shows {self.shape}, and the agent was trained on {like.shape}")
        self._env, self._seed = env, seed
        self._label = labelling(None, env) if labelled else None
        self.tasks, self.machine = tasks, tasks.machines[0]
        self.spec, self.dtype, self.actions = replace(like.spec, table=None), like.dtype, like.actions
        self.taken: list[Any] = []
        """The actions so far."""
        self.paid = 0.0
        """What the environment itself paid."""
        self.truth = self._truth(-1, self.machine.initial)

    def _truth(self, letter: int, state: int) -> Truth:
        return Truth(*(torch.tensor([number]) for number in (letter, state, state)))

    def reset(self, seed: int) -> Tensor:  # noqa: ARG002 - without a seed, an environment goes on with its own
        """The first observation."""
        return self._shown(self._env.reset(seed=self._seed)[0])

    def step(self, actions: Tensor) -> StepBatch:
        """Take the action."""
        action = actions[0].numpy() if actions.dim() > 1 else int(actions[0])
        observation, reward, terminated, truncated, info = self._env.step(action)
        self.taken.append(action)
        self.paid += float(reward)
        if self._label is not None:
            said = self._label(observation, info, self._env)
            letter = letter_of(said, self.machine.alphabet, None, f"step {len(self.taken)}")
            self.truth = self._truth(letter, self.machine.next_state(int(self.truth.state), letter))
        shown = self._shown(observation)
        return StepBatch(shown, torch.zeros(1), torch.tensor([terminated]), torch.tensor([truncated]), shown)

    def _shown(self, observation: Any) -> Tensor:
        return torch.from_numpy(np.array(observation))[None]


def check_new_tasks(trainer: Trainer, tasks: TaskSet) -> None:
    """Raise where a task asks for nothing, or for the impossible, or is too large to be followed.

    Warn where a task tells symbols apart that no task in training did, so that a grounder cannot have learned them.
    """
    for name, machine in zip(tasks.names, tasks.machines, strict=True):
        if what := not_asked(machine):
            raise ConfigError(f"the task {name} {what}; there is nothing to execute")
        if machine.states > MAX_STATES:
            raise LimitError(
                f"the machine of the task {name} has {machine.states:,} states, more than the {MAX_STATES:,} that are "
                "followed at every step; ask for less at once"
            )
    if trainer.model is None or trainer.tasks is None:
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
