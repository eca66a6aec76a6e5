"""LDLf: what holds along paths, which are regular expressions over steps and tests."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ldlf.formula import Ldlf, in_words
from nrm.logic.ldlf.parser import READER, from_ltlf, parse
from nrm.logic.ldlf.semantics import holds
from nrm.logic.ldlf.translation import translate

__all__ = ["LDLF", "Ldlf", "from_ltlf", "holds", "parse", "translate"]

MARKS = r"<(?![-=])|\btt\b|\bff\b|(?<!X)\["

LDLF: Language[Ldlf] = LANGUAGES.register(
    Language("ldlf", "LDLf", parse, translate, holds, reader=READER, words=in_words, marks=MARKS)
)
