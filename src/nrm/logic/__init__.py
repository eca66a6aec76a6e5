"""The languages of tasks, one folder each, and the paper's tasks."""

from nrm.logic.language import (
    DEFAULT_LOGIC,
    LANGUAGES,
    FormulaValue,
    Language,
    Reading,
    named_formula,
    read_formula,
)
from nrm.logic.ltlf.formula import Formula, Op
from nrm.logic.ltlf.parser import parse
from nrm.logic.ltlf.patterns import PATTERNS
from nrm.logic.ltlf.semantics import holds
from nrm.logic.ltlf.translation import translate
from nrm.logic.paper import PAPER_SYMBOLS, PAPER_TASKS, PaperTask, is_paper_task, paper_task
from nrm.logic.symbols import check_symbols, name_problem, true_symbols

__all__ = [
    "DEFAULT_LOGIC",
    "LANGUAGES",
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "PATTERNS",
    "Formula",
    "FormulaValue",
    "Language",
    "Op",
    "PaperTask",
    "Reading",
    "check_symbols",
    "holds",
    "is_paper_task",
    "name_problem",
    "named_formula",
    "paper_task",
    "parse",
    "read_formula",
    "translate",
    "true_symbols",
]
