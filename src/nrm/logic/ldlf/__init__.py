"""LDLf: what holds along paths, which are regular expressions over steps and tests."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ldlf.formula import Ldlf
from nrm.logic.ldlf.from_ltlf import from_ltlf
from nrm.logic.ldlf.parser import READER, parse
from nrm.logic.ldlf.semantics import holds
from nrm.logic.ldlf.translation import translate
from nrm.logic.ldlf.words import in_words

__all__ = ["LDLF", "Ldlf", "from_ltlf", "holds", "parse", "translate"]

LDLF: Language[Ldlf] = LANGUAGES.register(
    Language(
        "ldlf",
        "LDLf",
        parse,
        translate,
        holds,
        reader=READER,
        words=in_words,
        marks=r"<(?![-=])|\btt\b|\bff\b|(?<!X)\[",
    )
)
