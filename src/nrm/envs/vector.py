"""Any `gymnasium.vector` environment as a batched environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from torch import Tensor

from nrm.envs.base import (
    BatchedEnv,
    Probe,
    StepBatch,
    Truth,
    action_size,
    action_space,
    check_count,
    checked_actions,
    task_digest,
)
from nrm.envs.counter_rng import environment_seeds, episode_keys, words
from nrm.errors import EnvError
from nrm.machines import MooreMachine, TaskSet, as_task_set
from nrm.observations import ObservationSpec, Parts

AnyEnv = gymnasium.Env[Any, Any]
CHOICES = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
ALONE = "observation"
"""The name of the only part of an observation that is a choice and no `Dict`."""
VECTOR_STATE_VERSION = 3


class GymVectorEnv(BatchedEnv):
    """N Gymnasium environments with a task, behind the interface of `BatchedEnv`.

    The autoreset mode is `DISABLED`: this class starts each episode with its own seed, so that `state_dict` is exact.
    Use `GymVectorEnv.of` to make one.

    Observations are a `Box`, discrete spaces, or a `Dict` of these; discrete values and entries of a `Dict` become one
    vector. Actions are discrete or a `Box`.
    """

    unrepeatable: str = ""
    """Where two episodes from one seed part, in words; such an environment cannot go on exactly from a saved state."""

    def __init__(self, vector: VectorEnv[Any, Any, Any]) -> None:
        mode = vector.metadata.get("autoreset_mode")
        if mode != AutoresetMode.DISABLED:
            raise EnvError(
                f"the vector environment resets itself (mode {mode}), so its episodes cannot be continued; make it "
                "with autoreset_mode=AutoresetMode.DISABLED, or use GymVectorEnv.of(make, count)"
            )
        observation, action = vector.single_observation_space, vector.single_action_space
        self.actions = action_space(action)
        if not isinstance(observation, (spaces.Box, *CHOICES, spaces.Dict)):
            raise EnvError(
                f"observations must be a Box, Discrete or Dict, not {observation}; one Box is made of them by "
                "gymnasium.wrappers.FlattenObservation, in a function of yours that is the environment (module:name)"
            )
        self._alone = isinstance(observation, CHOICES)
        together = spaces.Dict({ALONE: observation}) if self._alone else observation
        self._parts = Parts.of(together) if isinstance(together, spaces.Dict) else None
        # Its type says that a seed is one number; all vector environments take a list as well.
        self.vector: Any = vector
        self.tasks = _tasks(vector)
        self._first_states = self.tasks.initial.astype(np.int64)
        self.count = int(vector.num_envs)
        shape: tuple[int, ...] = tuple(observation.shape or ()) if self._parts is None else (self._parts.width,)
        dtype = torch.from_numpy(np.zeros(0, (self._parts or observation).dtype)).dtype
        self.spec = ObservationSpec(shape, dtype, entries=self._parts)
        self._action_space: Any = action
        self._seeds: list[int] = []
        self._shown: deque[tuple[Tensor, int]] = deque(maxlen=512)  # the last observations, and their letters
        self._lost = False  # whether the episodes under way could not be brought back

    @classmethod
    def of(cls, make: Callable[[], AnyEnv], count: int, processes: bool = False) -> GymVectorEnv:
        """`count` environments from a function that makes a `TaskEnv`, in this process or one process each.

        Episodes have the length of the environment. If it never ends, let `make` add a `gymnasium.wrappers.TimeLimit`.
        Runs of the command line truncate such episodes after 1,000 steps.
        """
        check_count(count)
        kind = AsyncVectorEnv if processes else SyncVectorEnv
        return cls(kind([make] * count, autoreset_mode=AutoresetMode.DISABLED))

    def reset(self, seed: int) -> Tensor:
        """Begin the first episodes; environment i gets `environment_seeds(seed, count)[i]`."""
        self._seeds = environment_seeds(seed, self.count)
        self._lost = False
        self._shown.clear()
        self._time = 0
        self._episode = np.zeros(self.count, dtype=np.int64)
        observation, info = self._answer(self.vector.reset, seed=list(self._seeds))
        self._letter = np.full(self.count, -1, dtype=np.int64)
        self._task = np.zeros(self.count, dtype=np.int64)
        self._note_tasks(info, np.ones(self.count, dtype=np.bool_))
        self._state = self._final_state = self._initial
        self._taken: list[list[NDArray[Any]]] = [[] for _ in range(self.count)]
        first = self._tensor(observation)
        self._check_finite(first, "after reset()")
        return first

    def step(self, actions: Tensor) -> StepBatch:
        """Step every environment, and begin the next episode where one ended. actions: (N,), or (N, size)."""
        if not self._seeds:
            raise EnvError("call reset(seed) before the first step")
        if self._lost:
            raise EnvError(
                "this environment cannot be resumed: two episodes with one seed differ at "
                f"{self.unrepeatable}. Let reset(seed=…) seed all of its randomness, or start a new run"
            )
        taken: NDArray[Any] = actions.cpu().numpy()
        observation, reward, terminated, truncated, info = self._answer(self.vector.step, self.given(taken))
        truncated = truncated & ~terminated
        done: NDArray[np.bool_] = terminated | truncated
        final = observed = self._tensor(observation)
        self._check_finite(final)
        self._letter, self._final_state = (info[key].astype(np.int64) for key in ("letter", "machine_state"))
        self._show(final)
        for history, action in zip(self._taken, taken, strict=True):
            history.append(action)
        if done.any():
            observed = self._begin_next(done)
        self._state = np.where(done, self._initial, self._final_state)
        paid = torch.from_numpy(np.asarray(reward).astype(np.float32))
        return StepBatch(observed, paid, torch.from_numpy(terminated.copy()), torch.from_numpy(truncated), final)

    @property
    def task(self) -> Tensor:
        return torch.from_numpy(self._task.copy())

    @property
    def _initial(self) -> NDArray[np.int64]:
        """(N,) the states in which the present tasks begin."""
        return self._first_states[self._task]

    def _note_tasks(self, info: dict[str, Any], which: NDArray[np.bool_]) -> None:
        """Note the tasks of episodes that begin where `which` (N,) says so."""
        self._task = np.where(which, info.get("task", 0), self._task).astype(np.int64)

    @property
    def truth(self) -> Truth:
        if not self._seeds:
            raise EnvError("call reset(seed) first")
        return Truth(*(torch.from_numpy(array.copy()) for array in (self._letter, self._state, self._final_state)))

    def _show(self, observations: Tensor) -> None:
        """Keep an observation (N, *shape) and its letter: of step t, that of environment t modulo N."""
        turn = self._time % self.count
        self._shown.append((observations[turn].clone(), int(self._letter[turn])))
        self._time += 1

    def probe(self, count: int, seed: int = 0) -> Probe | None:  # noqa: ARG002
        """Some of the last observations; None before any."""
        if not self._shown:
            return None
        observations, letters = zip(*self._shown, strict=True)
        return Probe(torch.stack(observations), torch.tensor(letters))

    def state_dict(self) -> dict[str, Any]:
        """Seeds and the actions of the present episodes, from which they can be lived through again.

        Exact where an episode follows from its seed and its actions, as Gymnasium asks of every environment.
        """
        if not self._seeds:
            raise EnvError("call reset(seed) first: there is no state to save yet")
        shown = self.probe(0) or Probe(torch.empty(0, *self.shape, dtype=self.dtype), torch.empty(0, dtype=torch.int64))
        return {
            "version": VECTOR_STATE_VERSION,
            "task": task_digest(self.machine),
            "seeds": list(self._seeds),
            "episode": torch.from_numpy(self._episode.copy()),
            "actions": [self._history(actions) for actions in self._taken],
            "labelled": {"observations": shown.observations, "letters": shown.letters, "next": self._time},
            "letter": torch.from_numpy(self._letter.copy()),
            "state": torch.from_numpy(self._state.copy()),
            "final_state": torch.from_numpy(self._final_state.copy()),
            "task_number": self.task,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called: every present episode is replayed from its seed."""
        seeds = state.get("seeds", ())
        known = state.get("version") == VECTOR_STATE_VERSION and state.get("task") == task_digest(self.machine)
        if not known or len(seeds) != self.count:
            raise EnvError(
                f"the saved state is of another batch, with {len(seeds)} environments; this one has {self.count}"
            )
        self._seeds = [int(seed) for seed in seeds]
        self._episode = state["episode"].numpy().copy()
        self._taken = [list(history.numpy()) for history in state["actions"]]
        shown = state["labelled"]
        self._shown.clear()
        self._shown.extend(zip(shown["observations"], shown["letters"].tolist(), strict=True))
        self._time = shown["next"]
        self._task = state["task_number"].numpy().copy()
        self._lost = bool(self.unrepeatable)
        self._letter, self._state, self._final_state = (
            state[key].numpy().copy() for key in ("letter", "state", "final_state")
        )
        if not self._lost:
            self._replay()

    def close(self) -> None:
        self.vector.close()

    def _answer(self, call: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """What the environments answer, if all of their processes are alive."""
        try:
            return call(*values, **named)
        except (EOFError, ConnectionError):
            self.vector.closed = True  # closing would wait for the answer; the other processes end with this one
            raise EnvError("the process of an environment has ended; without --env.processes it says why") from None

    def _tensor(self, observation: Any) -> Tensor:
        """A copy, because vector environments may write into what they gave."""
        if self._parts is None:
            return torch.from_numpy(np.array(observation))
        return torch.from_numpy(self._parts.join({ALONE: observation} if self._alone else observation))

    def _check_finite(self, observed: Tensor, place: str | None = None) -> None:
        """Raise where an environment shows NaN or infinity, which networks would pass on; `place`: if not this step."""
        if observed.is_floating_point() and not bool(torch.isfinite(observed).all()):
            index = int((~torch.isfinite(observed)).flatten(1).any(1).nonzero()[0])
            place = place or f"at step {len(self._taken[index]) + 1} of its episode"
            raise EnvError(f"environment {index} shows NaN or infinity in its observation {place}; it must be finite")

    def given(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Actions (n, …) as environments take them."""
        return checked_actions(actions, len(actions), self._action_space)

    def _idle(self) -> NDArray[Any]:
        """An action for environments that wait for their turn."""
        space = self._action_space
        if isinstance(space, spaces.Box):
            return np.asarray(space.low.flatten(), dtype=np.float32)
        return np.zeros(action_size(self.actions) or (), dtype=np.int64)

    def _history(self, actions: list[NDArray[Any]]) -> Tensor:
        """(time, …) the actions of an episode."""
        idle = self._idle()
        return torch.from_numpy(np.array(actions, dtype=idle.dtype).reshape(-1, *idle.shape))

    def _begin_next(self, done: NDArray[np.bool_]) -> Tensor:
        """Begin the next episode where one is done, with its own seed; the observations after that."""
        self._episode = self._episode + done
        for index in np.flatnonzero(done):
            self._taken[index] = []
        first = self._begin(done)
        self._check_finite(first, "after reset()")
        return first

    def _begin(self, which: NDArray[np.bool_]) -> Tensor:
        keys = [int(key) for key in episode_keys(words(self._seeds), self._episode)]
        observation, info = self._answer(self.vector.reset, seed=keys, options={"reset_mask": which})
        self._note_tasks(info, which)
        return self._tensor(observation)

    def _replay(self) -> None:
        """Live through the present episodes again, so that all end at the same step.

        Environments step together, so the longest episode begins first; the others idle until it is their turn.
        """
        lengths = np.array([len(history) for history in self._taken])
        longest = int(lengths.max(initial=0))
        idle = self._idle()
        self._answer(self.vector.reset, seed=list(self._seeds))
        self._begin(np.ones(self.count, dtype=np.bool_))
        for time in range(longest):
            position = time - (longest - lengths)
            actions = [
                history[at] if at >= 0 else idle for history, at in zip(self._taken, position.tolist(), strict=True)
            ]
            *_, terminated, truncated, info = self._answer(self.vector.step, self.given(np.stack(actions)))
            over = (position >= 0) & (terminated | truncated)
            said = np.stack([info["letter"], info["machine_state"]])
            differ = (said != [self._letter, self._final_state]).any(0) & (position == lengths - 1) & (lengths > 0)
            for what, which in (("ends", over), ("shows another symbol", differ)):
                if which.any():
                    raise EnvError(
                        f"the environment has changed since the run was saved: an episode {what} at step "
                        f"{position[which][0] + 1} now. Restore it to resume; evaluate and watch need only the weights"
                    )
            begins = (position == -1) | ((position < 0) & (terminated | truncated))
            if begins.any():
                self._begin(begins)


def _tasks(vector: VectorEnv[Any, Any, Any]) -> TaskSet:
    """The tasks of all sub-environments; wrappers of other people's may only have a machine."""
    for name, kind in (("tasks", TaskSet), ("machine", MooreMachine)):
        try:
            found = vector.get_attr(name)  # type: ignore[attr-defined]
        except AttributeError:
            continue
        if not found or not all(isinstance(one, kind) for one in found):
            continue
        tasks = [as_task_set(one) for one in found]
        if any(one.union != tasks[0].union for one in tasks):
            raise EnvError("the environments of a batch must share one task; theirs differ")
        return tasks[0]
    raise EnvError(f"the environments of {vector} have no task; wrap each in nrm.TaskEnv(env, machine)")
