"""The wrapper for one environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from nrm.errors import EnvError
from nrm.machines import MachineLike, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking import Belief, MachineLearning, told_states, told_tasks
from nrm.wrappers.augmentation import BeliefLayout, Reads
from nrm.wrappers.models import fitted


class NeuralRewardMachineWrapper(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Puts the belief of a neural reward machine beside the observations of an environment that pays for a task.

    Needs no labels: the belief follows observations and rewards. With `grounding = nrm.tracking.Grounding.of(
    wrapper.tracker)`, the call `grounding.add(wrapper.tracker.take())` after every episode learns when it is due.

    With a `MooreMachine` or a task in place of the model, the belief is the machine's true state, which the environment
    must tell (`nrm.TaskEnv` does): a reward machine in the same shape. With `nrm.unknown_machine()`, nothing is known:
    `wrapper.model.add(wrapper.tracker.take())` after every episode learns the machine when it is refuted.

    With a `TaskSet`, or a model of one, every episode has another task, and the entry `task` in place of the belief is
    the view of it (`nrm.machines.task_view`): from the true state, or under the belief.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        model: NeuralRewardMachine | MachineLearning | MachineLike | TaskSet,
        *,
        layout: BeliefLayout = "dict",
        belief: Belief = "open-loop",
        reads: Reads = None,
        record: bool = True,
    ) -> None:
        """Wrap `env`.

        `layout`: `dict` or `flat`; `belief`: `filtered` by rewards, or `open-loop`; `reads`: the entry that
        the grounder reads of `Dict` observations, or several, all if absent; `record`: whether episodes are kept to
        learn from.
        """
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, model=model, layout=layout, belief=belief, reads=reads, record=record
        )
        gymnasium.Wrapper.__init__(self, env)
        machines = [env.get_wrapper_attr("machine")] if env.has_wrapper_attr("machine") else []
        options: Any = {"layout": layout, "belief": belief, "reads": reads, "record": record}
        self.model, self.tracker, self.augmentation = fitted(model, env.observation_space, 1, machines, **options)
        self.observation_space = self.augmentation.space
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, certain of the machine's initial state."""
        observation, info = self.env.reset(seed=seed, options=options)
        begins = np.ones(1, dtype=np.bool_)
        tasks = told_tasks([info.get("task")], 1, begins) if self.tracker.many else None
        self.tracker.restart(begins, self.augmentation.read(observation)[None], tasks)
        self._begun = True
        return self._joined(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment, then the belief."""
        if not self._begun:
            raise EnvError("call reset() before the first step, and after an episode has ended")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.tracker.step(
            np.array(self.augmentation.read(observation))[None],
            np.array([float(reward)]),
            lambda: told_states([info.get("machine_state")], 1),
            np.array([info.get("letter", -1)]) if self.tracker.told else None,
        )
        if terminated or truncated:
            self.tracker.finish(np.ones(1, dtype=np.bool_))
            self._begun = False
        return self._joined(observation), reward, terminated, truncated, info

    @property
    def belief(self) -> NDArray[np.float32]:
        """(states,) what is believed now."""
        believed: NDArray[np.float32] = self.tracker.beliefs[0]
        return believed

    def _joined(self, observation: Any) -> Any:
        return self.augmentation.join(observation, self.belief)
