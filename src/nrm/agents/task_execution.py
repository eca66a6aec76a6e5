"""An agent that was trained on many tasks, given a formula."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import gymnasium
import numpy as np
import torch

from nrm.agents.actions import head_for
from nrm.agents.stuck_noise import StuckNoise
from nrm.agents.training import Trainer
from nrm.envs import Speaker, labelling, letter_of
from nrm.errors import ConfigError, EnvError, LimitError, NrmWarning, listing
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_machine, not_asked
from nrm.shortcuts import task_set_shortcuts
from nrm.tracking import TaskBeliefMemory, TaskMemory, TaskStateMemory, Transition

Env = gymnasium.Env[Any, Any]
MAX_STATES = 5000
"""States of a machine past which a belief over them, at every step of many environments, takes too long."""
ENVIRONMENT = Speaker("the label of the environment", declare="")
"""The symbols are those that the agent was trained on."""


Ended = Literal["done", "lost", "environment", "steps"]
"""The agent calls the task done, or lost, more probable than not; the environment ended; or the steps are over."""


class RolloutResult(NamedTuple):
    """What became of a formula."""

    accepted: float | None
    """How probable the agent calls it that the task is done: 1 or 0 where it is told the symbols, None where it follows
    no machine."""
    steps: int
    letters: tuple[str, ...]
    """What it read, step by step: the most probable letter, or the true one where it is told."""
    actions: tuple[Any, ...]
    env_reward: float
    """What the environment itself paid."""
    ended: Ended
    """Why it stopped."""


class Agent:
    """A policy that sees tasks through their view, so that any formula over the symbols that it knows will do."""

    def __init__(self, trainer: Trainer) -> None:
        if not isinstance(trainer.learner.memory, TaskMemory):
            raise ConfigError(
                "this agent was trained on one task and knows no other; train one on many: nrm train --tasks mixture"
            )
        self._trainer = trainer
        self._memory = trainer.learner.memory
        self.alphabet = trainer.env.machine.alphabet

    @torch.no_grad()
    def execute(
        self,
        formula: MachineLike,
        env: Env,
        *,
        seed: int | None = None,
        greedy: bool = False,
        crisp: bool = False,
        most_steps: int = 1000,
    ) -> RolloutResult:
        """Execute a formula in a Gymnasium environment that shows what the agent was trained on.

        It acts until it believes the task done or lost, the environment ends, or `most_steps` are over. No reward is
        read. `crisp`: each step is read as its most probable symbol; over long episodes small doubts add up otherwise,
        and an agent whose symbols are not sharp yet comes to believe that it has been where it has not. An agent that
        is told the symbols needs an environment that says what holds (`info["labels"]`).
        """
        machine = as_machine(formula, self.alphabet)
        if machine.alphabet != self.alphabet:
            raise EnvError(f"the task is over {machine.alphabet.symbols}, the agent knows {self.alphabet.symbols}")
        tasks = TaskSet((machine,), (str(formula),))
        check_new_tasks(self._trainer, tasks)
        shape = tuple(env.observation_space.shape or ())
        if shape != tuple(self._trainer.env.shape):
            raise EnvError(f"the environment shows {shape}, and the agent was trained on {self._trainer.env.shape}")
        memory = self._memory.with_tasks(None, tasks, "argmax" if crisp else "open-loop")
        device = self._trainer.device
        policy, head = self._trainer.learner.policy, head_for(self._trainer.env.actions, device)
        generator = torch.Generator().manual_seed(0 if seed is None else seed)
        stuck = StuckNoise(self._trainer.stuck_noise)
        label = labelling(None, env)
        carry, state = memory.begin(torch.zeros(1, dtype=torch.int64, device=device)), machine.initial
        observation, _ = env.reset(seed=seed)
        letters: list[str] = []
        actions: list[Any] = []
        paid = 0.0
        ended: Ended = "steps"
        while ended == "steps" and len(actions) < most_steps:
            seen = torch.from_numpy(np.array(observation))[None].to(device)
            told = memory.feature(carry)
            scores = policy.logits(policy.encoder(seen), told)
            noise = stuck.noise(told, head.noise((1,), generator).to(device))
            chosen = head.best(scores) if greedy else head.sample(scores, noise)
            action = chosen[0].cpu().numpy() if chosen.dim() > 1 else int(chosen[0])
            observation, reward, terminated, truncated, info = env.step(action)
            actions.append(action)
            paid += float(reward)
            shown = torch.from_numpy(np.array(observation))[None].to(device)
            truth = None
            if isinstance(memory, TaskStateMemory):
                said = label(observation, info, env)
                letter = letter_of(said, self.alphabet, None, f"step {len(actions)}", ENVIRONMENT)
                state = machine.next_state(state, letter)
                truth = torch.tensor([state], device=device)
                letters.append(self.alphabet.letter_name(letter))
            elif isinstance(memory, TaskBeliefMemory):
                letters.append(self.alphabet.letter_name(int(memory.letters(carry, shown).argmax())))
            read = policy.summary(policy.encoder(shown)) if memory.learns else None
            carry = memory.read(carry, Transition(shown, read, chosen, torch.zeros(1, device=device), truth))
            done, lost = (
                self._accepted(memory, carry, state, which) or 0.0 for which in (machine.accepting, machine.dead)
            )
            if done + lost > 0.5:
                ended = "done" if done >= lost else "lost"
            elif terminated or truncated:
                ended = "environment"
        accepted = self._accepted(memory, carry, state, machine.accepting)
        return RolloutResult(accepted, len(actions), tuple(letters), tuple(actions), paid, ended)

    def _accepted(
        self, memory: TaskMemory, carry: torch.Tensor, state: int, which: np.ndarray[Any, Any]
    ) -> float | None:
        """The probability of being in some states (states,) of the machine; None where nobody follows it."""
        if isinstance(memory, TaskStateMemory):
            return float(which[state])
        if isinstance(memory, TaskBeliefMemory):
            return float(memory.states(carry)[0].double().cpu().numpy() @ which)
        return None


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
        told = sum(_tells_apart(machine, names) for machine in new)
        if told:
            which = "the task tells" if len(tasks) == 1 else f"{told} of {len(tasks)} tasks tell"
            warnings.warn(
                f"{which} {listing(names)} apart, which no task in training did: the agent may confuse them",
                NrmWarning,
                stacklevel=3,
            )


def _tells_apart(machine: MooreMachine, names: tuple[str, ...]) -> bool:
    """Whether letters of these names move a machine differently."""
    alphabet = machine.alphabet
    return len({machine.letter_class[alphabet.letter(alphabet.read_step(name))] for name in names}) > 1
