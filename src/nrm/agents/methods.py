"""Methods: what an agent is given of the task, and what it remembers. Each registers one value.

Two references are made here, no memory at all and the return so far: what these earn, a method must not be praised for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.registry import Registry
from nrm.tracking import Grounding, MachineLearning, Memory, Transition


class Prepared(NamedTuple):
    """A method made ready for an environment."""

    memory: Memory
    grounding: Grounding | None = None
    """What learns the symbols from finished episodes, where the method does."""
    inference: MachineLearning | None = None
    """What learns the machine from finished episodes, where the method does."""


Prepare = Callable[[BatchedEnv, Any, int, int], Prepared]
"""From an environment, the method's settings, the width of the observations' features, and a seed."""


@dataclass(frozen=True)
class Method:
    """A method: what the agent is given and remembers, and how tables and figures name it."""

    name: str
    """Name on the command line and in files."""
    label: str
    """Name for readers."""
    knows: str
    """What it is given, as the end of a sentence: `is given the task; learns the symbols`."""
    prepare: Prepare
    config: type | None = None
    """Frozen dataclass of its settings, or None."""
    section: str = ""
    """Section of these settings: `grounding` for `--grounding.every 60`."""
    colour: str = "#aa4499"
    """Colour in figures and on light pages."""
    dark: str = "#d98bc9"
    """Colour on dark pages."""
    dash: tuple[float, ...] = (6, 2, 1, 2)
    """Lengths of line and gap; empty for a solid line."""
    marker: str = "D"
    """Matplotlib marker."""
    tracks_states: bool = False
    """Whether its memory is a belief over machine states."""
    grounds: bool = False
    """Whether it learns symbols."""
    unknown: str = ""
    """What it is not given and learns: grounding, machine or both; empty otherwise."""

    def __post_init__(self) -> None:
        if (self.config is None) != (self.section == ""):
            raise ConfigError(f"the method '{self.name}' needs both a config and the section where it stands, or none")
        if self.config is not None and not is_dataclass(self.config):
            raise ConfigError(f"the config of the method '{self.name}' is no dataclass: {self.config!r}")


METHODS: Registry[Method] = Registry(
    "method",
    tuple(field.name for field in fields(Method) if field.name != "name"),
    {
        "rm": "nrm.agents.machine_methods",
        "nrm": "nrm.agents.machine_methods",
        "automata-learning": "nrm.agents.machine_methods",
        "pure-learning": "nrm.agents.machine_methods",
        "rnn": "nrm.agents.rnn",
        "memoryless": "nrm.agents.methods",
        "return": "nrm.agents.methods",
        "frozen": "nrm.agents.machine_methods",
        "naive": "nrm.agents.noisy_methods",
        "independent-belief": "nrm.agents.noisy_methods",
        "state-prediction": "nrm.agents.noisy_methods",
        "hrm": "nrm.agents.hierarchy",
        "hrm-nrm": "nrm.agents.hierarchy",
    },
)


class NoMemory(Memory):
    """The same number at every step."""

    def __init__(self, device: torch.device) -> None:
        self.size = 1
        self.table: Tensor = torch.ones(1, 1, device=device)

    def start(self, count: int) -> Tensor:
        return torch.zeros(count, dtype=torch.int64, device=self.table.device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - nothing is remembered
        return carry

    def feature(self, carry: Tensor) -> Tensor:
        return self.table[carry]


class ReturnMemory(Memory):
    """The sum of the rewards so far, in units of the best: what it earns with it, rewards alone tell of the state."""

    size = 1

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def start(self, count: int) -> Tensor:
        return torch.zeros(count, 1, device=self._device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        return carry + seen.reward[:, None].to(carry.dtype) / 100

    def feature(self, carry: Tensor) -> Tensor:
        return carry


METHODS.register(
    Method(
        name="memoryless",
        label="no memory",
        knows="is given neither, and remembers nothing",
        prepare=lambda env, settings, features, seed: Prepared(NoMemory(env.device)),  # noqa: ARG005
        colour="#7f7f7f",
        dark="#a8a8a8",
        dash=(1, 2),
        marker="x",
    )
)
METHODS.register(
    Method(
        name="return",
        label="return so far",
        knows="is given neither, and sees the sum of its rewards",
        prepare=lambda env, settings, features, seed: Prepared(ReturnMemory(env.device)),  # noqa: ARG005
        colour="#56b4e9",
        dark="#8fd0f5",
        dash=(3, 1, 1, 1),
        marker="v",
    )
)
