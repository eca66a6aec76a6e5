"""Symbols and machine where observations are without end: none is met often enough to be a letter by itself."""

from nrm.neural.endless.alternation import Grounded, Make, endless_grounders, ground_and_infer

__all__ = ["Grounded", "Make", "endless_grounders", "ground_and_infer"]
