"""What follows a machine through episodes while somebody acts: memories, recorder, grounding updates, accuracy."""

from nrm.tracking.accuracy import Accuracy, AccuracyMeter, BorderAccuracy
from nrm.tracking.beliefs import BeliefMemory, TaskBeliefMemory, belief_memory
from nrm.tracking.grounding import Decision, Grounding, GroundingUpdate, left_to_learn
from nrm.tracking.grounding_config import GroundingConfig, UpdateConfig, update_settings
from nrm.tracking.hypothesis_memory import HypothesisMemory
from nrm.tracking.letters import (
    LabelledSymbols,
    ObservedSymbols,
    SymbolIndex,
    observation_name,
)
from nrm.tracking.machine_learning import InferenceConfig, Judge, MachineLearning, Version, found_at, unknown_machine
from nrm.tracking.memories import Belief, Memory, Report, StateMemory, Transition, ViewedMemory
from nrm.tracking.recorder import RecordedEpisode, Recorder
from nrm.tracking.tracker import Info, Tracker

__all__ = [
    "Accuracy",
    "AccuracyMeter",
    "Belief",
    "BeliefMemory",
    "BorderAccuracy",
    "Decision",
    "Grounding",
    "GroundingConfig",
    "GroundingUpdate",
    "HypothesisMemory",
    "InferenceConfig",
    "Info",
    "Judge",
    "LabelledSymbols",
    "MachineLearning",
    "Memory",
    "ObservedSymbols",
    "RecordedEpisode",
    "Recorder",
    "Report",
    "StateMemory",
    "SymbolIndex",
    "TaskBeliefMemory",
    "Tracker",
    "Transition",
    "UpdateConfig",
    "Version",
    "ViewedMemory",
    "belief_memory",
    "found_at",
    "left_to_learn",
    "observation_name",
    "unknown_machine",
    "update_settings",
]
