"""Learning a machine from what was read and what was paid: state merging on letters that count."""

from nrm.inference.catalogue import Guess, Moves, guess_formula, matching
from nrm.inference.evidence import Episode, Evidence, joined, split
from nrm.inference.hypothesis import (
    IDLE,
    Certainty,
    Following,
    Hypothesis,
    LabelNoiseTally,
    Refutation,
    Tally,
    agreement,
    explained,
    following,
    renumbered,
)
from nrm.inference.label_noise import MIN_NOISE, LetterModel, leads_of
from nrm.inference.learning import TooManyStatesError, learn_machine
from nrm.inference.merging import UNSEEN, fewer_states, merge_states, prefix_tree

__all__ = [
    "IDLE",
    "MIN_NOISE",
    "UNSEEN",
    "Certainty",
    "Episode",
    "Evidence",
    "Following",
    "Guess",
    "Hypothesis",
    "LabelNoiseTally",
    "LetterModel",
    "Moves",
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
    "matching",
    "merge_states",
    "prefix_tree",
    "renumbered",
    "split",
]
