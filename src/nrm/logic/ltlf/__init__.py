"""LTLf: syntax, meaning on traces, named patterns, and translation to minimal automata."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ltlf.formula import Formula
from nrm.logic.ltlf.meaning import holds, translate
from nrm.logic.ltlf.parser import READER, parse
from nrm.logic.ltlf.vacuity import strengthened
from nrm.logic.ltlf.words import hint, in_words

LTLF: Language[Formula] = LANGUAGES.register(
    Language("ltlf", "LTLf", parse, translate, holds, hint, READER, in_words, strengthened=strengthened)
)
