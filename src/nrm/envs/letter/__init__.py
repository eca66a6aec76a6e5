"""LetterWorld: letters on a torus, in other cells in every episode, for agents that satisfy any formula."""

from nrm.envs.letter.env import LetterConfig, LetterEnv

__all__ = ["LetterConfig", "LetterEnv"]
