"""Distributions of tasks: samplers of formulas, from which one agent learns to satisfy unseen ones.

A sampler is one frozen dataclass that is registered in `SAMPLERS`.
"""

from nrm.samplers.patterns import chain
from nrm.samplers.registry import (
    FILE_PREFIX,
    RENAMED_SAMPLERS,
    SAMPLERS,
    Listed,
    Mixture,
    Sampler,
    TemplateSampler,
    sampler_of,
)
from nrm.samplers.sampling import Emphasis, TaskSetConfig, events_of, sample_tasks

__all__ = [
    "FILE_PREFIX",
    "RENAMED_SAMPLERS",
    "SAMPLERS",
    "Emphasis",
    "Listed",
    "Mixture",
    "Sampler",
    "TaskSetConfig",
    "TemplateSampler",
    "chain",
    "events_of",
    "sample_tasks",
    "sampler_of",
]
