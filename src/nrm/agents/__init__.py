"""Agents: methods (what is remembered), algorithms (how it learns), training, evaluation, and executing formulas."""

from nrm.agents.a2c import A2CConfig
from nrm.agents.acting import Actor, Rollout
from nrm.agents.algorithms import ALGORITHMS, Algorithm, Learner
from nrm.agents.devices import find_device
from nrm.agents.diagnosis import Diagnosis, Ending, diagnose
from nrm.agents.evaluation import EDGES, Evaluation, TaskOutcome, by_size, evaluate, evaluate_tasks
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.agents.networks import NetworkConfig
from nrm.agents.playing import Played, action_names, film, play, unrewarded
from nrm.agents.policy import Agent, Policy, RolloutResult, check_new_tasks
from nrm.agents.ppo import PPOConfig
from nrm.agents.training import Decided, History, Trainer, new_trainer

__all__ = [
    "ALGORITHMS",
    "EDGES",
    "METHODS",
    "A2CConfig",
    "Actor",
    "Agent",
    "Algorithm",
    "Decided",
    "Diagnosis",
    "Ending",
    "Evaluation",
    "History",
    "Learner",
    "Method",
    "NetworkConfig",
    "PPOConfig",
    "Played",
    "Policy",
    "Prepared",
    "Rollout",
    "RolloutResult",
    "TaskOutcome",
    "Trainer",
    "action_names",
    "by_size",
    "check_new_tasks",
    "diagnose",
    "evaluate",
    "evaluate_tasks",
    "film",
    "find_device",
    "new_trainer",
    "play",
    "unrewarded",
]
