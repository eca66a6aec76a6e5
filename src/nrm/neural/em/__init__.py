"""Grounding by expectation-maximisation: posterior letters of every step, and grounders that learn them."""

from nrm.neural.em.distillation import redraw
from nrm.neural.em.expectation import Expectation, expected_letters
from nrm.neural.em.network import network_attempt
from nrm.neural.em.table import table_attempts, table_suits
from nrm.neural.em.windows import window_attempts

__all__ = [
    "Expectation",
    "expected_letters",
    "network_attempt",
    "redraw",
    "table_attempts",
    "table_suits",
    "window_attempts",
]
