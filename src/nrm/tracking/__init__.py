"""What follows a machine through episodes while somebody acts: memories, recorder, grounding updates, accuracy."""

from nrm.tracking.accuracy import Accuracy, AccuracyMeter, BorderAccuracy
from nrm.tracking.belief_step import Belief
from nrm.tracking.grounding import Decision, Grounding, GroundingUpdate, left_to_learn
from nrm.tracking.grounding_config import GroundingConfig, UpdateConfig, update_settings
from nrm.tracking.hypothesis_memory import HypothesisMemory
from nrm.tracking.letters import (
    MAX_LETTERS,
    LabelledSymbols,
    ListedSymbols,
    ObservedSymbols,
    SymbolIndex,
    observation_name,
)
from nrm.tracking.machine_learning import InferenceConfig, Judge, MachineLearning, unknown_machine
from nrm.tracking.memories import (
    BeliefMemory,
    MachineMemory,
    Memory,
    Report,
    StateMemory,
    TaskMemory,
    Transition,
    ViewedMemory,
    begin,
    report,
    reset,
)
from nrm.tracking.recorder import RecordedEpisode, Recorder
from nrm.tracking.task_memories import TaskBeliefMemory, TaskStateMemory
from nrm.tracking.tracker import Tracker, told_states, told_tasks
from nrm.tracking.versions import Version, found_at

__all__ = [
    "MAX_LETTERS",
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
    "Judge",
    "LabelledSymbols",
    "ListedSymbols",
    "MachineLearning",
    "MachineMemory",
    "Memory",
    "ObservedSymbols",
    "RecordedEpisode",
    "Recorder",
    "Report",
    "StateMemory",
    "SymbolIndex",
    "TaskBeliefMemory",
    "TaskMemory",
    "TaskStateMemory",
    "Tracker",
    "Transition",
    "UpdateConfig",
    "Version",
    "ViewedMemory",
    "begin",
    "found_at",
    "left_to_learn",
    "observation_name",
    "report",
    "reset",
    "told_states",
    "told_tasks",
    "unknown_machine",
    "update_settings",
]
