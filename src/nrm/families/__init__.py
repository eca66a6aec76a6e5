"""Families of tasks: samplers of formulas, from which one agent learns to obey formulas that it has never seen.

A family is one file that registers one class in `FAMILIES`.
"""

from nrm.families.drawing import PoolConfig, draw_pool, events_of
from nrm.families.registry import FAMILIES, FILE_PREFIX, Family, family_of

__all__ = ["FAMILIES", "FILE_PREFIX", "Family", "PoolConfig", "draw_pool", "events_of", "family_of"]
