"""N LetterWorlds at once, as tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.envs.base import Probe, StepBatch, Truth, check_count, checked_moves
from nrm.envs.counter_rng import check_seed, environment_seeds, episode_keys, words
from nrm.envs.letter.config import LetterConfig
from nrm.envs.letter.grid import ACTIONS, around, grids, next_cells
from nrm.envs.letter.painter import LetterPainter
from nrm.envs.task_runner import TaskRunner
from nrm.envs.termination import End
from nrm.errors import EnvError, listing
from nrm.machines import MooreMachine, TaskSet

LETTER_STATE_VERSION = 2
_AHEAD = 16
"""Episodes whose grids are drawn at once: to draw many costs little more than to draw one."""


class BatchedLetters:
    """The environment of `LetterEnv` with a task, or with one of many for each episode, N times side by side."""

    frames: Tensor | None = None
    wraps = True
    """Opposite edges of what agents see meet."""
    one_place = True
    """What holds is shown at one place of what agents see: in the middle, where they are."""
    cells = True
    """Images are made of cells of 8x8 pixels."""

    def __init__(self, config: LetterConfig, tasks: MooreMachine | TaskSet, count: int, end: End = "outcome") -> None:
        check_count(count)
        self.config = config
        self.runner = TaskRunner(tasks, count, end)
        self.tasks = self.runner.given
        self.machine = self.runner.tasks.union
        if self.machine.alphabet != config.alphabet:
            raise EnvError(
                f"tasks of this environment are over {listing(config.alphabet.symbols)}, one at a time, not over "
                f"{listing(self.machine.alphabet.symbols)}"
            )
        self.count = count
        self.actions = len(ACTIONS)
        self._grids = grids(config)
        size = config.size
        self._moves = next_cells(size).ravel()
        self._around = around(size)
        self._planes = np.concatenate([np.eye(config.letters), np.zeros((1, config.letters))]).astype(np.uint8)
        self._painter = LetterPainter(config) if config.observation == "image" else None
        side = config.pixels
        self.shape: tuple[int, ...] = (size, size, config.letters) if self._painter is None else (side, side, 3)
        self.dtype = torch.uint8
        self._seeds: list[int] = []
        self._drawn = np.zeros(0)
        self._until = np.zeros(count, dtype=np.int64)

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; equal seeds give equal environments."""
        check_seed(seed)
        self._seeds = environment_seeds(int(seed), self.count)
        self._episode = np.zeros(self.count, dtype=np.int64)
        self._cell = np.zeros(self.count, dtype=np.int64)
        self._time = np.zeros(self.count, dtype=np.int64)
        self._label = np.full(self.count, -1, dtype=np.int64)
        self._draw_all()
        self.runner.reset(self._keys())
        return torch.from_numpy(self._seen(slice(None)))

    def step(self, actions: Tensor) -> StepBatch:
        """Move all agents by one cell, let their tasks read what stands there, and pay. actions: (N,) int64."""
        if not self._seeds:
            raise EnvError("call reset(seed) before the first step")
        self._cell = self._moves.take(self._cell * len(ACTIONS) + checked_moves(actions, self.count, len(ACTIONS)))
        self._label = np.take_along_axis(self._contents, self._cell[:, None], 1)[:, 0]
        judged = self.runner.step(self._label)
        self._time = self._time + 1
        late = self._time >= self.config.steps
        done = judged.terminated | late
        final = observed = self._seen(slice(None))
        if done.any():
            self._begin_next(done)
            observed = final.copy()
            observed[done] = self._seen(done)
        parts = (observed, judged.reward, judged.terminated, late & ~judged.terminated, final)
        return StepBatch(*map(torch.from_numpy, parts))

    @property
    def task(self) -> Tensor:
        """(N,) the number of the task that each environment has now."""
        return torch.from_numpy(self.runner.task.copy())

    def weigh(self, weights: ArrayLike) -> None:
        """Draw the tasks of later episodes as often as these weights (tasks,) say."""
        self.runner.weigh(weights)

    def probe(self, count: int, seed: int) -> Probe:
        """Observations from drawn cells of drawn grids, half of them with a letter."""
        generator = np.random.default_rng(seed)
        contents = self._grids(generator.integers(0, 1 << 62, count, dtype=np.uint64))
        # Of equally probable cells with a letter, or without one.
        wanted = (np.arange(count) % 2 == 0)[:, None] == (contents < self.config.letters)
        cells = np.where(wanted, generator.random(contents.shape), -1.0).argmax(1)
        letters = np.take_along_axis(contents, cells[:, None], 1)[:, 0]
        seen = torch.from_numpy(self._shown(contents, cells))
        return Probe(seen, torch.from_numpy(letters), torch.full((count,), 1.0), 0.5)

    @property
    def truth(self) -> Truth:
        """The letters and states behind what is seen."""
        if not self._seeds:
            raise EnvError("call reset(seed) first")
        arrays = (self._label, self.runner.state, self.runner.final_state)
        return Truth(*(torch.from_numpy(array.copy()) for array in arrays))

    def true_labels(self) -> Tensor | None:
        """None: there is no list of all observations."""
        return None

    def state_dict(self) -> dict[str, Any]:
        """Seeds, counters, cells and tasks; grids follow from them."""
        if not self._seeds:
            raise EnvError("call reset(seed) first: there is no state to save yet")
        numbers = {name: torch.from_numpy(getattr(self, f"_{name}").copy()) for name in _SAVED}
        return {
            "version": LETTER_STATE_VERSION,
            "env": self._fingerprint(),
            "seeds": list(self._seeds),
            "runner": self.runner.state_dict(),
            **numbers,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, in an environment of the same configuration, tasks and count."""
        if state.get("version") != LETTER_STATE_VERSION or state.get("env") != self._fingerprint():
            raise EnvError(
                "the saved state is of another environment: configuration, tasks, end rule and count must be the same. "
                f"Saved: {state.get('env')}; here: {self._fingerprint()}"
            )
        self._seeds = [int(seed) for seed in state["seeds"]]
        for name in _SAVED:
            setattr(self, f"_{name}", state[name].numpy().copy())
        self._draw_all()
        self.runner.load_state_dict(state["runner"])

    def _keys(self) -> NDArray[np.uint64]:
        return episode_keys(words(self._seeds), self._episode)

    def _begin_next(self, done: NDArray[np.bool_]) -> None:
        """Begin the next episode where one is done. What was handed out is left as it is."""
        self._episode = self._episode + done
        self._time = np.where(done, 0, self._time)
        self._cell = np.where(done, 0, self._cell)
        short = done & (self._episode >= self._until)
        if short.any():
            self._draw_ahead(short)
        self._contents[done] = self._ahead[done, self._episode[done] % _AHEAD]
        self.runner.begin(done, self._keys()[done])

    def _draw_all(self) -> None:
        """The grids of the present episodes and of some to come, everywhere."""
        self._ahead = np.zeros((self.count, _AHEAD, self.config.cells), dtype=np.int64)
        self._until = np.zeros(self.count, dtype=np.int64)
        self._draw_ahead(np.ones(self.count, dtype=np.bool_))
        self._contents = self._ahead[np.arange(self.count), self._episode % _AHEAD]

    def _draw_ahead(self, which: NDArray[np.bool_]) -> None:
        """Draw the grids of the present block of episodes of these environments."""
        first = self._episode[which] // _AHEAD * _AHEAD
        numbers = first[:, None] + np.arange(_AHEAD)
        keys = episode_keys(words(self._seeds)[which][:, None], numbers)
        self._ahead[which] = self._grids(keys.ravel()).reshape(len(first), _AHEAD, -1)
        self._until[which] = first + _AHEAD

    def _seen(self, which: slice | NDArray[np.bool_]) -> NDArray[np.uint8]:
        """(n, *shape) what the agents of these environments see around them."""
        return self._shown(self._contents[which], self._cell[which])

    def _shown(self, contents: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.uint8]:
        """(n, *shape) what agents in these cells of grids with these contents see around them."""
        seen = np.take_along_axis(contents, self._around[cells], 1)
        if self._painter is not None:
            return self._painter.paint(seen)
        planes: NDArray[np.uint8] = self._planes.take(seen, axis=0).reshape(len(seen), *self.shape)
        return planes

    def _fingerprint(self) -> dict[str, Any]:
        return {"config": asdict(self.config), **self.runner.fingerprint()}


_SAVED = ("episode", "cell", "time", "label")
