"""A task on any environment."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from nrm.aliases import Symbol
from nrm.envs.labels import LabelFunction, labelling, letter_of
from nrm.envs.task_runner import End, ending_states
from nrm.errors import EnvError, UnknownSymbolError, shorten, unknown
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_task_set, check_gamma, shaped

Observation = TypeVar("Observation")
Action = TypeVar("Action")

Pay: TypeAlias = Literal["differences", "outputs"]
"""What a step pays: how much the potential changed, or the output of the state that it leads to."""


class TaskEnv(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """Put a task on an environment: follow its machine and pay the difference of potentials.

    The reward of the environment is replaced; it is in `info["base_reward"]`. The labelling function is called after
    each step, not at the reset. An episode ends as `end` says, or when the environment ends it
    (`info["base_terminated"]`). `TaskEnv` adds no time limit. Wrap an environment that never ends in
    `gymnasium.wrappers.TimeLimit`.

    With a `TaskSet`, each episode has one task, sampled with the seed of the reset or chosen by `reset(options={"task":
    number})`. `info["task"]` is its number, and states are those of all tasks together (`tasks.union`). The wrappers in
    `nrm.wrappers` and `nrm.sb3` add the task encoding to the observation.

    `info` holds `label` (the name of the true symbol; None at a reset), `letter` (its number; -1), `machine_state` and
    `level` (the potential). They are for evaluation and for agents that are given the symbols.
    """

    def __init__(
        self,
        env: gymnasium.Env[Observation, Action],
        machine: MachineLike | TaskSet,
        label: LabelFunction | str | None = None,
        *,
        end: End = "outcome",
        empty: Symbol | None = None,
        pay: Pay = "differences",
        gamma: float = 1.0,
    ) -> None:
        """Wrap an environment.

        Args:
            env: the environment.
            machine: a task, its machine, or a task set.
            label: a labelling function of (observation, info, environment); `labels` or `propositions` (keys of info);
                `get_events` or `label` (methods); `info:KEY`; or `module:name`. Default: whichever of the named ones
                the environment has.
            end: when an episode ends: outcome, absorbing or limit; round is the same as outcome here.
            empty: the symbol for `nothing`, if the labelling function returns nothing.
            pay: `outputs` for machines whose outputs are rewards: `load_machine(…, outputs="rewards")`.
            gamma: the discount factor of the agent: a step pays `gamma * after - before`, of potentials. Agents that
                learn symbols need 1 here; `NeuralRewardMachineVecWrapper` takes the discount instead.

        """
        if (inner := own_task(env)) is not None:
            raise EnvError(
                f"the environment {env} already has a task (a machine of {inner.machine.states} states) and would pay "
                "twice; drop one of the two TaskEnv"
            )
        if pay not in get_args(Pay):
            raise EnvError(unknown("pay", pay, get_args(Pay)))
        check_gamma(gamma)
        if pay == "outputs" and gamma != 1:
            raise EnvError("gamma discounts potentials, and pay='outputs' pays rewards; drop one of them")
        self.tasks = tasks = as_task_set(machine)
        if empty is not None and empty not in tasks.alphabet.symbols:
            raise UnknownSymbolError(unknown("symbol", empty, tasks.alphabet.symbols, " of empty"))
        RecordConstructorArgs.__init__(self, machine=tasks, label=label, end=end, empty=empty, pay=pay, gamma=gamma)
        gymnasium.Wrapper.__init__(self, env)
        self.machine: MooreMachine = tasks.union
        self.end: End = end
        self.pay: Pay = pay
        self.gamma = gamma
        self._initial = tasks.initial
        self._ends = ending_states(tasks, end)
        self._empty = empty
        self._label = labelling(label, env)
        self._generator = np.random.default_rng()
        self._task = 0
        self._state: int | None = None
        self._episode = 0
        self._time = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; the machine is in the initial state of the task."""
        options = self._draw(seed, options)
        observation, info = reset_result(self.env.reset(seed=seed, options=options), self.env)
        self._state = int(self._initial[self._task])
        self._episode += 1
        self._time = 0
        return observation, {**info, "base_reward": 0.0, "base_terminated": False, **self._truth(-1)}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Step the environment, then the machine."""
        if self._state is None:
            raise EnvError("call reset() before the first step")
        self._time += 1
        place = f"step {self._time} of episode {self._episode}"
        given = self.env.step(action)
        observation, base_reward, terminated, truncated, info = step_result(given, self.env, place)
        said = self._label(observation, info, self.env)
        letter = letter_of(said, self.machine.alphabet, self._empty, place)
        before, self._state = self._state, self.machine.next_state(self._state, letter)
        reward = float(self.paid(before, self._state))
        ended = terminated or bool(self._ends[self._state])
        base = {"base_reward": base_reward, "base_terminated": terminated}
        info = {**info, **base, **self._truth(letter)}
        return observation, reward, ended, truncated and not ended, info

    def paid(self, before: Any, after: Any) -> Any:
        """What steps pay that lead from some states to others; numbers or arrays."""
        outputs = self.machine.outputs
        return outputs[after] if self.pay == "outputs" else shaped(outputs[before], outputs[after], self.gamma)

    @property
    def potential(self) -> float:
        """The potential of the present state."""
        return float(self.machine.outputs[self._state or 0])

    @property
    def task_number(self) -> int:
        """The number of the present task."""
        return self._task

    def _draw(self, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any] | None:
        """Choose the task of an episode. What is left of the options, for the environment."""
        if seed is not None:  # with a number of their own, so that tasks take no draws from the environment
            self._generator = np.random.default_rng([seed, 0x7A5C])
        others = dict(options or {})
        wanted = others.pop("task", None)
        count = len(self.tasks)
        if wanted is None:
            self._task = int(self._generator.integers(count))
            return options
        if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or not 0 <= wanted < count:
            raise EnvError(f"options name the task {wanted!r}; the tasks are 0 to {count - 1}")
        self._task = int(wanted)
        return others

    def _truth(self, letter: int) -> dict[str, Any]:
        assert self._state is not None
        return {
            "task": self._task,
            "label": None if letter < 0 else self.machine.alphabet.letter_name(letter),
            "letter": letter,
            "machine_state": self._state,
            "level": float(self.machine.outputs[self._state]),
        }


def own_task(env: gymnasium.Env[Any, Any]) -> TaskEnv[Any, Any] | None:
    """The `TaskEnv` among the wrappers of an environment; None where there is none."""
    layer: Any = env
    while not isinstance(layer, TaskEnv):
        if not isinstance(layer, gymnasium.Wrapper):
            return None
        layer = layer.env
    return layer


def reset_result(given: Any, env: gymnasium.Env[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """What `reset` gave: (observation, info), or `EnvError`."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], dict):
        raise EnvError(f"{_name(env)}: reset() must return (observation, info), not {shorten(repr(given))}")
    _check_observation(given[0], env, "reset()")
    return given


