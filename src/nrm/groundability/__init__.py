"""What rewards can teach about the meaning of symbols: shortcuts, exactly, and what to do about them."""

from nrm.groundability.analysis import Shortcuts, shortcuts
from nrm.groundability.diagnosis import Diagnosis, diagnose
from nrm.groundability.isomorphism import Copies
from nrm.groundability.pools import TaskSetShortcuts, task_set_shortcuts
from nrm.groundability.references import algorithm_1, brute_force, brute_force_formulas
from nrm.groundability.repair import PotentialRepair, breaking_potential, tasks_to_add
from nrm.groundability.verdicts import SymbolVerdict

__all__ = [
    "Copies",
    "Diagnosis",
    "PotentialRepair",
    "Shortcuts",
    "SymbolVerdict",
    "TaskSetShortcuts",
    "algorithm_1",
    "breaking_potential",
    "brute_force",
    "brute_force_formulas",
    "diagnose",
    "shortcuts",
    "task_set_shortcuts",
    "tasks_to_add",
]
