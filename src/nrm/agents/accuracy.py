"""How well a grounder names what it sees: for evaluation only, since it needs the true labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nrm.groundability import diagnose, shortcuts
from nrm.machines import MooreMachine
from nrm.neural import NeuralRewardMachine


class Accuracy(NamedTuple):
    """Shares of observations; see `nrm.groundability.Diagnosis`."""

    plain: float
    balanced: float
    modulo_shortcuts: float
    mirror: tuple[int, ...]
    """For each state of the machine, the state that the grounder takes it for under the symmetry that fits best."""


def grounding_accuracy(
    machine: MooreMachine, model: NeuralRewardMachine, observations: Tensor, letters: Tensor
) -> Accuracy:
    """Accuracy of the grounder on observations (n, …) whose true letters (n,) are known."""
    with torch.no_grad():
        predicted = model.letter_probs(model.ground(observations, check=False)).argmax(-1)
    confusion = np.zeros((machine.alphabet.size, machine.alphabet.size))
    np.add.at(confusion, (letters.numpy(), predicted.numpy()), 1.0)
    known = shortcuts(machine)
    found = diagnose(known, confusion)
    # States that rewards alone do not tell apart are merged in `known`; then no state has a mirror image to name.
    merged = known.machine.states < machine.states
    mirror = tuple(range(machine.states)) if merged else known.states_under(found.symmetry)
    return Accuracy(found.accuracy, found.balanced_accuracy, found.accuracy_modulo_shortcuts, mirror)
