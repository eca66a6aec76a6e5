"""RNN: a recurrent network that is told no task and no symbols."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.world import BatchedWorld
from nrm.errors import ConfigError
from nrm.tracking import Seen


@dataclass(frozen=True)
class RecurrentConfig:
    """The recurrent memory."""

    size: int = 50
    """Units of each LSTM layer."""
    layers: int = 2
    """Layers of the LSTM."""
    reads_rewards: bool = True
    """Whether the LSTM reads the last action and reward too, or the observation alone, as in the paper."""

    def __post_init__(self) -> None:
        for name in ("size", "layers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"recurrent.{name} must be positive, not {getattr(self, name)}")


class RecurrentMemory(nn.Module):
    """The hidden state of an LSTM that reads features, actions, rewards. The carry is (envs, 2, layers, size)."""

    sees_truth = False
    learns = True
    table: Tensor | None = None

    def __init__(self, features: int, actions: int, config: RecurrentConfig) -> None:
        super().__init__()
        self.size = config.size
        self._config = config
        self._actions = actions
        self.lstm = nn.LSTM(features + (actions + 1 if config.reads_rewards else 0), config.size, config.layers)

    def start(self, count: int) -> Tensor:
        """Nothing read yet."""
        return torch.zeros(count, 2, self._config.layers, self.size)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the LSTM."""
        inputs = seen.features
        assert inputs is not None
        if self._config.reads_rewards:
            # A level of 100 is the best there is, so rewards are read in units of it.
            actions = one_hot(seen.action, self._actions).to(inputs.dtype)
            inputs = torch.cat([inputs, actions, seen.reward[:, None].to(inputs.dtype) / 100], 1)
        hidden, cell = carry.permute(1, 2, 0, 3).contiguous()
        _, (hidden, cell) = self.lstm(inputs[None], (hidden, cell))
        return torch.stack([hidden, cell]).permute(2, 0, 1, 3)

    def feature(self, carry: Tensor) -> Tensor:
        """The hidden state of the last layer."""
        return carry[..., 0, -1, :]

    def on(self, frames: Tensor | None) -> RecurrentMemory:  # noqa: ARG002 - it reads features
        """Itself."""
        return self


def _prepare(world: BatchedWorld, settings: RecurrentConfig, features: int, seed: int) -> Prepared:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        return Prepared(RecurrentMemory(features, world.actions, settings))


RNN = METHODS.register(
    Method(
        name="rnn",
        label="RNN",
        knows="is given neither; remembers with an LSTM",
        prepare=_prepare,
        config=RecurrentConfig,
        section="recurrent",
        colour="#009e73",
        dark="#2ccb9d",
        dash=(1, 1),
        marker="^",
    )
)
