"""The wrappers for one environment, and for Gymnasium's vector environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from nrm.errors import EnvError
from nrm.machines import MachineLike, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking import Belief, MachineLearning
from nrm.wrappers.models import Reads, build_tracker


class NeuralRewardMachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Add the belief of a neural reward machine to the observations of an environment with a task.

    It needs no labels. To train the grounder, make `grounding = nrm.tracking.Grounding.of(wrapper.tracker)` and call
    `grounding.add(wrapper.tracker.take())` after each episode.

    With a `MooreMachine` or a task instead of a model, the belief is the true state, which the environment must
    provide, as `nrm.TaskEnv` does. With `nrm.tracking.unknown_machine()`, call
    `wrapper.model.add(wrapper.tracker.take())` after each episode to infer the machine. With a `TaskSet`, or a model of
    one, the entry `task` holds the task encoding instead of the belief.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
        *,
        belief: Belief = "open-loop",
        reads: Reads = None,
        record: bool = True,
    ) -> None:
        """`belief`: `filtered` by rewards, `open-loop` or `argmax`.

        `reads`: the entry that the grounder reads of `Dict` observations, or several, all if absent; `record`: whether
        episodes are kept to learn from.
        """
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, model=model, belief=belief, reads=reads, record=record
        )
        gymnasium.Wrapper.__init__(self, env)
        machines = [env.get_wrapper_attr("machine")] if env.has_wrapper_attr("machine") else []
        self.model, self.tracker, self.augmentation = build_tracker(
            model, env.observation_space, 1, machines, belief, reads, record
        )
        self.observation_space = self.augmentation.space
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, certain of the machine's initial state."""
        observation, info = self.env.reset(seed=seed, options=options)
        begins = np.ones(1, dtype=np.bool_)
        self.tracker.restart(begins, self.augmentation.read(observation)[None], lambda key: [info.get(key)])
        self._begun = True
        return self.augmentation.join(observation, self.belief), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment, then the belief."""
        if not self._begun:
            raise EnvError("call reset() before the first step, and after an episode has ended")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.tracker.step(
            np.array(self.augmentation.read(observation))[None],
            np.array([float(reward)]),
            lambda key: [info.get(key)],
        )
        if terminated or truncated:
            self.tracker.finish(np.ones(1, dtype=np.bool_))
            self._begun = False
        return self.augmentation.join(observation, self.belief), reward, terminated, truncated, info

    @property
    def belief(self) -> NDArray[np.float32]:
        """(states,) the present belief."""
        believed: NDArray[np.float32] = self.tracker.beliefs[0]
        return believed


class NeuralRewardMachineVectorWrapper(VectorWrapper[Any, Any, Any, Any, Any]):
    """`NeuralRewardMachineWrapper` for vector environments: the grounder reads all of them in one pass.

    All autoreset modes work. `NEXT_STEP`: the belief is reset at the step that resets. `SAME_STEP`: `info["final_obs"]`
    holds the belief at the end of the episode. `DISABLED`: beliefs are reset by `reset(options={"reset_mask": …})`.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
        *,
        belief: Belief = "open-loop",
        reads: Reads = None,
        record: bool = True,
    ) -> None:
        """Wrap `env`; see `NeuralRewardMachineWrapper`."""
        super().__init__(env)
        self.mode = env.metadata.get("autoreset_mode")
        if self.mode not in tuple(AutoresetMode):
            raise EnvError(f"metadata['autoreset_mode'] is one of gymnasium.vector.AutoresetMode, not {self.mode!r}")
        self.model, self.tracker, self.augmentation = build_tracker(
            model, env.single_observation_space, env.num_envs, _machines(env), belief, reads, record
        )
        self.single_observation_space = self.augmentation.space
        self.observation_space = batch_space(self.augmentation.space, env.num_envs)
        self._over = np.zeros(env.num_envs, dtype=np.bool_)
        self._begun = False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin episodes: of all environments, or of those in `options["reset_mask"]`."""
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        which = everywhere if options is None else options.get("reset_mask", everywhere)
        observation, info = self.env.reset(seed=seed, options=options)
        self.tracker.restart(which, self.augmentation.read(observation), info.get)
        self._over = self._over & ~which
        self._begun = True
        return self.augmentation.join(observation, self.tracker.beliefs), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the environments, then their beliefs."""
        if not self._begun:
            raise EnvError("call reset() before the first step")
        observation, reward, terminated, truncated, info = self.env.step(actions)
        done = np.asarray(terminated) | np.asarray(truncated)
        # A copy: vector environments may write into what they gave, and the episodes are kept.
        seen = np.array(self.augmentation.read(observation))
        if self.mode == AutoresetMode.SAME_STEP and done.any():
            for index in np.flatnonzero(done):
                seen[index] = self.augmentation.read(info["final_obs"][index])
        self.tracker.step(seen, reward, lambda key: self._about(info, done, key))
        if self._over.any():
            self.tracker.skip(self._over, info.get)
        if done.any():
            self.tracker.finish(done)
            if self.mode == AutoresetMode.SAME_STEP:
                info = {**info, "final_obs": self._final(info["final_obs"], done)}
                self.tracker.restart(done, self.augmentation.read(observation), info.get)
        self._over = done if self.mode == AutoresetMode.NEXT_STEP else self._over
        return self.augmentation.join(observation, self.tracker.beliefs), reward, terminated, truncated, info

    def _final(self, observations: Any, done: NDArray[np.bool_]) -> NDArray[np.object_]:
        """(N,) the last observations of the episodes that ended, with their beliefs; None elsewhere."""
        beliefs = self.tracker.beliefs
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(done):
            final[index] = self.augmentation.join(observations[index], beliefs[index])
        return final

    def _about(self, info: dict[str, Any], done: NDArray[np.bool_], key: str) -> Any:
        """(N,) what environments say about the step itself; None where they say nothing."""
        found = info.get(key)
        if self.mode == AutoresetMode.SAME_STEP and done.any():
            ended = info.get("final_info", {}).get(key)
            found = ended if found is None else np.where(done, ended, found)
        return found


def _machines(env: VectorEnv[Any, Any, Any]) -> tuple[object, ...]:
    """The machines of environments that tell them, as `nrm.TaskEnv` does."""
    try:
        return tuple(env.get_attr("machine"))  # type: ignore[attr-defined]
    except AttributeError:
        return ()
