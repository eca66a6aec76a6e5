"""Learning a machine from what was read and what was paid: state merging on letters that count."""

from nrm.inference.catalogue import Guess, guess_formula
from nrm.inference.evidence import Evidence, LetterTrace
from nrm.inference.hypothesis import Certainty, Hypothesis
from nrm.inference.learning import TooManyStatesError, learn_machine
from nrm.inference.level_table import LevelTable
from nrm.inference.numbering import agreement, renumbered
from nrm.inference.refuting import Refutation, Tally

__all__ = [
    "Certainty",
    "Evidence",
    "Guess",
    "Hypothesis",
    "LetterTrace",
    "LevelTable",
    "Refutation",
    "Tally",
    "TooManyStatesError",
    "agreement",
    "guess_formula",
    "learn_machine",
    "renumbered",
]
