"""Environments of ours for any number of episodes at once: N side by side, with tasks, and one for Gymnasium."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar, TypeAlias

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from nrm.aliases import BoolArray, Symbol
from nrm.envs.base import (
    BatchedEnv,
    Probe,
    StepBatch,
    Truth,
    action_space,
    check_count,
    checked_actions,
    task_digest,
)
from nrm.envs.counter_rng import Words, chances, check_seed, environment_seeds, episode_keys, words
from nrm.envs.task_runner import End, ending_states, stepper
from nrm.errors import EnvError, unknown
from nrm.machines import Alphabet, MachineLike, TaskSet, as_task_set
from nrm.observations import ObservationSpec

Places: TypeAlias = dict[str, NDArray[Any]]
"""Where n episodes are: arrays (n, …) by name."""
Reader: TypeAlias = Callable[[Places], NDArray[np.int64]]
"""From places to the letters (n,) that are read there."""

STATE_VERSION = 2


class Dynamics(ABC):
    """How an environment of one configuration begins, moves and looks.

    Episodes are treated alike and draw by their keys, so that one environment and a batch of them agree to the bit.
    """

    saved: ClassVar[str]
    """The array of places that does not follow from the keys of episodes."""
    action_names: tuple[str, ...]
    action_space: spaces.Space[Any]
    observation_space: spaces.Space[Any]
    spec: ObservationSpec
    random: bool = True
    """Whether anything depends on the keys of episodes."""
    ahead: int = 1
    """Episodes that are begun at once, where to begin many costs little more than to begin one."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def begin(self, keys: Words) -> Places:
        """The first places of the episodes with these keys (n,)."""

    @abstractmethod
    def move(
        self, places: Places, actions: NDArray[Any], keys: Words, times: NDArray[np.int64]
    ) -> tuple[Places, BoolArray | None]:
        """Where actions lead at these steps (n,), and who (n,) leaves the environment, where that is possible."""

    @abstractmethod
    def observe(self, places: Places) -> NDArray[Any]:
        """(n, *shape) new arrays of what is seen."""

    def shown(self, places: Places) -> NDArray[Any]:
        """(n, …) new arrays of what batches show: observations, or their row numbers in the table of all."""
        return self.observe(places)

    @abstractmethod
    def labels(self, places: Places) -> tuple[Symbol, ...]:
        """The names of what holds in the first episode."""

    @abstractmethod
    def reader(self, alphabet: Alphabet) -> Reader:
        """What a task over an alphabet reads, or `UnknownSymbolError`."""

    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64] | None:  # noqa: ARG002
        """(contents,) the letter that is read on each content of a cell; None where there are no cells."""
        return None

    @abstractmethod
    def scattered(self, count: int, seed: int) -> Places:
        """Places drawn all over the environment; all of them where they are few."""

    @abstractmethod
    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """(height, width, 3) the last of the places on a way."""

    @abstractmethod
    def text(self, way: Sequence[Places]) -> str:
        """The same for a terminal."""


