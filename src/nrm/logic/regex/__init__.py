"""Regular expressions over symbols: a trace as a whole matches or not."""

from nrm.logic.language import LANGUAGES, Language
from nrm.logic.regex.formula import Regex
from nrm.logic.regex.parser import READER, parse
from nrm.logic.regex.semantics import holds
from nrm.logic.regex.translation import translate
from nrm.logic.regex.words import in_words

__all__ = ["REGEX", "Regex", "holds", "parse", "translate"]

REGEX: Language[Regex] = LANGUAGES.register(
    Language("re", "a regular expression", parse, translate, holds, reader=READER, words=in_words, marks=r";|\)\*")
)
