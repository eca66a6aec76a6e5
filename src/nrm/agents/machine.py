"""Machine: the symbols are told, the task is not. Its machine is learned from rewards while the agent acts."""

from __future__ import annotations

from nrm.agents.devices import device_of
from nrm.agents.inferring import check_one_task, judge_for
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.base import BatchedEnv
from nrm.tracking import InferenceConfig, LabelledSymbols, MachineLearning


def _prepare(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    check_one_task(env, "automata-learning")
    letters = LabelledSymbols(env.machine.alphabet)
    inference = MachineLearning(letters, settings, judge_for(env, letters), device_of(env))
    return Prepared(inference.memory, inference=inference)


MACHINE = METHODS.register(
    Method(
        name="automata-learning",
        label="learned machine",
        knows="is given the true symbols; learns the task's machine",
        prepare=_prepare,
        config=InferenceConfig,
        section="inference",
        colour="#cc79a7",
        dark="#f0a3cd",
        dash=(8, 2),
        marker="P",
        unknown="machine",
    )
)
