"""Agents: methods (what is remembered), algorithms (how it learns), and training with one of each."""

from nrm.agents.algorithms import ALGORITHMS, Algorithm, Learner
from nrm.agents.diagnosis import Diagnosis, Ending, diagnose
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.agents.networks import NetworkConfig
from nrm.agents.training import History, Trainer, new_trainer

__all__ = [
    "ALGORITHMS",
    "METHODS",
    "Algorithm",
    "Diagnosis",
    "Ending",
    "History",
    "Learner",
    "Method",
    "NetworkConfig",
    "Prepared",
    "Trainer",
    "diagnose",
    "new_trainer",
]