def step_result(given: Any, env: gymnasium.Env[Any, Any], place: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """What `step` gave, as plain numbers and truth values, or a `EnvError` with the place: `step 3 of episode 1`."""
    if not isinstance(given, tuple) or len(given) != 5 or not isinstance(given[4], dict):
        raise EnvError(
            f"{_name(env)}, {place}: step() must return (observation, reward, terminated, truncated, info), not "
            f"{shorten(repr(given))} (four values are the old gym's, before version 0.26)"
        )
    observation, reward, terminated, truncated, info = given
    _check_observation(observation, env, place)
    try:
        paid = float(reward)
    except (TypeError, ValueError):
        paid = math.nan
    if not math.isfinite(paid):
        raise EnvError(f"{_name(env)}, {place}: the reward must be a finite number, not {reward!r}")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, (bool, np.bool_, int)):
            raise EnvError(f"{_name(env)}, {place}: {name} must be True or False, not {shorten(repr(flag))}")
    return observation, paid, bool(terminated), bool(truncated), info


def _check_observation(observation: Any, env: gymnasium.Env[Any, Any], place: str) -> None:
    """Raise unless an observation has the shape that the space says; its bounds are the environment's business."""
    space = env.observation_space
    if isinstance(space, spaces.Box) and np.shape(observation) != space.shape:
        raise EnvError(
            f"{_name(env)}, {place}: the observation has shape {np.shape(observation)}, but the space is {space}"
        )


def _name(env: gymnasium.Env[Any, Any]) -> str:
    """What an environment is called: its id, or the name of its class."""
    spec = env.unwrapped.spec
    return spec.id if spec is not None else type(env.unwrapped).__name__
