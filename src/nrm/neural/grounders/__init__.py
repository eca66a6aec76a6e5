"""Symbol grounders: networks from an observation to symbol probabilities (paper, appendix, "Neural Networks").

A grounder is one file that registers one entry in `GROUNDERS`.
"""

from nrm.neural.grounders.cnn import AttendingGrounder, CnnGrounder, PooledGrounder
from nrm.neural.grounders.mlp import FourierGrounder, MlpGrounder, PartsGrounder, TrueLabels
from nrm.neural.grounders.recurrent import GruGrounder
from nrm.neural.grounders.registry import GROUNDERS, Grounder, RecurrentGrounder, entry_of
from nrm.neural.grounders.selection import grounder_for, paper_grounder

__all__ = [
    "GROUNDERS",
    "AttendingGrounder",
    "CnnGrounder",
    "FourierGrounder",
    "Grounder",
    "GruGrounder",
    "MlpGrounder",
    "PartsGrounder",
    "PooledGrounder",
    "RecurrentGrounder",
    "TrueLabels",
    "entry_of",
    "grounder_for",
    "paper_grounder",
]
