"""The wrapper for Stable-Baselines3's vectorised environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from nrm.errors import ConfigError, EnvError
from nrm.machines import MachineLike, Penalties, TaskSet, check_gamma, shaped
from nrm.neural import NeuralRewardMachine
from nrm.tracking import Belief, Info, MachineLearning
from nrm.wrappers import Reads, build_tracker


class NeuralRewardMachineVecWrapper(VecEnvWrapper):
    """Add the belief of a neural reward machine to the observations of vectorised environments with a task.

    The environments may run in other processes; the model reads all of them in one pass, without labels.
    `infos[i]["terminal_observation"]` contains the belief at the end of the episode, so that value bootstrapping at a
    time limit is right. A machine, a task set or an unknown machine can take the place of the model, as in
    `nrm.wrappers.NeuralRewardMachineWrapper`.
    """

    def __init__(
        self,
        venv: VecEnv,
        model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
        *,
        belief: Belief = "open-loop",
        reads: Reads = None,
        reward_scale: float = 1.0,
        gamma: float = 1.0,
        record: bool = True,
    ) -> None:
        """Wrap `venv`, whose rewards must be those of the task; wrappers that change rewards go outside.

        `belief`, `reads`: as in `NeuralRewardMachineWrapper`. `reward_scale`: factor for the rewards of the agent;
        potentials go up to 100.
        `gamma`: the discount factor of the agent; it is paid `gamma * after - before`, of potentials, while grounding
        reads the plain differences.
        `record`: keep episodes for `GroundingCallback` and scale penalties with success; turn it off for evaluation.
        """
        if not isinstance(venv, VecEnv):
            raise EnvError(f"a VecEnv of Stable-Baselines3 is needed, not {type(venv).__name__}: DummyVecEnv([make])")
        if not (isinstance(reward_scale, int | float) and np.isfinite(reward_scale) and reward_scale > 0):
            raise ConfigError(f"reward_scale must be a positive number, not {reward_scale!r}")
        check_gamma(gamma)
        if any(value != 1 for value in (venv.get_attr("gamma") if venv.has_attr("gamma") else [])):
            raise ConfigError("TaskEnv has a gamma, so rewards are no differences of potentials; give it here instead")
        self.model, self.tracker, self.augmentation = build_tracker(
            model, venv.observation_space, venv.num_envs, machines_of(venv), belief, reads, record
        )
        super().__init__(venv, self.augmentation.space)
        self.belief: Belief = belief
        self.reads: Reads = reads if reads is None or isinstance(reads, str) else tuple(reads)
        self.reward_scale = float(reward_scale)
        self.gamma = float(gamma)
        self._potential = np.zeros(self.num_envs)
        self.penalties = Penalties() if record else None
        """What failures cost while the agent trains; None where it is paid what the task pays."""

    def reset(self) -> Any:
        """Begin episodes everywhere, certain of the machine's initial state."""
        observation = self.venv.reset()
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        self._begin_potentials(everywhere)
        self.tracker.restart(everywhere, self.augmentation.read(observation), self._begun(everywhere))
        return self.augmentation.join(observation, self.tracker.beliefs)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step the environments, then their beliefs."""
        observation, rewards, dones, infos = self.venv.step_wait()
        ended = np.flatnonzero(dones)
        seen = np.array(self.augmentation.read(observation))
        for index in ended:
            seen[index] = self.augmentation.read(infos[index]["terminal_observation"])
        self.tracker.step(seen, rewards, lambda key: [info.get(key) for info in infos])
        if ended.size:
            beliefs = self.tracker.beliefs
            for index in ended:
                final = infos[index]["terminal_observation"]
                infos[index]["terminal_observation"] = self.augmentation.join(final, beliefs[index])
            self.tracker.restart(dones, self.augmentation.read(observation), self._begun(dones))
        before, after = self._potential, self._potential + rewards
        paid = shaped(before, after, self.gamma) * self.reward_scale
        self._potential = after
        self._begin_potentials(dones)
        if self.penalties is not None:
            truncated = np.array([info.get("TimeLimit.truncated", False) for info in infos])
            paid = paid * self.penalties.weights(rewards, dones & ~truncated)
        return self.augmentation.join(observation, self.tracker.beliefs), paid.astype(np.float32), dones, infos

    def _begin_potentials(self, which: NDArray[np.bool_]) -> None:
        """The initial potentials of episodes that begin; 0 where nobody gives them. Without a discount none matters."""
        if self.gamma != 1 and which.any():
            begun = np.flatnonzero(which).tolist()
            given = self.venv.has_attr("potential")
            self._potential[begun] = self.venv.get_attr("potential", begun) if given else 0.0

    def _begun(self, which: NDArray[np.bool_]) -> Info:
        """What environments say of the episodes that begin where `which` says so."""

        def info(key: str) -> Any:
            # What a reset says is lost on the way through some wrappers, so the environments are asked.
            if key != "task" or not self.venv.has_attr("task_number"):
                return None
            begun = np.flatnonzero(which).tolist()
            return dict(zip(begun, self.venv.get_attr("task_number", begun), strict=True))

        return info


def machines_of(venv: VecEnv) -> list[Any]:
    """The machines of environments that tell them, as `nrm.TaskEnv` does."""
    return list(venv.get_attr("machine")) if venv.has_attr("machine") else []


def find_wrapper(env: Any) -> NeuralRewardMachineVecWrapper | None:
    """The belief's wrapper in a stack of wrappers, if there is one."""
    while env is not None and not isinstance(env, NeuralRewardMachineVecWrapper):
        env = env.venv if isinstance(env, VecEnvWrapper) else None
    return env
