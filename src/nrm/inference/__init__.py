"""Learning a machine from what was read and what was paid: state merging on letters that count."""

from nrm.inference.catalogue import Guess, guess_formula
from nrm.inference.evidence import Evidence, LetterTrace
from nrm.inference.following import Following, following
from nrm.inference.hypothesis import Certainty, Hypothesis
from nrm.inference.learning import TooManyStatesError, learn_machine
from nrm.inference.level_table import LevelTable
from nrm.inference.merging import merge_states
from nrm.inference.numbering import agreement, renumbered
from nrm.inference.refuting import MisreadTally, Refutation, Tally, explained

__all__ = [
    "Certainty",
    "Evidence",
    "Following",
    "Guess",
    "Hypothesis",
    "LetterTrace",
    "LevelTable",
    "MisreadTally",
    "Refutation",
    "Tally",
    "TooManyStatesError",
    "agreement",
    "explained",
    "following",
    "guess_formula",
    "learn_machine",
    "merge_states",
    "renumbered",
]
