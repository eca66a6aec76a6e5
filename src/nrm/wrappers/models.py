"""A fitting neural reward machine for an environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from nrm.errors import ConfigError, NrmError, WorldError, listing
from nrm.machines import MooreMachine
from nrm.neural import NeuralRewardMachine, grounder_for
from nrm.neural.model import Emission
from nrm.wrappers.augmentation import Augmentation


def model_for(
    space: spaces.Space[Any],
    machine: MooreMachine,
    *,
    emission: Emission = "categorical",
    reads: str | None = None,
    seed: int = 0,
) -> NeuralRewardMachine:
    """A machine with an untrained grounder for observations of a space: convolutional for images, else an MLP.

    `reads`: the entry of `Dict` observations that the grounder reads; `seed`: of its parameters.
    """
    if not isinstance(machine, MooreMachine):
        raise ConfigError(
            f"a MooreMachine is needed, not {type(machine).__name__}; nrm.compile(formula, symbols) makes one"
        )
    shape = Augmentation.of(space, machine.states, "dict", reads).grounded.shape or ()
    independent = emission == "independent"
    symbols = len(machine.alphabet.symbols) if independent else machine.alphabet.size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        grounder = grounder_for(shape, symbols, independent)
    return NeuralRewardMachine(grounder, machine, emission).eval()


def check_same_task(machine: NeuralRewardMachine | MooreMachine, others: Iterable[object]) -> None:
    """Raise `WorldError` where a reward machine is not the one of the environments: their states mean other things."""
    if isinstance(machine, MooreMachine):
        for other in others:
            if isinstance(other, MooreMachine) and other != machine:
                raise WorldError(
                    f"the machine that is given ({_sizes(machine)}) is not the environment's ({_sizes(other)}), whose "
                    "states it would be told; give both the same"
                )


def _sizes(machine: MooreMachine) -> str:
    return f"{machine.states} states, levels {listing(f'{level:g}' for level in machine.levels)}"


def check_reads(model: NeuralRewardMachine | MooreMachine, augmentation: Augmentation) -> None:
    """Raise `WorldError` where a model's grounder cannot read what the environment shows."""
    if isinstance(model, MooreMachine):
        return
    space = augmentation.grounded
    blank = torch.from_numpy(np.zeros((1, *(space.shape or ())), dtype=space.dtype))
    try:
        with torch.no_grad():
            model.ground(blank.to(model.machine.levels.device))
    except (NrmError, RuntimeError, ValueError, IndexError) as error:
        raise WorldError(
            f"the model's grounder cannot read the observations of this environment, {space}: {error}. "
            "nrm.wrappers.model_for(observation_space, machine) makes one that can"
        ) from error
