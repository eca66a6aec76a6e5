"""Finite automata: letters in classes, moves as tables or decision diagrams, products, minimisation, equivalence."""

from nrm.automata.dfa import Dfa, combined_all
from nrm.automata.diagram import Cube, cubes_of
from nrm.automata.letters import (
    MAX_LISTED,
    Classes,
    LetterClasses,
    ListedLetters,
    in_columns,
    shortest_cubes,
)
from nrm.automata.letters import LetterDiagram as LetterFunction
from nrm.automata.moves import Moves, Moving, moves_of_classes, moves_of_nodes, read_diagram, unpacked
from nrm.automata.mtbdd import DEFAULT_LIMITS, FALSE, LEAF, TRUE, Bdd, Limits, Mtbdd
from nrm.automata.partition import Numbers, letter_classes
from nrm.automata.search import distinguishing_string, first_path
from nrm.automata.table import Table, coarsest_congruence, merged_classes

__all__ = [
    "DEFAULT_LIMITS",
    "FALSE",
    "LEAF",
    "MAX_LISTED",
    "TRUE",
    "Bdd",
    "Classes",
    "Cube",
    "Dfa",
    "LetterClasses",
    "LetterFunction",
    "Limits",
    "ListedLetters",
    "Moves",
    "Moving",
    "Mtbdd",
    "Numbers",
    "Table",
    "coarsest_congruence",
    "combined_all",
    "cubes_of",
    "distinguishing_string",
    "first_path",
    "in_columns",
    "letter_classes",
    "merged_classes",
    "moves_of_classes",
    "moves_of_nodes",
    "read_diagram",
    "shortest_cubes",
    "unpacked",
]