class BatchedTasks(BatchedEnv):
    """A batch of N built-in environments; each episode has one of some tasks.

    Environment i behaves exactly as a `TaskEnv` that is first reset with `environment_seeds(seed, count)[i]`.
    Everything inside is NumPy, which is faster than torch on small arrays.
    """

    def __init__(self, config: Any, tasks: MachineLike | TaskSet, count: int, end: End = "outcome") -> None:
        """`config`: of an environment of ours."""
        check_count(count)
        self.config = config
        self.dynamics: Dynamics = config.dynamics()
        self.tasks = as_task_set(tasks)
        self.count = count
        self.actions = action_space(self.dynamics.action_space)
        self.spec = self.dynamics.spec
        machine = self.machine
        if machine.alphabet.size > 1 << 62:
            raise EnvError(f"batches number letters by 64 bits, too few for {machine.alphabet}; use TaskEnv")
        self._read = self.dynamics.reader(machine.alphabet)
        self._step = stepper(machine)
        self._end: End = end
        self._ends = ending_states(self.tasks, end)
        self._goes_on = machine.accepting & (end == "round")
        self._initial = self.tasks.initial.astype(np.int64)
        self._shares = np.arange(1, len(self.tasks) + 1) / len(self.tasks)
        self._probes: dict[tuple[int, int], Probe] = {}
        self._seeds: list[int] = []
        self._places: Places = {}

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; equal seeds give equal environments."""
        check_seed(seed)
        self._seeds = environment_seeds(int(seed), self.count)
        self._episode = np.zeros(self.count, dtype=np.int64)
        self._time = np.zeros(self.count, dtype=np.int64)
        self._letter = np.full(self.count, -1, dtype=np.int64)
        self._begin_all()
        self._task = self._drawn(self._keys)
        self._state = self._final_state = self._initial.take(self._task)
        return torch.from_numpy(self.dynamics.shown(self._places))

    def step(self, actions: Tensor) -> StepBatch:
        """Move in all environments, let the tasks read what holds there, and pay. actions: (N,), or (N, size)."""
        if not self._seeds:
            raise EnvError("call reset(seed) before the first step")
        taken = checked_actions(actions.cpu().numpy(), self.count, self.dynamics.action_space)
        self._places, left = self.dynamics.move(self._places, taken, self._keys, self._time)
        self._letter = self._read(self._places)
        self._state, reward = self._step(self._state, self._letter)
        self._final_state = self._state
        self._time = self._time + 1
        late = self._time >= self.config.steps
        terminated, stays = self._ends.take(self._state), self._goes_on.take(self._state) & ~late
        if left is not None:
            terminated, stays = terminated | left, stays & ~left
        done = terminated | late
        anew = done & ~stays
        final = observed = self.dynamics.shown(self._places)
        if anew.any():
            observed = final.copy()
            observed[anew] = self.dynamics.shown(self._begin_next(anew))
        if stays.any():
            self._state = np.where(stays, self._initial.take(self._task), self._state)
        result = (observed, reward, terminated, late & ~terminated, final)
        return StepBatch(*map(torch.from_numpy, result))

    @property
    def task(self) -> Tensor:
        return torch.from_numpy(self._task.copy())

    @property
    def truth(self) -> Truth:
        if not self._seeds:
            raise EnvError("call reset(seed) first")
        arrays = (self._letter, self._state, self._final_state)
        return Truth(*(torch.from_numpy(array.copy()) for array in arrays))

    def probe(self, count: int, seed: int = 0) -> Probe:
        """All observations where they are listed, else those at places drawn all over the environment."""
        if (count, seed) not in self._probes:
            places = self.dynamics.scattered(count, seed)
            observations, letters = map(torch.from_numpy, (self.dynamics.observe(places), self._read(places)))
            self._probes[count, seed] = Probe(observations, letters)
        return self._probes[count, seed]

    def state_dict(self) -> dict[str, Any]:
        """Seeds, counters, places and states; what else was drawn follows from them."""
        if not self._seeds:
            raise EnvError("call reset(seed) first: there is no state to save yet")
        place = self.dynamics.saved
        runner = {"task": self._task, "state": self._state, "final_state": self._final_state}
        arrays = {"episode": self._episode, place: self._places[place], "time": self._time, "read": self._codes()}
        return {
            "version": STATE_VERSION,
            "env": self._fingerprint(),
            "seeds": list(self._seeds),
            "runner": {name: torch.from_numpy(array.copy()) for name, array in runner.items()},
            **{name: torch.from_numpy(array.copy()) for name, array in arrays.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, in an environment of the same configuration, tasks and count."""
        if state.get("version") != STATE_VERSION:
            raise EnvError(
                f"the saved state has version {state.get('version')}; this nrm reads version {STATE_VERSION}"
            )
        if not self._same(state.get("env")):
            raise EnvError(
                "the saved state is of another environment: configuration, task, end rule and count must be the same. "
                f"Saved: {state.get('env')}; here: {self._fingerprint()}"
            )
        self._seeds = [int(seed) for seed in state["seeds"]]
        self._episode, self._time = (state[name].numpy().copy() for name in ("episode", "time"))
        self._begin_all()
        saved = self.dynamics.saved
        self._places[saved] = state[saved].numpy().copy()
        read = next(state[key] for key in ("read", "content", "label", "letter") if key in state).numpy()
        contents = self.dynamics.contents_letters(self.machine.alphabet)
        self._letter = read.copy() if contents is None else np.where(read < 0, -1, contents.take(read, mode="clip"))
        runner = state["runner"]
        self._task, self._state, self._final_state = (
            runner[name].numpy().copy() for name in ("task", "state", "final_state")
        )

    def _codes(self) -> NDArray[np.int64]:
        """(N,) what was read last, as saved states have it: contents of cells on a grid, else letters."""
        contents = self.dynamics.contents_letters(self.machine.alphabet)
        if contents is None:
            return self._letter
        codes: NDArray[np.int64] = np.where(self._letter[:, None] == contents, np.arange(len(contents)), -1).max(1)
        return codes

    def _same(self, saved: Any) -> bool:
        """Whether a fingerprint is this environment's; settings that have become constants do not matter."""
        here = self._fingerprint()
        if not isinstance(saved, dict) or not isinstance(saved.get("config"), dict):
            return False
        return {**saved, "config": {key: saved["config"].get(key) for key in here["config"]}} == here

    def _fingerprint(self) -> dict[str, Any]:
        task = task_digest(self.machine)
        return {"config": asdict(self.config), "count": self.count, "end": self._end, "task": task}

    def _begin_all(self) -> None:
        """Begin the present episodes everywhere."""
        self._ahead: Places = {}
        self._until = np.zeros(self.count, dtype=np.int64)
        self._words = words(self._seeds)
        self._keys = episode_keys(self._words, self._episode)
        self._places = self._begun(np.ones(self.count, dtype=np.bool_))

    def _begin_next(self, done: BoolArray) -> Places:
        """Begin the next episodes where one is done: their first places."""
        self._time = np.where(done, 0, self._time)
        self._episode = self._episode + done
        if self.dynamics.random or self.tasks.either(False, True):
            self._keys[done] = episode_keys(self._words[done], self._episode[done])
        self._task = self._task.copy()
        self._task[done] = self._drawn(self._keys[done])
        self._state = np.where(done, self._initial.take(self._task), self._state)
        begun = self._begun(done)
        for name, rows in begun.items():
            self._places[name][done] = rows
        return begun

    def _drawn(self, keys: Words) -> NDArray[np.int64]:
        """The tasks of the episodes with these keys; environments draw from lower counters."""
        if len(self.tasks) == 1:
            return np.zeros(len(keys), dtype=np.int64)
        return np.searchsorted(self._shares, chances(keys, 1 << 33), side="right").astype(np.int64)

    def _begun(self, which: BoolArray) -> Places:
        """The first places of the present episodes of some environments, which may have been begun ahead, in blocks."""
        ahead = self.dynamics.ahead
        if ahead == 1:
            return self.dynamics.begin(self._keys[which])
        short = which & (self._episode >= self._until)
        if short.any():
            first = self._episode[short] // ahead * ahead
            keys = episode_keys(self._words[short][:, None], first[:, None] + np.arange(ahead))
            for name, rows in self.dynamics.begin(keys.ravel()).items():
                block = rows.reshape(len(first), ahead, *rows.shape[1:])
                kept = self._ahead.setdefault(name, np.zeros((self.count, *block.shape[1:]), dtype=rows.dtype))
                kept[short] = block
            self._until[short] = first + ahead
        return {name: rows[which, self._episode[which] % ahead] for name, rows in self._ahead.items()}


