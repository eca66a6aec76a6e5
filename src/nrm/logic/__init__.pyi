from .infinite import (
    InfiniteFormula as InfiniteFormula,
    InfiniteOp as InfiniteOp,
    infinite_normal as infinite_normal,
    is_infinite as is_infinite,
)
from .language import (
    DEFAULT_LOGIC as DEFAULT_LOGIC,
    LANGUAGES as LANGUAGES,
    FormulaValue as FormulaValue,
    Language as Language,
    Reading as Reading,
    check_named as check_named,
    inherited_logic as inherited_logic,
    named_formula as named_formula,
    read_formula as read_formula,
)
from .ltlf.formula import (
    FALSE as FALSE,
    TRUE as TRUE,
    Formula as Formula,
    Op as Op,
    atom as atom,
    both as both,
    either as either,
    infix as infix,
    prefix as prefix,
    substituted as substituted,
)
from .ltlf.meaning import (
    holds as holds,
    translate as translate,
)
from .ltlf.parser import (
    parse as parse,
)
from .ltlf.patterns import (
    PATTERNS as PATTERNS,
    global_avoidance as global_avoidance,
    sequenced_visit as sequenced_visit,
    visit as visit,
)
from .ltlf.words import (
    LOOKS_BACK as LOOKS_BACK,
    looks_back as looks_back,
)
from .paper import (
    PAPER_SYMBOLS as PAPER_SYMBOLS,
    PAPER_TASKS as PAPER_TASKS,
    PaperTask as PaperTask,
    is_paper_task as is_paper_task,
    paper_task as paper_task,
)
from .symbols import (
    check_symbols as check_symbols,
    name_problem as name_problem,
    true_symbols as true_symbols,
)
from .term import (
    BOOLEAN as BOOLEAN,
    Term as Term,
    boolean_function as boolean_function,
    step_value as step_value,
)
