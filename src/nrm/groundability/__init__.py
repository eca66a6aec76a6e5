"""What rewards can teach about the meaning of symbols: shortcuts, exactly, and what to do about them."""

from nrm.groundability.analysis import Shortcuts, Symmetry, shortcuts
from nrm.groundability.bounded import DataShortcuts
from nrm.groundability.group import SymmetryGroup
from nrm.groundability.references import Candidates, algorithm_1, brute_force
from nrm.groundability.renaming import Renamings
from nrm.groundability.verdicts import SymbolVerdict

__all__ = [
    "Candidates",
    "DataShortcuts",
    "Renamings",
    "Shortcuts",
    "SymbolVerdict",
    "Symmetry",
    "SymmetryGroup",
    "algorithm_1",
    "brute_force",
    "shortcuts",
]
