"""N grid environments at once, as tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.envs.base import Probe, StepBatch, Truth, check_count, checked_moves
from nrm.envs.counter_rng import check_seed, environment_seeds, episode_keys, words
from nrm.envs.minecraft.config import MinecraftConfig
from nrm.envs.minecraft.grid import ACTIONS, begin, coordinates, letters_of_contents, next_cells, settled, slipped
from nrm.envs.minecraft.painter import Painter
from nrm.envs.task_runner import TaskRunner
from nrm.envs.termination import End
from nrm.errors import EnvError
from nrm.machines import MooreMachine, TaskSet

MINECRAFT_STATE_VERSION = 2
_SAVED = ("episode", "cell", "time", "content")


class BatchedMinecraft:
    """The grid environment of `MinecraftEnv` with a task, or one of many for each episode, N times side by side.

    Environment i behaves as `TaskEnv(MinecraftEnv(config), machine, end=end)` that is first reset with
    `environment_seeds(seed, count)[i]`: step for step, draws included. Where the layout does not change between
    episodes, an observation is the number of the agent's cell, and `frames` has the observation of each cell.
    """

    one_place = True
    """What holds is shown at one place of an image: where the agent is."""

    def __init__(
        self, config: MinecraftConfig, tasks: MooreMachine | TaskSet, count: int, end: End = "outcome"
    ) -> None:
        check_count(count)
        if config.layout == "seed":
            if config.layout_seed is None:
                raise EnvError(
                    "environments of a batch share the layout 'seed': name the seed it is drawn from, layout_seed=…, "
                    "or use layout 'episode' to draw one for each environment and episode"
                )
            config = settled(config, config.layout_seed)
        self.config = config
        self.runner = TaskRunner(tasks, count, end)
        self.tasks = self.runner.given
        self.machine = self.runner.tasks.union
        self.count = count
        self.actions = len(ACTIONS)
        self._tables()
        self._seeds: list[int] = []

    def _tables(self) -> None:
        """Everything that a step looks up, flat: to take from one row is the fastest lookup there is.

        Inside, all is NumPy, whose calls on a few numbers take half the time of torch's.
        """
        config, machine = self.config, self.machine
        self._moves = next_cells(config).ravel()
        letters = letters_of_contents(config, machine.alphabet)
        self._content_letter = letters.astype(np.int64)
        self._coordinates = coordinates(config)
        self._painter = Painter(config, config.pixels) if config.observation == "image" else None
        self.shape: tuple[int, ...] = (2,) if self._painter is None else (config.pixels, config.pixels, 3)
        self.dtype = torch.float32 if self._painter is None else torch.uint8
        # One row of contents for all environments, or one for each: where the row of an environment begins.
        self._shared = config.layout == "fixed"
        self._offset = np.arange(self.count) * config.cells
        self.frames: Tensor | None = None
        if self._shared:
            self._contents = begin(config, np.zeros(1, dtype=np.uint64)).contents
            cells = np.arange(config.cells)
            self.frames = torch.from_numpy(self._seen(self._contents.repeat(len(cells), axis=0), cells))

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; equal seeds give equal environments."""
        check_seed(seed)
        self._seeds = environment_seeds(int(seed), self.count)
        self._episode = np.zeros(self.count, dtype=np.int64)
        self._keys = episode_keys(words(self._seeds), self._episode)
        drawn = begin(self.config, self._keys)
        self._cell = drawn.start
        if not self._shared:
            self._contents = drawn.contents
        self.runner.reset(self._keys)
        self._time = np.zeros(self.count, dtype=np.int64)
        self._content = np.full(self.count, -1, dtype=np.int64)
        return torch.from_numpy(self._observed())

    def step(self, actions: Tensor) -> StepBatch:
        """Move all agents by one cell, let the machines read what lies there, and pay. actions: (N,) int64."""
        if not self._seeds:
            raise EnvError("call reset(seed) before the first step")
        moves = checked_moves(actions, self.count, len(ACTIONS))
        if self.config.slip:
            moves = slipped(self.config, self._keys, self._time, moves)
        self._cell = self._moves.take(self._cell * len(ACTIONS) + moves)
        self._content = self._contents.take(self._cell if self._shared else self._cell + self._offset)
        reward, terminated = self.runner.step(self._content_letter.take(self._content))
        self._time = self._time + 1
        late = self._time >= self.config.steps
        done = terminated | late
        final = observed = self._observed()
        if done.any():
            self._begin_next(done)
            observed = self._observed_anew(final, done)
        result = (observed, reward, terminated, late & ~terminated, final)
        return StepBatch(*map(torch.from_numpy, result))

    @property
    def task(self) -> Tensor:
        """(N,) the number of the task that each environment has now."""
        return torch.from_numpy(self.runner.task.copy())

    def weigh(self, weights: ArrayLike) -> None:
        """Draw the tasks of later episodes as often as these weights (tasks,) say."""
        self.runner.weigh(weights)

    def probe(self, count: int, seed: int) -> Probe:
        """Observations from drawn cells of drawn grids, half of them with an item."""
        generator = np.random.default_rng(seed)
        contents = begin(self.config, generator.integers(0, 1 << 62, count, dtype=np.uint64)).contents
        # Of equally probable cells with an item, or without one.
        wanted = (np.arange(count) % 2 == 0)[:, None] == (contents > 0)
        cells = np.where(wanted, generator.random(contents.shape), -1.0).argmax(1)
        letters = self._content_letter.take(np.take_along_axis(contents, cells[:, None], 1)[:, 0])
        seen = torch.from_numpy(self._seen(contents, cells))
        return Probe(seen, torch.from_numpy(letters), torch.full((count,), 1.0), 0.5)

    @property
    def truth(self) -> Truth:
        """The letters and states behind what is seen."""
        if not self._seeds:
            raise EnvError("call reset(seed) first")
        label = np.where(self._content < 0, -1, self._content_letter.take(self._content, mode="clip"))
        return Truth(*map(torch.from_numpy, (label, self.runner.state.copy(), self.runner.final_state.copy())))

    def true_labels(self) -> Tensor | None:
        """(K,) the letter of each of `frames`."""
        return torch.from_numpy(self._content_letter.take(self._contents[0])) if self._shared else None

    def state_dict(self) -> dict[str, Any]:
        """Seeds, counters, cells and states; layouts follow from them."""
        if not self._seeds:
            raise EnvError("call reset(seed) first: there is no state to save yet")
        numbers = {name: torch.from_numpy(getattr(self, f"_{name}").copy()) for name in _SAVED}
        return {
            "version": MINECRAFT_STATE_VERSION,
            "env": self._fingerprint(),
            "seeds": list(self._seeds),
            "runner": self.runner.state_dict(),
            **numbers,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, in an environment of the same configuration, task and count."""
        if state.get("version") != MINECRAFT_STATE_VERSION or state.get("env") != self._fingerprint():
            raise EnvError(
                "the saved state is of another environment: configuration, task, end rule and count must be the same. "
                f"Saved: {state.get('env')}; here: {self._fingerprint()}"
            )
        self._seeds = [int(seed) for seed in state["seeds"]]
        for name in _SAVED:
            setattr(self, f"_{name}", state[name].numpy().copy())
        self.runner.load_state_dict(state["runner"])
        self._keys = episode_keys(words(self._seeds), self._episode)
        if not self._shared:
            self._contents = begin(self.config, self._keys).contents

    def _begin_next(self, done: NDArray[np.bool_]) -> None:
        """Begin the next episode where one is done. What was handed out is left as it is."""
        self._time = np.where(done, 0, self._time)
        self._episode = self._episode + done
        if self._shared and self.config.start_cell is not None and not self.config.slip and self.tasks is None:
            # Nothing is drawn in such an environment.
            self.runner.begin(done, self._keys[done])
            self._cell = np.where(done, self.config.number(self.config.start_cell), self._cell)
            return
        self._keys[done] = episode_keys(words(self._seeds)[done], self._episode[done])
        self.runner.begin(done, self._keys[done])
        drawn = begin(self.config, self._keys[done])
        self._cell = self._cell.copy()
        self._cell[done] = drawn.start
        if not self._shared:
            self._contents[done] = drawn.contents

    def _observed(self) -> NDArray[Any]:
        """What the agents see: the number of their cell, where that says it all. Never our own array, but a copy."""
        return self._cell.copy() if self._shared else self._seen(self._contents, self._cell)

    def _observed_anew(self, final: NDArray[Any], done: NDArray[np.bool_]) -> NDArray[Any]:
        """What agents see after the next episode began where one is done; the others see what they saw."""
        if self._shared:
            return self._cell.copy()
        seen = final.copy()
        seen[done] = self._seen(self._contents[done], self._cell[done])
        return seen

    def _seen(self, contents: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[Any]:
        """(n, *shape) what agents in these cells of grids with these contents see."""
        return self._coordinates[cells] if self._painter is None else self._painter.paint(contents, cells)

    def _fingerprint(self) -> dict[str, Any]:
        return {"config": asdict(self.config), **self.runner.fingerprint()}
