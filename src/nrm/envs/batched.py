"""N grid worlds at once, as tensor tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nrm.envs.batch import StepBatch, Truth, check_count, task_digest
from nrm.envs.config import MinecraftConfig
from nrm.envs.draws import check_seed, environment_seeds, episode_keys, words
from nrm.envs.ends import End, ending_states
from nrm.envs.grid import ACTIONS, begin, coordinates, letters_of_contents, next_cells, settled, slipped
from nrm.envs.picture import Painter
from nrm.errors import WorldError
from nrm.machines import MooreMachine

STATE_VERSION = 1


class BatchedMinecraft:
    """The grid world of `MinecraftEnv` with a task, N times side by side (see `BatchedWorld`).

    Environment i behaves as `TaskEnv(MinecraftEnv(config), machine, end=end)` that is first reset with
    `environment_seeds(seed, count)[i]`: step for step, draws included. Where the layout does not change between
    episodes, an observation is the number of the agent's cell, and `frames` has the observation of each cell.
    """

    def __init__(self, config: MinecraftConfig, machine: MooreMachine, count: int, end: End = "outcome") -> None:
        check_count(count)
        if config.layout == "seed":
            if config.layout_seed is None:
                raise WorldError(
                    "environments of a batch share the layout 'seed': name the seed it is drawn from, layout_seed=…, "
                    "or use layout 'episode' to draw one for each environment and episode"
                )
            config = settled(config, config.layout_seed)
        self.config = config
        self.machine = machine
        self.count = count
        self.end: End = end
        self.actions = len(ACTIONS)
        self._ends = torch.from_numpy(ending_states(machine, end).copy())
        self._tables()
        self._seeds: list[int] = []

    def _tables(self) -> None:
        """Everything that a step looks up, flat: gathering from one row is the fastest lookup there is."""
        config, machine = self.config, self.machine
        self._moves = torch.from_numpy(next_cells(config)).flatten()
        letters = letters_of_contents(config, machine.alphabet)
        self._content_letter = torch.from_numpy(letters.astype(np.int64))
        self._content_class = torch.from_numpy(machine.letter_class[letters].astype(np.int64))
        self._next_state = torch.from_numpy(machine.columns.astype(np.int64)).flatten()
        paid = machine.outputs[machine.columns] - machine.outputs[:, None]
        self._paid = torch.from_numpy(paid.astype(np.float32)).flatten()
        # A row of contents for all environments or one for each: where an environment's row begins.
        self._shared = config.layout == "fixed"
        self._offset = torch.zeros(self.count, dtype=torch.int64)
        if not self._shared:
            self._offset = torch.arange(self.count) * config.cells
        self._coordinates = torch.from_numpy(coordinates(config))
        self._painter = Painter(config, config.pixels) if config.observation == "image" else None
        self.shape: tuple[int, ...] = (2,) if self._painter is None else (config.pixels, config.pixels, 3)
        self.frames: Tensor | None = None
        if self._shared:
            contents = begin(config, np.zeros(1, dtype=np.uint64)).contents
            self._contents = torch.from_numpy(contents).flatten()
            self.frames = self._frames()

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; equal seeds give equal worlds."""
        check_seed(seed)
        self._seeds = environment_seeds(int(seed), self.count)
        self._episode = np.zeros(self.count, dtype=np.int64)
        self._keys = episode_keys(words(self._seeds), self._episode)
        drawn = begin(self.config, self._keys)
        self._cell = torch.from_numpy(drawn.start)
        if not self._shared:
            self._contents = torch.from_numpy(drawn.contents).flatten()
        self._state = torch.full((self.count,), self.machine.initial, dtype=torch.int64)
        self._final_state = self._state
        self._time = torch.zeros(self.count, dtype=torch.int64)
        self._content = torch.full((self.count,), -1, dtype=torch.int64)
        return self._observed(self._cell)

    def step(self, actions: Tensor) -> StepBatch:
        """Move all agents by one cell, let the machines read what lies there, and pay. actions: (N,) int64."""
        if not self._seeds:
            raise WorldError("call reset(seed) before the first step")
        self._check(actions)
        if self.config.slip:
            actions = self._slipped(actions)
        cell = self._moves.take(torch.add(actions, self._cell, alpha=4))
        place = cell if self._shared else cell + self._offset
        self._content = self._contents.take(place)
        move = torch.add(self._content_class.take(self._content), self._state, alpha=self.machine.classes)
        state = self._next_state.take(move)
        reward = self._paid.take(move)
        terminated = self._ends.take(state)
        time = self._time + 1
        late = time >= self.config.steps
        done = terminated | late
        self._cell, self._state, self._final_state, self._time = cell, state, state, time
        final = observed = self._observed(cell)
        if done.any():
            self._begin_next(done)
            observed = self._observed_anew(final, done)
        return StepBatch(observed, reward, terminated, late & ~terminated, final)

    @property
    def truth(self) -> Truth:
        """The letters and states behind what is seen."""
        if not self._seeds:
            raise WorldError("call reset(seed) first")
        before = self._content < 0
        label = self._content_letter.take(self._content.clamp(min=0)).masked_fill(before, -1)
        return Truth(label, self._state, self._final_state)

    def true_labels(self) -> Tensor | None:
        """(K,) the letter of each of `frames`."""
        return self._content_letter.take(self._contents) if self._shared else None

    def state_dict(self) -> dict[str, Any]:
        """Seeds, counters, cells and states; layouts follow from them."""
        if not self._seeds:
            raise WorldError("call reset(seed) first: there is no state to save yet")
        return {
            "version": STATE_VERSION,
            "world": self._fingerprint(),
            "seeds": list(self._seeds),
            "episode": torch.from_numpy(self._episode.copy()),
            "cell": self._cell,
            "state": self._state,
            "final_state": self._final_state,
            "time": self._time,
            "content": self._content,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, in a world of the same configuration, task and count."""
        if state.get("version") != STATE_VERSION or state.get("world") != self._fingerprint():
            raise WorldError(
                "the saved state is of another world: configuration, task, end rule and count must be the same. "
                f"Saved: {state.get('world')}; here: {self._fingerprint()}"
            )
        self._seeds = [int(seed) for seed in state["seeds"]]
        self._episode = state["episode"].numpy().copy()
        self._cell, self._state, self._time = state["cell"], state["state"], state["time"]
        self._final_state, self._content = state["final_state"], state["content"]
        self._keys = episode_keys(words(self._seeds), self._episode)
        if not self._shared:
            self._contents = torch.from_numpy(begin(self.config, self._keys).contents).flatten()

    def _begin_next(self, done: Tensor) -> None:
        """Begin the next episode where one is done. Tensors that were handed out are left as they are."""
        ended = done.numpy()
        self._state = self._state.masked_fill(done, self.machine.initial)
        self._time = self._time.masked_fill(done, 0)
        self._episode = self._episode + ended
        if self._shared and self.config.start_cell is not None and not self.config.slip:
            self._cell = self._cell.masked_fill(done, self.config.number(self.config.start_cell))
            return
        self._keys[ended] = episode_keys(words(self._seeds)[ended], self._episode[ended])
        drawn = begin(self.config, self._keys[ended])
        cell = self._cell.numpy().copy()
        cell[ended] = drawn.start
        self._cell = torch.from_numpy(cell)
        if not self._shared:
            self._contents.numpy().reshape(self.count, -1)[ended] = drawn.contents

    def _check(self, actions: Tensor) -> None:
        if actions.shape != (self.count,) or actions.is_floating_point():
            raise WorldError(
                f"give {self.count} whole numbers, one action for each environment, not {actions.dtype} of shape "
                f"{tuple(actions.shape)}"
            )
        least, most = torch.aminmax(actions)
        if least < 0 or most >= self.actions:
            wrong = int(((actions < 0) | (actions >= self.actions)).nonzero()[0])
            raise WorldError(
                f"action {int(actions[wrong])} in environment {wrong}; actions are 0 to {self.actions - 1}"
            )

    def _slipped(self, actions: Tensor) -> Tensor:
        return torch.from_numpy(slipped(self.config, self._keys, self._time.numpy(), actions.numpy()))

    def _observed(self, cell: Tensor) -> Tensor:
        """What agents in these cells see."""
        if self._shared:
            return cell
        if self._painter is None:
            return self._coordinates[cell]
        contents = self._contents.view(self.count, -1).numpy()
        return torch.from_numpy(self._painter.paint(contents, cell.numpy()))

    def _observed_anew(self, final: Tensor, done: Tensor) -> Tensor:
        """What agents see after the next episode began where one is done; the others see what they saw."""
        if self._shared:
            return self._cell
        if self._painter is None:
            return self._coordinates[self._cell]
        ended = done.numpy()
        contents = self._contents.view(self.count, -1).numpy()[ended]
        pictures = final.numpy().copy()
        pictures[ended] = self._painter.paint(contents, self._cell.numpy()[ended])
        return torch.from_numpy(pictures)

    def _frames(self) -> Tensor:
        """(cells, *shape) the observation of each cell."""
        if self._painter is None:
            return self._coordinates
        cells = np.arange(self.config.cells)
        contents = np.broadcast_to(self._contents.numpy(), (len(cells), len(cells)))
        return torch.from_numpy(self._painter.paint(contents, cells))

    def _fingerprint(self) -> dict[str, Any]:
        return {
            "config": asdict(self.config),
            "count": self.count,
            "end": self.end,
            "task": task_digest(self.machine),
        }
