"""Any Gymnasium environment as an environment for runs: a registered id, or a function of the user's that makes one."""

from nrm.envs.gym.config import GymConfig, gym_env

__all__ = ["GymConfig", "gym_env"]
