"""Any Gymnasium environment as an environment for runs: a registered id, or a function of the user's that makes one."""

from nrm.envs.gym.build import gym_batch, gym_env
from nrm.envs.gym.config import GymConfig

__all__ = ["GymConfig", "gym_batch", "gym_env"]
