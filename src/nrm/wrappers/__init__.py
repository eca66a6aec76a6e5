"""A belief beside the observations of any Gymnasium environment, single or vectorised."""

from nrm.wrappers.augmentation import Layout
from nrm.wrappers.models import model_for
from nrm.wrappers.single import NeuralRewardMachineWrapper
from nrm.wrappers.vector import NeuralRewardMachineVectorWrapper

__all__ = ["Layout", "NeuralRewardMachineVectorWrapper", "NeuralRewardMachineWrapper", "model_for"]
