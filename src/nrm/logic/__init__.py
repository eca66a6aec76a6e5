"""LTLf: syntax, meaning on traces, named patterns, and translation to minimal automata."""

from nrm.logic.dfa import Dfa, Limits
from nrm.logic.formula import Formula, Op
from nrm.logic.grammar import name_problem
from nrm.logic.paper import PAPER_SYMBOLS, PAPER_TASKS, PaperTask, is_paper_task, paper_task
from nrm.logic.parser import check_symbols, parse
from nrm.logic.patterns import PATTERNS, Pattern
from nrm.logic.semantics import holds, true_symbols
from nrm.logic.translation import DEFAULT_LIMITS, translate

__all__ = [
    "DEFAULT_LIMITS",
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "PATTERNS",
    "Dfa",
    "Formula",
    "Limits",
    "Op",
    "PaperTask",
    "Pattern",
    "check_symbols",
    "holds",
    "is_paper_task",
    "name_problem",
    "paper_task",
    "parse",
    "translate",
    "true_symbols",
]
