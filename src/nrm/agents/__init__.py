"""One A2C, and three memories that turn a history into a feature: RM, NRM and RNN."""

from nrm.agents.accuracy import Accuracy, grounding_accuracy
from nrm.agents.config import METHODS, PRESETS, AgentConfig, Method, preset
from nrm.agents.memories import BeliefMemory, MachineMemory, Memory, RecurrentMemory
from nrm.agents.training import History, Trainer

__all__ = [
    "METHODS",
    "PRESETS",
    "Accuracy",
    "AgentConfig",
    "BeliefMemory",
    "History",
    "MachineMemory",
    "Memory",
    "Method",
    "RecurrentMemory",
    "Trainer",
    "grounding_accuracy",
    "preset",
]
