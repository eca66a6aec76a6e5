"""Labelling functions that are sometimes wrong, or only probable: what a detector says stands beside observations.

A detector is part of what an agent sees. Rewards, states and true symbols stay those of the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.aliases import FloatArray, Json
from nrm.envs.base import BatchedEnv, Probe, StepBatch, Truth
from nrm.envs.counter_rng import Words, chances, draws, environment_seeds, episode_keys, words
from nrm.envs.task_env import own_task
from nrm.errors import AlphabetError, EnvError, ProbabilityError, listing, unknown
from nrm.files import parse_json, read_text
from nrm.machines import Alphabet
from nrm.observations import DETECTED, ObservationSpec, Parts
from nrm.registry import import_value

OBSERVATION = "observation"
"""The entry of an observation that was no `Dict` before."""
APART = 1 << 34
"""Where the draws of detections begin; those of environments and tasks have lower counters."""


class Seen(NamedTuple):
    """Some steps that a detector looks at."""

    observation: NDArray[Any]
    """(n, …)"""
    letter: NDArray[np.int64]
    """(n,) the true letter."""
    key: Words
    """(n,) of the episode."""
    time: NDArray[np.int64]
    """(n,)"""


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """A labelling function that is sometimes wrong, or only probable.

    Make one with `confused`, `detector` or `read`; put it on an environment with `NoisyLabelsEnv`.
    """

    alphabet: Alphabet
    says: Callable[[Seen], FloatArray]
    """(n, letters) how probable each letter is, of n steps."""

    @classmethod
    def confused(cls, confusion: ArrayLike | Json, alphabet: Alphabet, persistent: bool = False) -> NoisyLabels:
        """Wrong with given probabilities.

        `confusion`: a matrix (true, detected) in the order of `alphabet.letter_names`; rows by name, as in
        `{"gold": {"gold": 0.8, "fool": 0.2}}`, where symbols without a row are never confused; or one probability of a
        wrong symbol. `persistent`: the same observation gives the same detection throughout an episode. What is said of
        a detection is how probable each true symbol makes it, normalised.
        """
        matrix = _matrix(confusion, alphabet)
        meant = matrix.T / np.maximum(matrix.sum(0), 1e-12)[:, None]
        return cls(alphabet, partial(_confused, matrix.cumsum(1), meant, persistent))

    @classmethod
    def detector(cls, function: Callable[[NDArray[Any]], Any], alphabet: Alphabet) -> NoisyLabels:
        """As a function says: from observations (n, …) to probabilities (n, letters)."""
        return cls(alphabet, partial(_detected, function, alphabet))

    @classmethod
    def read(cls, text: str, alphabet: Alphabet) -> NoisyLabels:
        """From words: a probability, a confusion matrix as JSON or in a .json file, or module:name of a detector.

        JSON holds `confusion` and perhaps `persistent`, as in `confused`.
        """
        try:
            return cls.confused(float(text), alphabet)
        except ValueError:
            pass
        if not text.endswith(".json") and not text.startswith("{"):
            return cls.detector(import_value(text, "detector"), alphabet)
        source = "labels" if text.startswith("{") else text
        found = parse_json(text if text.startswith("{") else read_text(text), source, dict[str, Any], ProbabilityError)
        for key in found:
            if key not in ("confusion", "persistent"):
                raise ProbabilityError(unknown("key", key, ("confusion", "persistent"), f" in {source}"))
        if not isinstance(persistent := found.get("persistent", False), bool):
            raise ProbabilityError(f"{source}: persistent is true or false, not {persistent!r}")
        try:
            return cls.confused(found.get("confusion", {}), alphabet, persistent)
        except ProbabilityError as error:
            raise ProbabilityError(f"{source}: {error}") from None

    @property
    def ignorance(self) -> FloatArray:
        """(letters,) what is said before the first step."""
        return np.full(self.alphabet.size, 1.0 / self.alphabet.size)


def _matrix(given: ArrayLike | Json, alphabet: Alphabet) -> FloatArray:
    """(true, detected) a confusion matrix, or `ProbabilityError` with the row that is none."""
    if not alphabet.is_small:
        raise AlphabetError(f"a confusion matrix has a row for each of {alphabet.amount} letters; take fewer symbols")
    names = alphabet.letter_names
    size = len(names)
    if isinstance(given, Mapping):
        matrix = _named_rows(given, names)
    elif isinstance(given, (int, float)):
        even = np.full((size, size), float(given) / max(1, size - 1))
        matrix = np.where(np.eye(size, dtype=np.bool_), 1.0 - float(given), even)
    else:
        try:
            matrix = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ProbabilityError(f"a confusion matrix holds numbers in rows of one length, not {given!r}") from None
    if matrix.shape != (size, size):
        raise ProbabilityError(
            f"the confusion matrix has shape {matrix.shape}; {(size, size)} is needed, a row and a column for each of "
            f"{listing(names)}"
        )
    for name, row in zip(names, matrix, strict=True):
        _check_row(row, f"row '{name}' of the confusion matrix")
    return matrix


def _named_rows(given: Mapping[Any, Any], names: tuple[str, ...]) -> FloatArray:
    matrix = np.eye(len(names))
    for true, row in given.items():
        if not isinstance(row, Mapping):
            raise ProbabilityError(f"row '{true}' of the confusion matrix names what is detected, such as {{…: 0.2}}")
        for name, chance in [(true, 0.0), *row.items()]:
            if name not in names:
                raise ProbabilityError(unknown("symbol", str(name), names, f" in row '{true}' of the confusion matrix"))
            if isinstance(chance, bool) or not isinstance(chance, (int, float)):
                raise ProbabilityError(f"row '{true}' of the confusion matrix holds {chance!r} for '{name}'")
            matrix[names.index(true), names.index(name)] = chance
    return matrix


def _check_row(row: FloatArray, what: str) -> None:
    """Raise `ProbabilityError` unless a row (letters,) is a distribution."""
    wrong = ~(np.isfinite(row) & (row >= 0))
    if wrong.any():
        raise ProbabilityError(f"{what} holds {row[wrong][0]:g} in column {int(wrong.argmax())}, counting from 0")
    if abs(row.sum() - 1.0) > 1e-4:
        raise ProbabilityError(f"{what} sums to {row.sum():g}, not to 1")


def _confused(until: FloatArray, meant: FloatArray, persistent: bool, seen: Seen) -> FloatArray:
    """`until`: (true, detected) sums of the rows; `meant`: (detected, letters) what a detection tells."""
    address = _fingerprints(seen.observation) if persistent else seen.time.astype(np.uint64)
    chance = chances(seen.key, address + np.uint64(APART))
    said: FloatArray = meant[(chance[:, None] >= until[seen.letter, :-1]).sum(1)]
    return said


def _fingerprints(observations: NDArray[Any]) -> Words:
    """(n,) a number for each observation (n, …); equal ones have equal numbers."""
    numbers = (observations.reshape(len(observations), -1).astype(np.float64) + 0.0).view(np.uint64)
    mixed: Words = draws(numbers, np.arange(numbers.shape[1])).sum(1, dtype=np.uint64)
    return mixed


def _detected(function: Callable[[NDArray[Any]], Any], alphabet: Alphabet, seen: Seen) -> FloatArray:
    said = np.asarray(function(seen.observation), dtype=np.float64)
    if said.shape != (len(seen.letter), alphabet.size):
        wanted = (len(seen.letter), alphabet.size)
        raise ProbabilityError(f"the detector gave shape {said.shape}; {wanted} is needed: {listing(alphabet.symbols)}")
    for number, row in enumerate(said):
        _check_row(row, f"what the detector says of observation {number} of {len(said)}")
    return said


def _with_detections(entries: Mapping[str, spaces.Space[Any]], letters: int) -> spaces.Dict:
    """The space of observations with such entries and what a detector says."""
    if DETECTED in entries:
        raise EnvError(f"observations have an entry '{DETECTED}' already; rename it, or wrap only once")
    return spaces.Dict({**entries, DETECTED: spaces.Box(0.0, 1.0, (letters,), np.float32)})


class NoisyLabelsEnv(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Put what a noisy labelling function says beside the observations of an environment with a task.

    Observations become a `Dict` with the entry `detected`: the probabilities of the letters of the task. At a reset it
    knows nothing. The task itself goes on with the true symbols.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], labels: NoisyLabels) -> None:
        """`env`: with an `nrm.TaskEnv` inside, over the alphabet of `labels`."""
        RecordConstructorArgs.__init__(self, labels=labels, _disable_deepcopy=True)
        gymnasium.Wrapper.__init__(self, env)
        if (inner := own_task(env)) is None or inner.tasks.alphabet != labels.alphabet:
            raise EnvError(
                f"noisy labels go around nrm.TaskEnv(env, machine) with a task over {listing(labels.alphabet.symbols)}"
            )
        self.labels = labels
        space = env.observation_space
        self._entries = space.spaces if isinstance(space, spaces.Dict) else {OBSERVATION: space}
        self._whole = not isinstance(space, spaces.Dict)
        self.observation_space = _with_detections(self._entries, labels.alphabet.size)
        self._parts = Parts.of(spaces.Dict(self._entries))
        self._first: Words | None = None
        self._episode = self._time = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._episode, self._time = self._episode + 1, 0
        if seed is not None or self._first is None:
            self._first = words([np.random.SeedSequence().entropy if seed is None else seed])  # type: ignore[list-item]
            self._episode = 0
        return self._joined(observation, self.labels.ignorance), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        assert self._first is not None
        looked_at = np.asarray(observation) if self._whole else self._parts.join(observation)
        key = episode_keys(self._first, [self._episode])
        seen = Seen(looked_at[None], np.array([info["letter"]]), key, np.array([self._time]))
        self._time += 1
        return self._joined(observation, self.labels.says(seen)[0]), reward, terminated, truncated, info

    def _joined(self, observation: Any, said: FloatArray) -> dict[str, Any]:
        entries = {OBSERVATION: observation} if self._whole else observation
        return {**entries, DETECTED: said.astype(np.float32)}


class NoisyLabelsBatch(BatchedEnv):
    """The same for a batch; each environment behaves as a `NoisyLabelsEnv` of its seed."""

    def __init__(self, env: BatchedEnv, labels: NoisyLabels) -> None:
        """`labels`: over the alphabet of the tasks of `env`."""
        self._env, self._labels = env, labels
        self.count, self.actions, self.tasks, self.withheld = env.count, env.actions, env.tasks, env.withheld
        detected = Parts.of(_with_detections({}, labels.alphabet.size)).parts
        plain = _parts_of(env.spec)
        self._parts = Parts(tuple(sorted((*plain.parts, *detected), key=lambda part: part.name)))
        self._plain = plain
        self.spec = ObservationSpec((self._parts.width,), torch.float32, entries=self._parts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def reset(self, seed: int) -> Tensor:
        first = self._env.reset(seed)
        self._words = words(environment_seeds(seed, self.count))
        self._episode, self._time = np.zeros(self.count, dtype=np.int64), np.zeros(self.count, dtype=np.int64)
        return self._joined(self._looks(first), self._labels.ignorance)

    def step(self, actions: Tensor) -> StepBatch:
        shown = self._env.step(actions)
        done = (shown.terminated | shown.truncated).numpy()
        looks = self._looks(shown.final_observation)
        keys = episode_keys(self._words, self._episode)
        said = self._labels.says(Seen(looks, self._env.truth.label.numpy(), keys, self._time))
        final = observed = self._joined(looks, said)
        if done.any():
            observed = final.clone()
            observed[done] = self._joined(self._looks(shown.observation[done]), self._labels.ignorance)
        self._episode, self._time = self._episode + done, np.where(done, 0, self._time + 1)
        return shown._replace(observation=observed, final_observation=final)

    @property
    def task(self) -> Tensor:
        return self._env.task

    @property
    def truth(self) -> Truth:
        return self._env.truth

    def probe(self, count: int, seed: int = 0) -> Probe | None:
        """The observations of the environment, each as one of an episode of its own."""
        if (found := self._env.probe(count, seed)) is None:
            return None
        numbers, looks = np.arange(len(found.letters)), found.observations.numpy()
        said = self._labels.says(Seen(looks, found.letters.numpy(), draws(words([seed]), numbers), 0 * numbers))
        return found._replace(observations=self._joined(looks, said))

    def state_dict(self) -> dict[str, Any]:
        counts = {"episode": self._episode, "time": self._time, "words": self._words.view(np.int64)}
        return {"env": self._env.state_dict(), **{name: torch.from_numpy(one.copy()) for name, one in counts.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._env.load_state_dict(state["env"])
        self._episode, self._time = (state[name].numpy().copy() for name in ("episode", "time"))
        self._words = state["words"].numpy().copy().view(np.uint64)

    def _looks(self, observation: Tensor) -> NDArray[Any]:
        """(n, …) observations as a detector sees them."""
        looks: NDArray[Any] = self._env.spec.shown(observation).numpy()
        return looks

    def _joined(self, looks: NDArray[Any], said: FloatArray) -> Tensor:
        """(n, width) rows of what is seen and said (…, letters)."""
        entries = self._plain.split(looks) if self._env.spec.entries else {OBSERVATION: looks}
        both = {**entries, DETECTED: np.broadcast_to(said, (len(looks), said.shape[-1]))}
        return torch.from_numpy(self._parts.join(both))


def _parts_of(spec: ObservationSpec) -> Parts:
    """What observations of an environment hold, with bounds where these are known."""
    if spec.entries is not None:
        return spec.entries
    low, high = (0.0, 255.0) if spec.dtype == torch.uint8 else (-np.inf, np.inf)
    if spec.table is not None:
        low, high = float(spec.table.min()), float(spec.table.max())
    whole = np.uint8 if spec.dtype == torch.uint8 else np.float32
    return Parts.of(spaces.Dict({OBSERVATION: spaces.Box(low, high, spec.shape, whole)}))


def with_noisy_labels(env: BatchedEnv, labels: str) -> BatchedEnv:
    """A batch of environments with a detector, as `NoisyLabels.read` reads it."""
    return NoisyLabelsBatch(env, NoisyLabels.read(labels, env.tasks.alphabet))
