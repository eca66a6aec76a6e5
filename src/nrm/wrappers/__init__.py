"""A belief beside the observations of any Gymnasium environment, single or vectorised."""

from nrm.wrappers.belief_wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper
from nrm.wrappers.models import (
    BELIEF,
    OBSERVATION,
    TASK,
    Model,
    Reads,
    as_model,
    build_tracker,
    check_same_task,
    model_for,
)

__all__ = [
    "BELIEF",
    "OBSERVATION",
    "TASK",
    "Model",
    "NeuralRewardMachineVectorWrapper",
    "NeuralRewardMachineWrapper",
    "Reads",
    "as_model",
    "build_tracker",
    "check_same_task",
    "model_for",
]
