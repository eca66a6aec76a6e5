"""Finite automata as integer tables: decision diagrams, DFAs, product, minimisation and equivalence."""

from nrm.automata.dfa import Dfa
from nrm.automata.tables import DEFAULT_LIMITS, Limits, Table

__all__ = ["DEFAULT_LIMITS", "Dfa", "Limits", "Table"]
