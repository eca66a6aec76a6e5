"""N points in planes at once."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.envs.action_spaces import ActionSpace
from nrm.envs.base import Probe, StepBatch, Truth, check_count, checked_moves
from nrm.envs.counter_rng import check_seed, environment_seeds, episode_keys, words
from nrm.envs.plane.config import PlaneConfig
from nrm.envs.plane.geometry import Geometry, Reading
from nrm.envs.task_runner import TaskRunner
from nrm.envs.termination import End
from nrm.errors import EnvError
from nrm.machines import MooreMachine, TaskSet

PLANE_STATE_VERSION = 2
_SAVED = ("episode", "place", "time", "letter")


class BatchedPlane:
    """The environment of `PlaneEnv` with a task, or one of many for each episode, N times side by side.

    Environment i behaves as `TaskEnv(PlaneEnv(config), machine, end=end)` that is first reset with
    `environment_seeds(seed, count)[i]`: step for step, draws included.
    """

    frames: Tensor | None = None
    dtype = torch.float32

    def __init__(self, config: PlaneConfig, tasks: MooreMachine | TaskSet, count: int, end: End = "outcome") -> None:
        check_count(count)
        self.config = config
        self.runner = TaskRunner(tasks, count, end)
        self.tasks = self.runner.given
        self.machine = self.runner.tasks.union
        self.count = count
        self.actions: ActionSpace = config.size
        if config.actions == "continuous":
            self.actions = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._geometry = Geometry(config)
        self._reading = Reading(config, self.machine.alphabet)
        self.shape = self._geometry.shape
        self._seeds: list[int] = []

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; equal seeds give equal environments."""
        check_seed(seed)
        self._seeds = environment_seeds(int(seed), self.count)
        self._episode = np.zeros(self.count, dtype=np.int64)
        self._keys = episode_keys(words(self._seeds), self._episode)
        self._place = self._geometry.begin(self._keys)
        self.runner.reset(self._keys)
        self._time = np.zeros(self.count, dtype=np.int64)
        self._letter = np.full(self.count, -1, dtype=np.int64)
        return torch.from_numpy(self._geometry.seen(self._place))

    def step(self, actions: Tensor) -> StepBatch:
        """Move all points, let the machines read what holds there, and pay. actions: (N,) directions, or (N, 2)."""
        if not self._seeds:
            raise EnvError("call reset(seed) before the first step")
        geometry = self._geometry
        self._place, left = geometry.moved(self._place, self._checked(actions), self._keys, self._time)
        self._letter = self._reading.letters(geometry.holds(self._place), left)
        reward, ended = self.runner.step(self._letter)
        self._time = self._time + 1
        terminated = ended | left
        late = self._time >= self.config.steps
        done = terminated | late
        final = observed = geometry.seen(self._place)
        if done.any():
            self._begin_next(done)
            observed = final.copy()
            observed[done] = geometry.seen(self._place[done])
        result = (observed, reward, terminated, late & ~terminated, final)
        return StepBatch(*map(torch.from_numpy, result))

    @property
    def task(self) -> Tensor:
        """(N,) the number of the task that each environment has now."""
        return torch.from_numpy(self.runner.task.copy())

    def weigh(self, weights: ArrayLike) -> None:
        """Draw the tasks of later episodes as often as these weights (tasks,) say."""
        self.runner.weigh(weights)

    @property
    def truth(self) -> Truth:
        """The letters and states behind what is seen."""
        if not self._seeds:
            raise EnvError("call reset(seed) first")
        parts = (self._letter, self.runner.state, self.runner.final_state)
        return Truth(*(torch.from_numpy(part.copy()) for part in parts))

    def true_labels(self) -> Tensor | None:
        """None: there is no list of all observations; `probe` samples them."""
        return None

    def probe(self, count: int, seed: int) -> Probe:
        """Observations at points drawn evenly from within the bounds, their letters, and how near a circle is."""
        places = self._geometry.scattered(np.random.default_rng(seed).random((count, 2)))
        letters = self._reading.letters(self._geometry.holds(places), np.zeros(count, dtype=np.bool_))
        seen, away = self._geometry.seen(places), self._geometry.to_border(places)
        observations, labels, distance = map(torch.from_numpy, (seen, letters, away))
        return Probe(observations, labels, distance, near=self.config.step / 2)

    def state_dict(self) -> dict[str, Any]:
        """Seeds, counters, places and states."""
        if not self._seeds:
            raise EnvError("call reset(seed) first: there is no state to save yet")
        numbers = {name: torch.from_numpy(getattr(self, f"_{name}").copy()) for name in _SAVED}
        return {
            "version": PLANE_STATE_VERSION,
            "env": self._fingerprint(),
            "seeds": list(self._seeds),
            "runner": self.runner.state_dict(),
            **numbers,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, in an environment of the same configuration, task and count."""
        if state.get("version") != PLANE_STATE_VERSION or state.get("env") != self._fingerprint():
            raise EnvError(
                "the saved state is of another environment: configuration, task, end rule and count must be the same. "
                f"Saved: {state.get('env')}; here: {self._fingerprint()}"
            )
        self._seeds = [int(seed) for seed in state["seeds"]]
        for name in _SAVED:
            setattr(self, f"_{name}", state[name].numpy().copy())
        self.runner.load_state_dict(state["runner"])
        self._keys = episode_keys(words(self._seeds), self._episode)

    def _begin_next(self, done: NDArray[np.bool_]) -> None:
        """Begin the next episode where one is done. What was handed out is left as it is."""
        self._time = np.where(done, 0, self._time)
        self._episode = self._episode + done
        self._keys[done] = episode_keys(words(self._seeds)[done], self._episode[done])
        self.runner.begin(done, self._keys[done])
        self._place = self._place.copy()
        self._place[done] = self._geometry.begin(self._keys[done])

    def _checked(self, actions: Tensor) -> NDArray[Any]:
        moves: NDArray[Any] = actions.cpu().numpy()
        if isinstance(self.actions, spaces.Box):
            if moves.shape != (self.count, 2) or moves.dtype.kind != "f":
                raise EnvError(
                    f"give {self.count} pairs of numbers, one for each environment, not {actions.dtype} of shape "
                    f"{tuple(actions.shape)}"
                )
            if not (np.abs(moves) <= 1 + 1e-6).all():
                wrong = int(np.argwhere(~(np.abs(moves) <= 1 + 1e-6))[0][0])
                raise EnvError(f"action {moves[wrong]} in environment {wrong}; actions lie from -1 to 1")
            return moves
        return checked_moves(actions, self.count, self.config.size)

    def _fingerprint(self) -> dict[str, Any]:
        return {"config": asdict(self.config), **self.runner.fingerprint()}
