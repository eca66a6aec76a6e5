"""A belief beside the observations of any Gymnasium environment, single or vectorised."""

from nrm.wrappers.augmentation import BeliefLayout
from nrm.wrappers.models import model_for
from nrm.wrappers.single import NeuralRewardMachineWrapper
from nrm.wrappers.vector import NeuralRewardMachineVectorWrapper

__all__ = ["BeliefLayout", "NeuralRewardMachineVectorWrapper", "NeuralRewardMachineWrapper", "model_for"]
