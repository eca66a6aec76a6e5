"""What wrappers share: a machine and its tracker that fit an environment, or an error that says why they do not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from nrm.errors import EnvError, NrmError, listing
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_machine
from nrm.neural import GROUNDERS, Emission, NeuralRewardMachine, Parts
from nrm.tracking import Belief, MachineLearning, Tracker
from nrm.wrappers.augmentation import BELIEF, TASK, Augmentation, BeliefLayout, Reads

Model = NeuralRewardMachine | MooreMachine | MachineLearning | TaskSet
"""What beliefs come from: a neural machine, a machine or tasks whose true state is given, or one that is learned."""


def as_model(value: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet) -> Model:
    """A model as it is, or the machine of a task."""
    return value if isinstance(value, (NeuralRewardMachine, TaskSet, MachineLearning)) else as_machine(value)


def model_for(
    space: spaces.Space[Any],
    machine: MachineLike | TaskSet,
    *,
    emission: Emission | None = None,
    reads: Reads = None,
    grounder: str = "auto",
    seed: int = 0,
) -> NeuralRewardMachine:
    """A machine with an untrained grounder for observations of a space: convolutional for images, else an MLP.

    `machine`: or a task, or a pool of many; `reads`: the entry of `Dict` observations that the grounder reads, or
    several that it reads together, all if absent; `grounder`: a registered name or module:name, such as `recurrent`;
    `seed`: of its parameters; `emission`: one probability a proposition by default past twelve propositions.
    """
    if not isinstance(space, spaces.Space):
        raise EnvError(_no_space(space))
    augmentation = Augmentation.of(space, 1, "dict", reads)
    if augmentation.parts is None:
        make = partial(GROUNDERS[grounder].from_shape, augmentation.grounded.shape or ())
    else:
        make = partial(_for_parts(augmentation.parts, grounder).from_parts, augmentation.parts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return NeuralRewardMachine.made(machine, make, emission).eval()


def _for_parts(parts: Parts, grounder: str) -> Any:
    """The class of a grounder that reads several entries together."""
    kind = GROUNDERS["parts" if grounder == "auto" else grounder]
    if not hasattr(kind, "from_parts"):
        able = [name for name in GROUNDERS if hasattr(GROUNDERS[name], "from_parts")]
        raise EnvError(
            f"the grounder '{grounder}' reads one array, not several entries ({parts}); say with reads=… which one, or "
            f"take another (grounders: {listing(able)})"
        )
    return kind


def build_tracker(
    model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
    space: spaces.Space[Any],
    count: int,
    others: Iterable[object],
    layout: BeliefLayout,
    belief: Belief,
    reads: Reads,
    record: bool,
) -> tuple[Model, Tracker, Augmentation]:
    """Check that a model fits environments with single observations of a space, whose machines are `others`."""
    known = as_model(model)
    if isinstance(known, NeuralRewardMachine):
        _check_known(known)
    tracker = Tracker(known, count, belief, record)
    entry = TASK if tracker.views_task else BELIEF
    augmentation = Augmentation.of(space, tracker.memory.size, layout, reads, entry)
    check_same_task(known, others)
    if isinstance(known, NeuralRewardMachine):
        _check_reads(known, augmentation)
    return known, tracker, augmentation


def check_same_task(model: Model, others: Iterable[object]) -> None:
    """Raise `EnvError` where a model is not of the environments' task: what they say would mean other things.

    A neural machine of one task is given nothing, so it may be another than the environment's.
    """
    given = model.tasks if isinstance(model, NeuralRewardMachine) else model
    known = given.union if isinstance(given, TaskSet) else given
    for other in others:
        if isinstance(known, MooreMachine) and isinstance(other, MooreMachine) and other != known:
            raise EnvError(
                f"the task that is given ({_sizes(known)}) is not the environment's ({_sizes(other)}), whose states "
                "it would be given; give both the same"
            )


def _no_space(value: object) -> str:
    """What to say of something that should be a space."""
    for name in ("single_observation_space", "observation_space"):
        if hasattr(value, name):
            return f"model_for takes the space of single observations, not {type(value).__name__}; pass env.{name}"
    return f"model_for takes a space of Gymnasium, such as env.observation_space, not {value!r}"


def _check_known(model: NeuralRewardMachine) -> None:
    """Raise `EnvError` where a machine has yet to be learned: nobody knows which potentials its states have."""
    if model.machine.learned and float(model.machine.reward_probs().detach().max(-1).values.mean()) < 0.9:
        raise EnvError(
            "the model's machine has yet to be learned, so there is no belief to track; learn it from recorded "
            "episodes with nrm.discover or nrm.fit(…, learn='both'), and wrap what was learned"
        )


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
