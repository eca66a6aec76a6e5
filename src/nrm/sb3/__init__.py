"""Neural reward machines for Stable-Baselines3: the extra `[sb3]`."""

from nrm.errors import MissingExtraError

try:
    import stable_baselines3  # noqa: F401 - the one import that tells whether the extra is there
except ImportError:
    raise MissingExtraError("nrm.sb3 needs Stable-Baselines3: pip install 'neural-reward-machines[sb3]'") from None

from nrm.sb3.callbacks import GroundingCallback, MachineCallback
from nrm.sb3.counterfactual import CounterfactualReplayBuffer, counterfactual
from nrm.sb3.extractor import BeliefExtractor
from nrm.sb3.vec_wrapper import NeuralRewardMachineVecWrapper
from nrm.wrappers import model_for

__all__ = [
    "BeliefExtractor",
    "CounterfactualReplayBuffer",
    "GroundingCallback",
    "MachineCallback",
    "NeuralRewardMachineVecWrapper",
    "counterfactual",
    "model_for",
]
