"""RNN: a recurrent network that is told no task and no symbols."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nrm.agents.actions import head_for
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.action_spaces import ActionSpace
from nrm.envs.world import BatchedWorld, tasks_of
from nrm.errors import ConfigError
from nrm.tracking import Belief, Seen, ToldTaskMemory


@dataclass(frozen=True)
class RecurrentConfig:
    """The recurrent memory."""

    size: int = 50
    """Units of each LSTM layer."""
    layers: int = 2
    """Layers of the LSTM."""
    reads_rewards: bool = False
    """Whether the LSTM reads the last action and reward too, or the observation alone, as in the paper. Tests that read
    no rewards show it zeros."""

    def __post_init__(self) -> None:
        for name in ("size", "layers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"recurrent.{name} must be positive, not {getattr(self, name)}")


class RecurrentMemory(nn.Module):
    """The hidden state of an LSTM that reads features, actions, rewards. The carry is (envs, 2, layers, size)."""

    sees_truth = False
    learns = True
    table: Tensor | None = None

    def __init__(self, features: int, actions: ActionSpace, config: RecurrentConfig) -> None:
        super().__init__()
        self.size = config.size
        self._config = config
        self._head = head_for(actions)
        more = self._head.encoded + 1 if config.reads_rewards else 0
        self.lstm = nn.LSTM(features + more, config.size, config.layers)

    def start(self, count: int) -> Tensor:
        """Nothing read yet."""
        return torch.zeros(count, 2, self._config.layers, self.size)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the LSTM."""
        hidden, cell = carry.permute(1, 2, 0, 3).contiguous()
        _, (hidden, cell) = self.lstm(self._inputs(seen)[None], (hidden, cell))
        return torch.stack([hidden, cell]).permute(2, 0, 1, 3)

    def unrolled(self, carry: Tensor, seen: Seen, done: Tensor) -> Tensor:
        """(time, envs, size) the features before each step of a rollout, from the carry before the first.

        The same as `feature`, `read` and `reset` step by step, in one call of the LSTM: what follows the end of an
        episode is a row of its own, beside the others. Tensors of `seen` and `done` are (time, envs, …).
        """
        inputs = self._inputs(seen)
        time, envs = done.shape
        ended, which = done[:-1].nonzero().unbind(1)
        begun = torch.cat([torch.zeros(envs, dtype=torch.int64), ended + 1])
        rows = torch.cat([torch.arange(envs), which])
        # (time, rows) the step of the rollout that is the n-th of a row; past its end anything will do.
        steps = (begun + torch.arange(time)[:, None]).clamp(max=time - 1)
        first = torch.cat([carry, self.start(len(which))])
        hidden, cell = first.permute(1, 2, 0, 3).contiguous()
        read, _ = self.lstm(inputs[steps, rows], (hidden, cell))
        before = torch.cat([self.feature(first)[None], read[:-1]])
        # The row of each step of each environment: that of the last beginning up to it.
        row = torch.arange(envs).repeat(time, 1)
        since = torch.zeros(time, envs, dtype=torch.int64)
        for number, (start, env) in enumerate(zip((ended + 1).tolist(), which.tolist(), strict=True), envs):
            row[start:, env], since[start:, env] = number, start
        return before[torch.arange(time)[:, None] - since, row]

    def _inputs(self, seen: Seen) -> Tensor:
        """(…, inputs) what the LSTM reads of what was seen (…)."""
        inputs = seen.features
        assert inputs is not None
        if not self._config.reads_rewards:
            return inputs
        # A level of 100 is the best there is, so rewards are read in units of it.
        actions = self._head.encode(seen.action).to(inputs.dtype)
        return torch.cat([inputs, actions, seen.reward[..., None].to(inputs.dtype) / 100], -1)

    def feature(self, carry: Tensor) -> Tensor:
        """The hidden state of the last layer."""
        return carry[..., 0, -1, :]

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> RecurrentMemory:  # noqa: ARG002
        """Itself."""
        return self


def _prepare(world: BatchedWorld, settings: RecurrentConfig, features: int, seed: int) -> Prepared:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        memory = RecurrentMemory(features, world.actions, settings)
    tasks = tasks_of(world)
    return Prepared(memory if tasks is None else ToldTaskMemory(memory, tasks))


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
