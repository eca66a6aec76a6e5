from .advice import (
    PotentialRepair as PotentialRepair,
    amount as amount,
    breaking_potential as breaking_potential,
    confusions as confusions,
    findings as findings,
    many as many,
    remedies as remedies,
    tasks_to_add as tasks_to_add,
)
from .analysis import (
    Shortcuts as Shortcuts,
    TaskSetShortcuts as TaskSetShortcuts,
    shortcuts as shortcuts,
    task_set_shortcuts as task_set_shortcuts,
)
from .diagnosis import (
    Diagnosis as Diagnosis,
    best_symmetry as best_symmetry,
    diagnose as diagnose,
)
from .explanation import (
    Comparison as Comparison,
    Explanation as Explanation,
    compare as compare,
    explain as explain,
    recognised as recognised,
    trace_text as trace_text,
)
from .renaming import (
    Copies as Copies,
)
from .symmetry_group import (
    digits as digits,
    rough_numbers as rough_numbers,
)
from .verdicts import (
    SymbolVerdict as SymbolVerdict,
)
