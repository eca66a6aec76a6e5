"""The wrapper for Gymnasium's vector environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from nrm.errors import EnvError
from nrm.machines import MachineLike, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking import Belief, MachineLearning, told_states, told_tasks
from nrm.wrappers.augmentation import BeliefLayout, Reads
from nrm.wrappers.models import fitted


class NeuralRewardMachineVectorWrapper(VectorWrapper[Any, Any, Any, Any, Any]):
    """`NeuralRewardMachineWrapper` for N environments at once: the grounder reads all of them in one pass.

    All autoreset modes are kept as they are. `NEXT_STEP`: the step that resets is read by nobody, and its belief is
    that of a beginning. `SAME_STEP`: `info["final_obs"]` carries the belief at the end of the episode, the observation
    that of a beginning. `DISABLED`: beliefs begin anew where `reset(options={"reset_mask": …})` says so.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
        *,
        layout: BeliefLayout = "dict",
        belief: Belief = "open-loop",
        reads: Reads = None,
        record: bool = True,
    ) -> None:
        """Wrap `env`; see `NeuralRewardMachineWrapper`."""
        super().__init__(env)
        self.mode = env.metadata.get("autoreset_mode")
        if self.mode not in tuple(AutoresetMode):
            raise EnvError(
                f"the vector environment does not say how it resets: metadata['autoreset_mode'] is {self.mode!r}; "
                "it must be one of gymnasium.vector.AutoresetMode"
            )
        options: Any = {"layout": layout, "belief": belief, "reads": reads, "record": record}
        self.model, self.tracker, self.augmentation = fitted(
            model, env.single_observation_space, env.num_envs, _machines(env), **options
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
        self.tracker.restart(which, self.augmentation.read(observation), self._tasks(info, which))
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
        letters = self._told(info, done, "letter") if self.tracker.told else None
        self.tracker.step(seen, reward, lambda: self._states(info, done), letters)
        if self._over.any():
            self.tracker.skip(self._over, self._tasks(info, self._over))
        if done.any():
            self.tracker.finish(done)
            if self.mode == AutoresetMode.SAME_STEP:
                info = {**info, "final_obs": self._final(info["final_obs"], done)}
                self.tracker.restart(done, self.augmentation.read(observation), self._tasks(info, done))
        self._over = done if self.mode == AutoresetMode.NEXT_STEP else self._over
        return self.augmentation.join(observation, self.tracker.beliefs), reward, terminated, truncated, info

    def _final(self, observations: Any, done: NDArray[np.bool_]) -> NDArray[np.object_]:
        """(N,) the last observations of the episodes that ended, with their beliefs; None elsewhere."""
        beliefs = self.tracker.beliefs
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(done):
            final[index] = self.augmentation.join(observations[index], beliefs[index])
        return final

    def _tasks(self, info: dict[str, Any], which: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """(N,) the tasks of the episodes that begin where `which` says so; None where there is one task."""
        return told_tasks(info.get("task"), self.num_envs, which) if self.tracker.many else None

    def _states(self, info: dict[str, Any], done: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(N,) the true states that the step reached."""
        return told_states(self._told(info, done, "machine_state"), self.num_envs)

    def _told(self, info: dict[str, Any], done: NDArray[np.bool_], key: str) -> Any:
        """(N,) what environments tell about the step itself; None where they do not."""
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