class SingleEnv(gymnasium.Env[NDArray[Any], Any]):
    """An environment of ours by its configuration. Subclasses name the usual one, for `gymnasium.make`."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012 - as the base class has it
    config_class: ClassVar[Any]

    def __init__(self, config: Any = None, *, render_mode: str | None = None, **options: Any) -> None:
        """`config`: the environment, the usual one if none; `options`: fields of the configuration to change."""
        usual = config or self.config_class()
        known = [field.name for field in fields(usual)]
        for option in options:
            if option not in known:
                raise EnvError(unknown("option", option, known))
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise EnvError(unknown("render_mode", render_mode, modes))
        self.config = replace(usual, **options)
        self.render_mode = render_mode
        self._dynamics: Dynamics = self.config.dynamics()
        self.action_space = self._dynamics.action_space
        self.observation_space = self._dynamics.observation_space
        self.action_names = self._dynamics.action_names
        self._seed: int | None = None
        self._episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode: the first one of `seed`, or the next one."""
        super().reset(seed=seed, options=options)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(1 << 62)) if seed is None else int(seed)
            check_seed(self._seed)
            self._episode = -1
        self._episode += 1
        self._key = episode_keys(words([self._seed]), [self._episode])
        self._way = [self._dynamics.begin(self._key)]
        return self._shown()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        if self._seed is None:
            raise EnvError("call reset() before the first step")
        time = len(self._way) - 1
        self._check_action(action, time)
        places, left = self._dynamics.move(self._way[-1], np.asarray([action]), self._key, np.array([time]))
        self._way.append(places)
        observation, info = self._shown()
        return observation, 0.0, left is not None and bool(left[0]), time + 1 >= self.config.steps, info

    def render(self) -> Any:
        """The picture (rgb_array), or the text (ansi)."""
        if self.render_mode is None:
            raise EnvError("this environment was made without a render_mode; make it with render_mode='rgb_array'")
        if self._seed is None:
            raise EnvError("call reset() before render()")
        drawn = self._dynamics.text if self.render_mode == "ansi" else self._dynamics.picture
        return drawn(self._way)

    def _shown(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """The observation and the info at the end of the way."""
        here: Places = self._way[-1]
        observation: NDArray[Any] = self._dynamics.observe(here)[0]
        return observation, {"labels": self._dynamics.labels(here)}

    def _check_action(self, action: Any, time: int) -> None:
        discrete = isinstance(self.action_space, spaces.Discrete)
        if not self.action_space.contains(action if discrete else np.asarray(action, dtype=np.float32)):
            numbered = ", ".join(f"{number} {name}" for number, name in enumerate(self.action_names))
            known = numbered if discrete else "two numbers from -1 to 1"
            raise EnvError(f"unknown action {action!r} at step {time + 1}; the actions are {known}")
