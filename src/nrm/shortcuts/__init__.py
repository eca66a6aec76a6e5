"""What rewards can teach about the meaning of symbols: shortcuts, exactly, and what to do about them."""

from nrm.shortcuts.advice import (
    PotentialRepair,
    amount,
    breaking_potential,
    confusions,
    findings,
    many,
    remedies,
    tasks_to_add,
)
from nrm.shortcuts.analysis import Shortcuts, TaskSetShortcuts, shortcuts, task_set_shortcuts
from nrm.shortcuts.diagnosis import Diagnosis, best_symmetry, diagnose
from nrm.shortcuts.explanation import Comparison, Explanation, compare, explain, recognised
from nrm.shortcuts.references import algorithm_1, brute_force, brute_force_formulas
from nrm.shortcuts.renaming import Copies
from nrm.shortcuts.symmetry_group import digits, rough_numbers
from nrm.shortcuts.verdicts import SymbolVerdict

__all__ = [
    "Comparison",
    "Copies",
    "Diagnosis",
    "Explanation",
    "PotentialRepair",
    "Shortcuts",
    "SymbolVerdict",
    "TaskSetShortcuts",
    "algorithm_1",
    "amount",
    "best_symmetry",
    "breaking_potential",
    "brute_force",
    "brute_force_formulas",
    "compare",
    "confusions",
    "diagnose",
    "digits",
    "explain",
    "findings",
    "many",
    "recognised",
    "remedies",
    "rough_numbers",
    "shortcuts",
    "task_set_shortcuts",
    "tasks_to_add",
]
