"""Moore machines whose outputs are rewards: alphabets, compilation, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.compile import compile_formula
from nrm.machines.moore import MooreMachine, Run
from nrm.machines.operations import Difference, canonical, difference, equivalent, minimise, product
from nrm.machines.rewards import SCHEMES, RewardScheme, levels, with_rewards

__all__ = [
    "SCHEMES",
    "Alphabet",
    "Difference",
    "MooreMachine",
    "RewardScheme",
    "Run",
    "canonical",
    "compile_formula",
    "difference",
    "equivalent",
    "levels",
    "minimise",
    "product",
    "with_rewards",
]
