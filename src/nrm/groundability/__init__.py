"""What rewards can teach about the meaning of symbols: shortcuts, exactly, and what to do about them."""

from nrm.groundability.analysis import Shortcuts, Symmetry, shortcuts
from nrm.groundability.data_shortcuts import DataShortcuts
from nrm.groundability.diagnosis import Diagnosis, confusion_matrix, diagnose
from nrm.groundability.labels import labels_needed
from nrm.groundability.references import Candidates, algorithm_1, brute_force, brute_force_formulas
from nrm.groundability.renaming import Renamings
from nrm.groundability.repair import PotentialRepair, TaskChoice, breaking_potential, tasks_to_add
from nrm.groundability.symmetry.group import SymmetryGroup
from nrm.groundability.verdicts import SymbolVerdict

__all__ = [
    "Candidates",
    "DataShortcuts",
    "Diagnosis",
    "PotentialRepair",
    "Renamings",
    "Shortcuts",
    "SymbolVerdict",
    "Symmetry",
    "SymmetryGroup",
    "TaskChoice",
    "algorithm_1",
    "breaking_potential",
    "brute_force",
    "brute_force_formulas",
    "confusion_matrix",
    "diagnose",
    "labels_needed",
    "shortcuts",
    "tasks_to_add",
]
