"""Tabular agents for tasks: Q-learning, counterfactual experience and hierarchy, to teach and to compare exactly."""

from nrm.tabular.flat import QAgent, q_learning
from nrm.tabular.hierarchical import HierarchicalAgent, hrm
from nrm.tabular.learning import Played, play

__all__ = ["HierarchicalAgent", "Played", "QAgent", "hrm", "play", "q_learning"]
