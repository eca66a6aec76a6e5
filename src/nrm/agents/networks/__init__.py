"""Networks: how agents see, and what they make of it. Each is one file that registers one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Protocol

from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.observations import ObservationSpec
from nrm.registry import Registry
from nrm.settings import Checked


@dataclass(frozen=True)
class NetworkConfig(Checked):
    """Network settings, shared by all methods and algorithms."""

    section = "network."

    encoder: str = "auto"
    """Network: standard (the paper's, on normalised observations), paper (as in its appendix), dynamic (the task
    encoding sets the filters), egocentric (centred on the agent), planning (egocentric, with value iteration), fourier
    (sine and cosine features of a vector), parts (entries of a Dict), blind, module:name, or auto, by observations and
    number of tasks."""
    squash_output: bool = True
    """Continuous actions: squash them into their bounds, and hold exploration noise for 8 steps. Otherwise they are cut
    off at their bounds, and noise is new at every step."""


class Sight(NamedTuple):
    """What is known of an environment's observations before anything is done."""

    spec: ObservationSpec
    sample: Tensor | None
    """(n, *shape) observations to normalise over: all there are, or the first images; None for neither."""
    letters: int | None = None
    """Of how many letters the memory's feature is the view of a task (`nrm.machines`); None where it is none."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one observation."""
        return self.spec.shape

    def check_axes(self, axes: int, network: str) -> None:
        """Raise `ConfigError` unless observations have so many axes: 3 for images, 1 for vectors."""
        if len(self.shape) != axes:
            kind = "images (height, width, channels)" if axes == 3 else "vectors"
            raise ConfigError(
                f"the network '{network}' looks at {kind}, not at observations of shape {tuple(self.shape)}; use "
                "--network.encoder auto"
            )


class Network(Protocol):
    """An actor and a critic. Observations become features once; memories join them afterwards."""

    head: ActionHead
    """What makes actions of its scores; an `Actor` sets it."""

    @property
    def encoder(self) -> Callable[[Tensor], Tensor]:
        """From observations (n, …) to their features (n, width)."""

    def summary(self, features: Tensor) -> Tensor:
        """(…, reads) what memories that learn read of features (…, width)."""

    def __call__(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(n, scores) of the policy and (n,) values, from features (n, width) and the memory's (n, size)."""


@dataclass(frozen=True)
class NetworkKind:
    """A family of networks."""

    name: str
    """How the command line and files call it."""
    label: str
    """How people read it."""
    reads: Callable[[Sequence[int]], int]
    """From the shape of observations to the width of `summary`."""
    build: Callable[[Sight, int, ActionHead], nn.Module]
    """A `Network` from what is seen, the width of the memory's feature, and the kind of actions."""


_HOMES = {"planning": "egocentric", "standard": "paper", "parts": "paper", "blind": "paper"}
_NAMES = ("standard", "paper", "dynamic", "egocentric", "planning", "fourier", "parts", "blind")
NETWORKS: Registry[NetworkKind] = Registry(
    "network",
    tuple(field.name for field in fields(NetworkKind) if field.name != "name"),
    {name: f"nrm.agents.networks.{_HOMES.get(name, name)}" for name in _NAMES},
)


def is_grid(shape: Sequence[int]) -> bool:
    """Whether the pixels of an image are so few that they are cells of a grid, each with a place of its own."""
    return max(shape[:2]) <= 12


def resolved(env: BatchedEnv, config: NetworkConfig, images: str = "standard") -> NetworkConfig:
    """The settings with a network in place of auto; `images`: the name of the one for images, one task."""
    if config.encoder != "auto":
        return config
    numbers = env.tasks.either("standard", "fourier") if len(env.shape) == 1 else "standard"
    kinds = {"entries": "parts", "image": env.tasks.either(images, "planning"), "numbers": numbers}
    encoder = kinds.get(env.spec.kind, "standard")
    if env.spec.kind == "image" and (is_grid(env.shape) or env.spec.toroidal):  # all is seen from the agent already
        encoder = "dynamic"
    return replace(config, encoder=encoder)


def network_kind(env: BatchedEnv, config: NetworkConfig) -> NetworkKind:
    """The network that the settings name for an environment."""
    return NETWORKS[resolved(env, config).encoder]
