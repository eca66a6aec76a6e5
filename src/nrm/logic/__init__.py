"""The languages of tasks, one folder each, and the paper's tasks."""

from nrm.logic.language import (
    DEFAULT_LOGIC,
    LANGUAGES,
    FormulaValue,
    Language,
    Reading,
    check_named,
    inherited_logic,
    named_formula,
    read_formula,
)
from nrm.logic.ltlf.formula import FALSE, TRUE, Formula, Op, atom, both, either, infix, prefix, substituted
from nrm.logic.ltlf.meaning import holds, translate
from nrm.logic.ltlf.parser import parse
from nrm.logic.ltlf.patterns import PATTERNS, global_avoidance, sequenced_visit, visit
from nrm.logic.ltlf.words import LOOKS_BACK, looks_back
from nrm.logic.paper import PAPER_SYMBOLS, PAPER_TASKS, PaperTask, is_paper_task, paper_task
from nrm.logic.symbols import check_symbols, name_problem, true_symbols
from nrm.logic.term import BOOLEAN, Term, boolean_function, step_value

__all__ = [
    "BOOLEAN",
    "DEFAULT_LOGIC",
    "FALSE",
    "LANGUAGES",
    "LOOKS_BACK",
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "PATTERNS",
    "TRUE",
    "Formula",
    "FormulaValue",
    "Language",
    "Op",
    "PaperTask",
    "Reading",
    "Term",
    "atom",
    "boolean_function",
    "both",
    "check_named",
    "check_symbols",
    "either",
    "global_avoidance",
    "holds",
    "infix",
    "inherited_logic",
    "is_paper_task",
    "looks_back",
    "name_problem",
    "named_formula",
    "paper_task",
    "parse",
    "prefix",
    "read_formula",
    "sequenced_visit",
    "step_value",
    "substituted",
    "translate",
    "true_symbols",
    "visit",
]
