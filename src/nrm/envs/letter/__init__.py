"""LetterWorld: letters on a torus, drawn anew every episode, for agents that obey any formula."""

from nrm.envs.letter.config import LetterConfig
from nrm.envs.letter.env import BatchedLetters, LetterEnv

__all__ = ["BatchedLetters", "LetterConfig", "LetterEnv"]
