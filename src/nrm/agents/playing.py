"""Acting with a trained agent: step by step, with what it believes, and with what the environment renders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import torch
from gymnasium.wrappers import RenderCollection
from torch import Tensor

from nrm.agents.acting import act
from nrm.agents.devices import placed
from nrm.agents.training import Trainer
from nrm.envs import BatchedEnv, GymVectorEnv, StepBatch
from nrm.errors import EnvError, NrmWarning
from nrm.tracking import Belief, Memory


class Played(NamedTuple):
    """One step of N environments under a policy."""

    action: Tensor
    """(envs,), or (envs, size) where an action is a row of numbers."""
    batch: StepBatch
    memory: Tensor
    """(envs, size) what the policy sees of the memory after the step, before any reset."""
    label: Tensor
    """(envs,) the true letter read."""
    state: Tensor
    """(envs,) the machine's true state reached."""
    task: Tensor
    """(envs,) the number of the task; 0 where there is one."""
    said: Tensor | None = None
    """(envs, letters) what the grounder says of the step; None where the method has none."""
    belief: Tensor | None = None
    """(envs, states) how probable the memory calls each state of the environment's own machine after the step; None
    where it follows none."""
    learned: Tensor | None = None
    """(envs, states) the same of the states of a machine that was learned, where the method learns one."""
    read: Tensor | None = None
    """(envs,) the number of the letter that such a machine read; negative where it is a new one."""

    @property
    def done(self) -> Tensor:
        """(envs,) where an episode ended."""
        return self.batch.terminated | self.batch.truncated

    def cpu(self) -> Played:
        """The same on the processor."""
        batch = StepBatch(*(shown.cpu() for shown in self.batch))
        moved: dict[str, Any] = {name: one.cpu() for name, one in self._asdict().items() if isinstance(one, Tensor)}
        return self._replace(batch=batch, **moved)


def unrewarded(memory: Memory) -> Belief:
    """What a memory reads in tests unless they say otherwise: what it read in training, but no rewards.

    Rewards tell most of the state of a task by themselves, so a test that reads them says little about symbols.
    """
    return "argmax" if memory.belief == "argmax" else "open-loop"


def memory_for(trainer: Trainer, env: BatchedEnv, belief: Belief) -> Memory:
    """The trainer's memory on another environment, with its tasks; `belief`: what it reads."""
    if belief == "filtered" and env.withheld is not None:
        raise EnvError("this environment pays at the end of an episode, so that no belief can read rewards before it")
    if not trainer.tasks.either(env.tasks.either(True, False), True):
        raise EnvError(
            "the agent was trained on one task and follows the states of its machine; for tasks that it has not seen, "
            "train it on many: nrm train --tasks mixture"
        )
    return trainer.learner.memory.on(env.frames, env.tasks, belief)


class Chooser:
    """How a trained agent chooses: by its policy, from what it sees and remembers."""

    def __init__(
        self,
        trainer: Trainer,
        memory: Memory,
        seed: int,
        look: Callable[[Tensor], Tensor] = lambda observation: observation,
    ) -> None:
        """`look`: how observations look that are given by their row numbers."""
        self._policy, self._memory, self._look = trainer.learner.policy, memory, look
        self._head = trainer.learner.policy.head
        self._generator = torch.Generator().manual_seed(seed)

    def features(self, observation: Tensor) -> Tensor:
        """(envs, width) what the policy sees."""
        return self._policy.encoder(self._look(observation))

    def summary(self, observation: Tensor) -> Tensor:
        """(envs, reads) what memories that learn read."""
        return self._policy.summary(self.features(observation))

    def choose(self, observation: Tensor, carry: Tensor, greedy: bool) -> Tensor:
        """The next actions; `greedy`: the best, and not a sample."""
        shown = self._memory.feature(carry)
        logits, _ = self._policy(self.features(observation), shown)
        noise = self._head.noise((len(shown),), self._generator).to(shown.device)
        return self._head.best(logits) if greedy else self._head.sample(logits, noise)


@torch.no_grad()
def play(
    trainer: Trainer,
    env: BatchedEnv,
    seed: int,
    greedy: bool,
    belief: Belief | None = None,
) -> Iterator[Played]:
    """Act on an environment for ever, with the trainer's policy as it is.

    `belief`: what memories read; no rewards when absent (`unrewarded`), and rewards too if it is `filtered`.
    """
    kind, env = belief or unrewarded(trainer.learner.memory), placed(env, trainer.device)
    memory = memory_for(trainer, env, kind)
    chooser = Chooser(trainer, memory, seed, env.spec.shown)
    choose = partial(chooser.choose, greedy=greedy)
    observation, rewarded = env.reset(seed), kind == "filtered"
    for step in act(env, memory, chooser.summary, choose, observation, reads_rewards=rewarded):
        shown = (step.truth.label, step.truth.final_state, step.task)
        believed = memory.report(step.carry, step.seen, step.reached)
        yield Played(step.action, step.batch, memory.feature(step.reached), *shown, *believed).cpu()


class Shot(NamedTuple):
    """One step, and its pictures."""

    pictures: list[Any]
    """What was rendered, the last after the step; at the first step, one from before it too. None where nothing is."""
    played: Played


def film(
    trainer: Trainer,
    env: gymnasium.Env[Any, Any],
    seed: int,
    greedy: bool,
    belief: Belief | None = None,
    name: str = "the environment",
) -> Iterator[Shot]:
    """One episode of an environment with a task, to its end.

    `belief`: what memories read, no rewards if absent. `name`: of the environment, for a warning where it promises
    pictures and draws none.
    """
    camera = RenderCollection(env, reset_clean=False) if env.render_mode is not None and _draws(env, name) else None
    batched = GymVectorEnv.of(lambda: camera or env, 1)
    for played in play(trainer, batched, seed, greedy, belief):
        pictures = [] if camera is None else list(camera.render())
        done = bool(played.done[0])
        # After an episode's end the next one has begun already, and was rendered.
        yield Shot(pictures[:-1] if done else pictures, played)
        if done:
            return


def _draws(env: gymnasium.Env[Any, Any], name: str) -> bool:
    """Whether an environment that promises pictures draws any; a warning where it does not."""
    env.reset()
    with suppress(NotImplementedError):
        if env.render() is not None:
            return True
    warnings.warn(
        f"{name} says that it renders as '{env.render_mode}', but its render() draws nothing; write one, or leave "
        "render_modes out of its metadata",
        NrmWarning,
        stacklevel=2,
    )
    return False


def action_names(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """What an environment calls its actions, if it says so: its attribute `action_names`."""
    return tuple(map(str, env.get_wrapper_attr("action_names"))) if env.has_wrapper_attr("action_names") else ()
