"""LDLf: what holds along paths, which are regular expressions over steps and tests."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ldlf.formula import Ldlf
from nrm.logic.ldlf.meaning import holds, translate
from nrm.logic.ldlf.parser import READER, from_ltlf, parse

__all__ = ["LDLF", "Ldlf", "from_ltlf", "holds", "parse", "translate"]

MARKS = r"<(?![-=])|\btt\b|\bff\b|(?<!X)\["

LDLF: Language[Ldlf] = LANGUAGES.register(Language("ldlf", "LDLf", parse, translate, holds, reader=READER, marks=MARKS))
