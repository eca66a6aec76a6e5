"""What follows a machine through episodes while somebody acts: memories, recorder, bursts of grounding, accuracy."""

from nrm.tracking.accuracy import Accuracy, AccuracyMeter, BorderAccuracy
from nrm.tracking.burst_policy import Decision
from nrm.tracking.grounding import Burst, Grounding
from nrm.tracking.grounding_config import GroundingConfig
from nrm.tracking.hypothesis_memory import HypothesisMemory
from nrm.tracking.machine_learning import InferenceConfig, MachineLearning, unknown_machine
from nrm.tracking.memories import Belief, BeliefMemory, MachineMemory, Memory, TaskMemory, Transition, begin, reset
from nrm.tracking.recorder import RecordedEpisode, Recorder
from nrm.tracking.task_memories import TaskBeliefMemory, TaskStateMemory
from nrm.tracking.tracker import Tracker
from nrm.tracking.versions import Version
from nrm.tracking.viewed_memory import ViewedMemory

__all__ = [
    "Accuracy",
    "AccuracyMeter",
    "Belief",
    "BeliefMemory",
    "BorderAccuracy",
    "Burst",
    "Decision",
    "Grounding",
    "GroundingConfig",
    "HypothesisMemory",
    "InferenceConfig",
    "MachineLearning",
    "MachineMemory",
    "Memory",
    "RecordedEpisode",
    "Recorder",
    "TaskBeliefMemory",
    "TaskMemory",
    "TaskStateMemory",
    "Tracker",
    "Transition",
    "Version",
    "ViewedMemory",
    "begin",
    "reset",
    "unknown_machine",
]
