"""Counterfactual experience: what a step would have meant in every other state of the machine.

The environment moves alike in all of the machine's states, so one step teaches about each of them: in state u it would
have led to delta(u, letter) and paid the difference of potentials. Off-policy agents may learn from all of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import DictReplayBuffer
from stable_baselines3.common.type_aliases import DictReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from nrm.envs import End, ending_states
from nrm.errors import EnvError
from nrm.machines import MachineLike, MooreMachine, Penalties, as_machine, shaped
from nrm.neural import NeuralRewardMachine
from nrm.sb3.vec_wrapper import find_wrapper, machines_of
from nrm.wrappers import BELIEF, OBSERVATION, check_same_task


class CounterfactualReplayBuffer(DictReplayBuffer):
    """A replay buffer with counterfactual experience (CRM).

    A step is stored once and relabelled when it is sampled: `sample(n)` gives n steps in each machine state in which an
    episode can be.

    With `model`, symbols are sampled from the present probabilities of its grounder. While `imagines` is false, steps
    are returned as they happened. Without `model`, symbols are the true ones (`info["letter"]`).

    Use `counterfactual(venv, machine)`, which fills in the arguments.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Dict,
        action_space: spaces.Space[Any],
        *,
        machine: MooreMachine,
        model: NeuralRewardMachine | None = None,
        end: End = "outcome",
        reward_scale: float = 1.0,
        gamma: float = 1.0,
        penalties: Penalties | None = None,
        reads: str = OBSERVATION,
        shape: tuple[int, ...] | None = None,
        **usual: Any,
    ) -> None:
        """`reads`: the entry that the grounder reads; `shape`: of it as the environment gives it, not transposed.

        `gamma`: of the rewards, as the wrapper pays them.

        `penalties`: what failures cost, as the wrapper pays them; in full when absent.
        `usual`: what every replay buffer takes (`device`, `n_envs`, …).
        """
        super().__init__(buffer_size, observation_space, action_space, **usual)
        self.machine = machine
        self.model = model
        self.imagines = True
        """Whether steps are relabelled; `GroundingCallback` waits until the grounder explains the rewards."""
        self.reward_scale, self.gamma = reward_scale, gamma
        self.penalties = penalties
        self._ends = ending_states(machine, end)
        self._live = np.flatnonzero(~self._ends)
        self._one_hot = np.eye(machine.states, dtype=np.float32)
        self._reads = reads
        stored = observation_space[reads].shape
        # Images are stored with channels first, as policies want them; grounders read what environments give.
        self._transposed = shape is not None and len(shape) == 3 and tuple(shape) != tuple(stored or ())
        self.letters = np.full((self.buffer_size, self.n_envs), -1, dtype=np.int64)
        self.base_terminated = np.zeros((self.buffer_size, self.n_envs), dtype=np.bool_)

    def add(  # type: ignore[override]
        self,
        obs: dict[str, NDArray[Any]],
        next_obs: dict[str, NDArray[Any]],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Store a step of all environments as it happened."""
        try:
            self.base_terminated[self.pos] = [bool(info["base_terminated"]) for info in infos]
            if self.model is None:
                self.letters[self.pos] = [int(info["letter"]) for info in infos]
        except KeyError as missing:
            raise EnvError(
                f"counterfactual experience needs info[{missing}] of every step, which nrm.TaskEnv(env, machine) gives"
            ) from None
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(  # type: ignore[override]
        self, batch_inds: NDArray[np.int64], env: VecNormalize | None = None
    ) -> DictReplayBufferSamples:
        """Steps at these places, each in every state in which an episode can be: all in one state, then the next."""
        if not self.imagines:
            return super()._get_samples(batch_inds, env)
        places = (batch_inds, np.random.randint(0, self.n_envs, len(batch_inds)))  # noqa: NPY002 - SB3 seeds this one
        if self.model is None:
            letters = np.tile(self.letters[places], len(self._live))
        else:
            letters = self._drawn(self.next_observations[self._reads][places])
        place = tuple(np.tile(index, len(self._live)) for index in places)
        states = np.repeat(self._live, len(batch_inds))
        before = {key: rows[place] for key, rows in self.observations.items()}
        after = {key: rows[place] for key, rows in self.next_observations.items()}
        reached = self.machine.columns[states, self.machine.classes_of(letters)].astype(np.int64)
        outputs = self.machine.outputs
        paid = shaped(outputs[states], outputs[reached], self.gamma)
        over = self._ends[reached] | self.base_terminated[place]  # a time limit is no end

        happened = before[BELIEF].argmax(1) == states
        before[BELIEF] = np.where(happened[:, None], before[BELIEF], self._one_hot[states])
        after[BELIEF] = np.where(happened[:, None], after[BELIEF], self._one_hot[reached])
        scale = 1.0 if self.penalties is None else self.penalties.of(over & (outputs[reached] < outputs[states]))
        rewards = np.where(happened, self.rewards[place], paid * self.reward_scale * scale)
        ended = np.where(happened, self.dones[place] * (1 - self.timeouts[place]), over)

        normal_before, normal_after = self._normalize_obs(before, env), self._normalize_obs(after, env)
        assert isinstance(normal_before, dict)
        assert isinstance(normal_after, dict)
        normal_rewards = self._normalize_reward(rewards[:, None].astype(np.float32), env)
        return DictReplayBufferSamples(
            observations={key: self.to_torch(rows) for key, rows in normal_before.items()},
            actions=self.to_torch(self.actions[place]),
            next_observations={key: self.to_torch(rows) for key, rows in normal_after.items()},
            dones=self.to_torch(ended[:, None].astype(np.float32)),
            rewards=self.to_torch(normal_rewards),
        )

    def _drawn(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        """(states * n,) letters, sampled for every state from what the grounder says about observations (n, …)."""
        assert self.model is not None
        rows = np.moveaxis(observations, 1, -1) if self._transposed else observations
        seen = torch.as_tensor(np.ascontiguousarray(rows), device=self.model.machine.levels.device)
        with torch.no_grad():
            symbols = self.model.ground(seen, check=False)
            if self.model.distribution.counted:  # propositions are independent, and so they are drawn
                return _drawn_letters(np.tile(symbols.double().cpu().numpy(), (len(self._live), 1)))
            letters = self.model.letter_probs(symbols).double()
        sums = np.tile(letters.cumsum(1).cpu().numpy(), (len(self._live), 1))
        drawn: NDArray[np.int64] = (sums < np.random.rand(len(sums), 1) * sums[:, -1:]).sum(1)  # noqa: NPY002
        return drawn


def _drawn_letters(propositions: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) letters at which each proposition holds with its probability (n, propositions)."""
    true = np.random.rand(*propositions.shape) < propositions  # noqa: NPY002
    letters: NDArray[np.int64] = (true.astype(np.int64) << np.arange(propositions.shape[1])).sum(1)
    return letters


def counterfactual(venv: Any, task: MachineLike, end: End = "outcome") -> dict[str, Any]:
    """Arguments that give an off-policy agent counterfactual experience.

    Use it as `DQN(…, venv, **counterfactual(venv, machine))`. `venv` is, or wraps, a `NeuralRewardMachineVecWrapper`.
    With a neural reward machine, symbols come from its grounder; with a `MooreMachine` they are the true ones. `task`
    and `end` are those of the `nrm.TaskEnv`.
    """
    machine, wrapper = as_machine(task), find_wrapper(venv)
    if wrapper is None:
        raise EnvError("counterfactual experience needs NeuralRewardMachineVecWrapper(venv, model)")
    states = wrapper.tracker.memory.size
    if states != machine.states:
        raise EnvError(f"the task has {machine.states} states, but the environment's belief is about {states}")
    check_same_task(machine, machines_of(wrapper.venv))
    model = wrapper.model if isinstance(wrapper.model, NeuralRewardMachine) else None
    if model is not None:  # single steps are read
        model.reading.check_alone()
    several = wrapper.augmentation.parts
    if model is not None and several is not None:
        raise EnvError(f"counterfactual experience reads one entry, not {several}; give the wrapper reads=… with one")
    options = {
        "machine": machine,
        "model": model,
        "end": end,
        "reward_scale": wrapper.reward_scale,
        "gamma": wrapper.gamma,
        "penalties": wrapper.penalties,
        "reads": wrapper.augmentation.key or (OBSERVATION if several is None else several.parts[0].name),
        "shape": wrapper.augmentation.grounded.shape if several is None else several.parts[0].shape,
    }
    return {"replay_buffer_class": CounterfactualReplayBuffer, "replay_buffer_kwargs": options}
