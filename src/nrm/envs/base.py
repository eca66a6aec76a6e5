"""The one small interface through which agents see N environments at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from nrm.aliases import BoolArray
from nrm.errors import EnvError
from nrm.machines import MooreMachine, TaskSet
from nrm.observations import ObservationSpec

ActionSpace: TypeAlias = int | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Box
"""How many actions there are, numbered from 0; or a space of Gymnasium's, where an action is a row of numbers."""


def action_space(space: Any) -> ActionSpace:
    """A space of Gymnasium's as an environment says it, or an error that names what helps."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, (int, np.integer)) and not isinstance(space, bool) and space > 0:
        return int(space)
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        return space
    if not isinstance(space, spaces.Box):
        raise EnvError(
            f"actions must be Discrete, MultiDiscrete, MultiBinary or Box, not {space}; convert them "
            "with gymnasium.wrappers.TransformAction"
        )
    if space.dtype.kind != "f" or not space.is_bounded("both") or not bool((space.low < space.high).all()):
        raise EnvError(f"actions of a Box must be floating, with finite bounds, low ones below high ones: {space}")
    return space


def action_size(actions: ActionSpace) -> int | None:
    """How many numbers one action is; None where it is a single number and no row."""
    return None if isinstance(actions, int) else int(np.prod(actions.shape))


class StepBatch(NamedTuple):
    """What N environments show after a step. An environment whose episode ended has already begun the next one."""

    observation: Tensor
    """What the agent sees now: (N,) int64 rows of the environment's `frames` when it has them, else (N, *shape)."""
    reward: Tensor
    """(N,) float32: the difference of potentials that was paid."""
    terminated: Tensor
    """(N,) bool: the task, or the environment itself, ended the episode."""
    truncated: Tensor
    """(N,) bool: the step limit did."""
    final_observation: Tensor
    """Like `observation`, but of the step itself, before any reset; equal to it where the episode goes on."""


class Truth(NamedTuple):
    """What only the baseline that is given the symbols, and evaluation, may look at."""

    label: Tensor
    """(N,) int64 the letter read at the last step; -1 before the first one."""
    state: Tensor
    """(N,) int64 the machine's state now: the initial one right after a reset."""
    final_state: Tensor
    """(N,) int64 the state that the last step reached, before any reset."""


class Probe(NamedTuple):
    """Observations and what they show: for evaluation only."""

    observations: Tensor
    """(n, *shape)"""
    letters: Tensor
    """(n,) int64 the true letter of each."""


class BatchedEnv(ABC):
    """N environments that step together, each with one of some tasks, which pays.

    An episode that ends is reset within the same step, so every action counts; what ended is in `final_observation`.
    The first observation of an episode is not read by the machine (row t of an episode is what reward t was paid for).
    """

    count: int
    """N."""
    spec: ObservationSpec
    """What its observations are."""
    actions: ActionSpace
    """How many actions there are, numbered from 0; or a `MultiDiscrete`, `MultiBinary` or `Box` of Gymnasium's."""
    tasks: TaskSet
    """What episodes have one of. States are those of all tasks together (`tasks.union`)."""
    withheld: BoolArray | None = None
    """(potentials,) those that a step before the end may reach, where episodes pay at their end only; else None."""
    device = torch.device("cpu")
    """Where it shows what it shows."""

    @property
    def machine(self) -> MooreMachine:
        """The task that pays, or the union of many."""
        return self.tasks.union

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return self.spec.shape

    @property
    def dtype(self) -> torch.dtype:
        """The type of its numbers."""
        return self.spec.dtype

    @property
    def frames(self) -> Tensor | None:
        """(K, *shape) all distinct observations where they are few; observations are then row numbers."""
        return self.spec.table

    @property
    def task(self) -> Tensor:
        """(N,) int64 the number of the task that each environment has now."""
        return torch.zeros(self.count, dtype=torch.int64)

    @abstractmethod
    def reset(self, seed: int) -> Tensor:
        """Begin anew, all from this seed; the first observation of every environment."""

    @abstractmethod
    def step(self, actions: Tensor) -> StepBatch:
        """Take one action in each environment. actions: (N,) int64; (N, size) for spaces, int64 or float32."""

    @property
    @abstractmethod
    def truth(self) -> Truth:
        """The symbols and states behind what is seen."""

    def probe(self, count: int, seed: int = 0) -> Probe | None:  # noqa: ARG002
        """All observations, or about as many as asked for, with their letters; None where nobody tells."""
        return None

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """All that `load_state_dict` needs to go on exactly from here, randomness included."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called."""


def check_count(count: object) -> None:
    """Raise `EnvError` unless `count` can be a number of environments."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise EnvError(f"a batch has at least one environment; count is {count!r}")


def checked_actions(actions: NDArray[Any], count: int, space: Any) -> NDArray[Any]:
    """Actions (N, …) of a policy as environments take them: (N, *shape of the space), numbered from where it begins."""
    kinds = "f" if isinstance(space, spaces.Box) else "iu"
    if actions.size != count * np.prod(space.shape, dtype=int) or actions.dtype.kind not in kinds:
        raise EnvError(
            f"give one action of {space} for each of {count} environments, not {actions.dtype} of shape {actions.shape}"
        )
    shaped = actions.reshape(count, *space.shape)
    if isinstance(space, spaces.Box):
        given = np.clip(shaped, space.low, space.high)
        wrong = ~np.isclose(given, shaped, rtol=1e-5, atol=1e-6)
    else:
        given = shaped + getattr(space, "start", 0)
        counts = 2 if isinstance(space, spaces.MultiBinary) else getattr(space, "nvec", getattr(space, "n", 0))
        wrong = (shaped < 0) | (shaped >= counts)
    if wrong.any():
        where = int(np.argwhere(wrong)[0][0])
        raise EnvError(f"action {shaped[where]} in environment {where} is outside of {space}, numbered from 0")
    taken: NDArray[Any] = given.astype(space.dtype, copy=False)
    return taken


def task_digest(machine: MooreMachine) -> str:
    """A short name of a machine for saved states: equal machines have equal ones."""
    shape, data = machine.moves.key
    text = repr((machine.alphabet, machine.initial, shape)).encode()
    return sha256(text + data + machine.accepting.tobytes() + machine.outputs.tobytes()).hexdigest()[:16]
