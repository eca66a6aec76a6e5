"""Families of tasks: samplers of formulas, from which one agent learns to obey formulas that it has never seen.

A family is one file that registers one class in `FAMILIES`.
"""

from nrm.families.drawing import TaskSetConfig, events_of, sample_tasks
from nrm.families.registry import FAMILIES, FILE_PREFIX, Family, family_of

__all__ = ["FAMILIES", "FILE_PREFIX", "Family", "TaskSetConfig", "events_of", "family_of", "sample_tasks"]
