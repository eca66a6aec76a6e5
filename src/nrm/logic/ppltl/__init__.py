"""Pure-past LTL: formulas that look back from the last step."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ltlf.formula import Formula
from nrm.logic.ltlf.words import past_in_words
from nrm.logic.ppltl.parser import READER, parse
from nrm.logic.ppltl.semantics import holds
from nrm.logic.ppltl.translation import translate

__all__ = ["PPLTL", "holds", "parse", "translate"]

PPLTL: Language[Formula] = LANGUAGES.register(
    Language("ppltl", "pure-past LTL", parse, translate, holds, reader=READER, words=past_in_words)
)
