"""Any Gymnasium environment as a world for runs: a registered id, or a function of the user's that makes one."""

from nrm.envs.gym.build import gym_env, gym_world
from nrm.envs.gym.config import GymConfig

__all__ = ["GymConfig", "gym_env", "gym_world"]
