"""Learning a machine from what was read and what was paid: state merging on letters that count."""

from nrm.inference.catalogue import Guess, guess_formula
from nrm.inference.evidence import Evidence, LetterTrace, joined, split
from nrm.inference.following import Following, following
from nrm.inference.hypothesis import IDLE, Certainty, Hypothesis
from nrm.inference.learning import TooManyStatesError, learn_machine
from nrm.inference.letter_model import LetterModel
from nrm.inference.level_table import LevelTable
from nrm.inference.merging import UNSEEN, fewer_states, merge_states
from nrm.inference.misreading import SLIP, leads_of
from nrm.inference.numbering import agreement, renumbered
from nrm.inference.prefix_tree import prefix_tree
from nrm.inference.refuting import MisreadTally, Refutation, Tally, explained

__all__ = [
    "IDLE",
    "SLIP",
    "UNSEEN",
    "Certainty",
    "Evidence",
    "Following",
    "Guess",
    "Hypothesis",
    "LetterModel",
    "LetterTrace",
    "LevelTable",
    "MisreadTally",
    "Refutation",
    "Tally",
    "TooManyStatesError",
    "agreement",
    "explained",
    "fewer_states",
    "following",
    "guess_formula",
    "joined",
    "leads_of",
    "learn_machine",
    "merge_states",
    "prefix_tree",
    "renumbered",
    "split",
]
