"""What wrappers share: a machine and its tracker that fit an environment, and beliefs beside observations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.errors import EnvError, NrmError, listing
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_task_set, machine_or_tasks
from nrm.neural import Emission, NeuralRewardMachine, named_grounder
from nrm.observations import Parts
from nrm.tracking import Belief, MachineLearning, Tracker

Reads: TypeAlias = str | Sequence[str] | None
"""What a grounder reads of `Dict` observations: one entry, several together, or all of them."""

BELIEF = "belief"
TASK = "task"
"""The entry in place of the belief where there are many tasks: the view of the one that an episode has."""
OBSERVATION = "observation"
_ONE_ARRAY = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)


@dataclass(frozen=True, eq=False)
class Augmentation:
    """How observations of a space carry a belief over some states."""

    space: spaces.Space[Any]
    """The space of observations with beliefs."""
    grounded: spaces.Space[Any]
    """The space of the part of an observation that the grounder reads."""
    key: str | None
    """The one entry of a `Dict` observation that the grounder reads; None where it reads several, or all there is."""
    parts: Parts | None = None
    """The entries that it reads together, as rows of numbers, where they are several."""
    entry: str = BELIEF
    """The entry that the belief has, or the view of a task."""

    @classmethod
    def of(
        cls,
        space: spaces.Space[Any],
        states: int,
        reads: Reads = None,
        entry: str = BELIEF,
    ) -> Augmentation:
        """For a space of single observations; `reads`: what the grounder reads of `Dict` observations.

        `states`: how many numbers are put beside them; `entry`: what they are.
        """
        key, parts = _read(space, reads)
        if parts is not None:
            grounded: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (parts.width,), parts.dtype.type)
            if parts.dtype == np.uint8:
                grounded = spaces.Box(0, 255, (parts.width,), np.uint8)
        else:
            grounded = space if key is None else space[key]  # type: ignore[index]
        if not isinstance(grounded, _ONE_ARRAY):
            part = "observations" if key is None else f"the entry '{key}' of observations"
            raise EnvError(f"{part} cannot be read by a grounder: {grounded} is no array of numbers; flatten it")
        belief = spaces.Box(0.0 if entry == BELIEF else -1.0, 1.0, (states,), np.float32)
        return cls(_dict(space, belief, entry), grounded, key, parts, entry)

    def read(self, observation: Any) -> NDArray[Any]:
        """The part that the grounder reads, of one observation or of a batch."""
        if self.parts is not None:
            return self.parts.join(observation)
        return np.asarray(observation if self.key is None else observation[self.key])

    def join(self, observation: Any, belief: NDArray[np.float32]) -> Any:
        """An observation with its belief (states,), or a batch of them with theirs (n, states)."""
        if isinstance(observation, dict):
            return {**observation, self.entry: belief}
        return {OBSERVATION: observation, self.entry: belief}


def _read(space: spaces.Space[Any], reads: Reads) -> tuple[str | None, Parts | None]:
    """The one entry that is read, or the several; neither where the observation is no Dict."""
    if not isinstance(space, spaces.Dict):
        if reads is not None:
            raise EnvError(f"reads={reads!r} names entries of Dict observations, but these are {space}")
        return None, None
    parts = Parts.of(space, [reads] if isinstance(reads, str) else reads)
    return (parts.parts[0].name, None) if len(parts.parts) == 1 else (None, parts)


def _dict(space: spaces.Space[Any], belief: spaces.Box, entry: str) -> spaces.Dict:
    if not isinstance(space, spaces.Dict):
        return spaces.Dict({OBSERVATION: space, entry: belief})
    if entry in space.spaces:
        raise EnvError(f"observations have an entry '{entry}' already ({space[entry]}); rename it, or wrap only once")
    return spaces.Dict({**space.spaces, entry: belief})


Model = NeuralRewardMachine | MooreMachine | MachineLearning | TaskSet
"""What beliefs come from: a neural machine, a machine or tasks whose true state is given, or one that is learned."""


def as_model(value: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet) -> Model:
    """A model as it is, or the machine of a task."""
    return value if isinstance(value, (NeuralRewardMachine, MachineLearning)) else machine_or_tasks(value)


def model_for(
    space: spaces.Space[Any],
    machine: MachineLike | TaskSet,
    *,
    emission: Emission | None = None,
    reads: Reads = None,
    grounder: str = "auto",
    seed: int = 0,
) -> NeuralRewardMachine:
    """A neural reward machine with an untrained grounder that fits an observation space.

    Args:
        space: the observation space.
        machine: a machine, a task, or a task set.
        reads: the entries of a `Dict` observation that the grounder reads. Default: all.
        grounder: a registered name or `module:name`, such as `recurrent`. Default: convolutional for images, else
            an MLP.
        seed: seed of its parameters.
        emission: `categorical` or `independent`. Default: independent beyond twelve propositions.

    """
    if not isinstance(space, spaces.Space):
        raise EnvError(_no_space(space))
    augmentation = Augmentation.of(space, 1, reads)
    make = partial(named_grounder, grounder, augmentation.parts or augmentation.grounded.shape or ())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return NeuralRewardMachine.made(machine, make, emission).eval()


def build_tracker(
    model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
    space: spaces.Space[Any],
    count: int,
    others: Iterable[object],
    belief: Belief,
    reads: Reads,
    record: bool,
) -> tuple[Model, Tracker, Augmentation]:
    """Check that a model fits environments with single observations of a space, whose machines are `others`."""
    known = as_model(model)
    tracker = Tracker(known, count, belief, record)
    entry = TASK if tracker.views_task else BELIEF
    augmentation = Augmentation.of(space, tracker.memory.size, reads, entry)
    check_same_task(known, others)
    if isinstance(known, NeuralRewardMachine):
        _check_reads(known, augmentation)
    return known, tracker, augmentation


def check_same_task(model: Model, others: Iterable[object]) -> None:
    """Raise `EnvError` where a model is not of the environments' task: what they say would mean other things.

    A neural machine of one task is given nothing, so it may be another than the environment's.
    """
    given = model.tasks if isinstance(model, NeuralRewardMachine) else model
    if given is None or isinstance(given, MachineLearning):
        return
    known = as_task_set(given).union
    for other in others:
        if isinstance(other, MooreMachine) and other != known:
            raise EnvError(f"the task that is given ({_sizes(known)}) is not the environment's ({_sizes(other)})")


def _no_space(value: object) -> str:
    """What to say of something that should be a space."""
    for name in ("single_observation_space", "observation_space"):
        if hasattr(value, name):
            return f"model_for takes the space of single observations, not {type(value).__name__}; pass env.{name}"
    return f"model_for takes a space of Gymnasium, such as env.observation_space, not {value!r}"


def _sizes(machine: MooreMachine) -> str:
    return f"{machine.states} states, potentials {listing(f'{level:g}' for level in machine.levels)}"


def _check_reads(model: NeuralRewardMachine, augmentation: Augmentation) -> None:
    """Raise `EnvError` where a model's grounder cannot read what the environment shows."""
    space, shown = augmentation.grounded, augmentation.parts
    what = f"{space}" if shown is None else f"the entries {shown} together (reads=… names fewer)"
    blank = torch.from_numpy(np.zeros((1, *(space.shape or ())), dtype=space.dtype)).to(model.machine.levels.device)
    wanted = getattr(model.grounder, "parts", None)
    try:
        if isinstance(wanted, Parts) and (shown is None or not wanted.fits(shown)):
            raise EnvError(f"it reads the entries {wanted}")
        with torch.no_grad():
            model.read(blank)
    except (NrmError, RuntimeError, ValueError, IndexError) as error:
        raise EnvError(
            f"the model's grounder cannot read the observations of this environment, {what}: {error}. "
            "nrm.model_for(observation_space, machine) makes one that can"
        ) from error
