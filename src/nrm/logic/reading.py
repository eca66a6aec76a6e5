"""Text to formula, for every language: one LALR pass, with errors that point at the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from nrm.errors import FormulaError, FormulaSyntaxError, shorten
from nrm.logic.symbols import name_problem
from nrm.logic.term import MAX_DEPTH, Term

if TYPE_CHECKING:
    from nrm.logic.language import Language

Node = TypeVar("Node", bound=Term)

BOOLEAN_RULES = r"""
?equivalence: implication (_IFF implication)*
?implication: exclusive_or | exclusive_or _IMPLIES implication
?exclusive_or: disjunction (_XOR disjunction)*
?disjunction: conjunction (_OR conjunction)*
_IFF.2: /<->|<=>|↔|iff(?!\w)/
_IMPLIES.2: /->|=>|→|implies(?!\w)/
_XOR.2: /\^|⊕|xor(?!\w)/
_OR.2: /\|\||\||\\\/|∨|or(?!\w)/
_AND.2: /&&|&|\/\\|∧|and(?!\w)/
NOT.2: /!|~|¬|not(?!\w)/
TRUE.2: /(true|True|TRUE)(?!\w)|⊤/
FALSE.2: /(false|False|FALSE)(?!\w)|⊥/
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
NAME: /[A-Za-z_][A-Za-z0-9_]*/
QUOTED: /"[^"\n]*"/
INTEGER: /[0-9]+/
%ignore /\s+/
"""
"""What the languages share, from the loosest operator on; a language adds `conjunction` and what is below."""

PATH_RULES = (
    r"""
start: choice
?choice: sequence (_PLUS sequence)*
?sequence: equivalence (_THEN equivalence)*
?conjunction: unary (_AND unary)*
?argument: choice | INTEGER -> integer

_PLUS: "+"
_THEN: ";"
"""
    + BOOLEAN_RULES
)
"""Those of paths; a language adds `unary`, `postfix` and `operand`."""


class PlacedError(Exception):
    """What is wrong with a formula, and where; raised while the parser reduces."""

    def __init__(self, message: str, position: int, alike: bool = True) -> None:
        """`alike`: whether another language may have been meant."""
        super().__init__(message)
        self.position = position
        self.alike = alike


@dataclass(frozen=True)
class Reader(Generic[Node]):
    """How the texts of one language are read."""

    kind: type[Node]
    """What its formulas are."""
    logic: str
    """The name of the language."""
    grammar: str
    build: Callable[[], Transformer[Token, Any]]
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""
    example: str
    operand: str
    """What to write where something must stand, for errors."""
    operators: str
    """What to write behind it."""
    means: Callable[[Node], bool] | None = None
    """Whether what was read can be a task: a grammar may take more than that."""

    @cached_property
    def _lark(self) -> Lark:
        return Lark(self.grammar, parser="lalr", transformer=self.build())

    def parse(self, text: str | Node) -> Node:
        """Read a formula; one is returned as it is, so every function can take either.

        Raises `FormulaSyntaxError` with a caret under the place, or `FormulaError` for a text that is too long or deep.
        """
        if isinstance(text, self.kind):
            return text
        if not isinstance(text, str):
            raise FormulaError(f"a formula is text or a Formula, not {type(text).__name__}: {shorten(repr(text))}")
        if not text.strip():
            raise FormulaError(f"the formula is empty; write for example '{self.example}'")
        if len(text) > 50_000:
            raise FormulaError(f"the formula has {len(text):,} characters, too many; split it into several tasks")
        self._check_brackets(text)
        try:
            return self.plain(text)
        except VisitError as error:
            if isinstance(error.orig_exc, PlacedError):
                self._refuse(str(error.orig_exc), text, error.orig_exc.position, error.orig_exc.alike)
            raise error.orig_exc from None
        except PlacedError as error:
            self._refuse(str(error), text, error.position, error.alike)
        except UnexpectedInput as error:
            self._explain(error, text)

    def plain(self, text: str) -> Node:
        """What the parser makes of a text, with the parser's own errors."""
        formula: Any = self._lark.parse(text)
        assert isinstance(formula, self.kind)
        return formula

    def understands(self, text: str) -> bool:
        """Whether a text is in this language."""
        try:
            read = self.plain(text)
        except (LarkError, PlacedError, FormulaError):
            return False
        return self.means is None or self.means(read)

    def _check_brackets(self, text: str) -> None:
        depth = 0
        for position, character in enumerate(text):
            depth += (character in "([{") - (character in ")]}")
            if depth > MAX_DEPTH:
                raise FormulaSyntaxError(f"parentheses are nested more than {MAX_DEPTH} deep", text, position)

    def _explain(self, error: UnexpectedInput, text: str) -> NoReturn:
        """Turn Lark's error into ours: what stands there, and what was expected instead."""
        if isinstance(error, UnexpectedCharacters):
            position = error.pos_in_stream or 0
            found = f"unexpected character {text[position]!r}"
            expected = {"NAME"} if "NAME" in (error.allowed or ()) else {"$END"}
        elif isinstance(error, UnexpectedToken):
            ended = error.token.type == "$END"
            found = "the formula ends too early" if ended else f"unexpected '{error.token}'"
            position = len(text) if ended else (error.token.start_pos or 0)
            expected = error.accepts
        else:
            found, position, expected = "the formula ends too early", len(text), set()
        if _understanding(self.logic, text) is None and (hint := meant(self.logic, text, position)):
            message = f"{found}; expected {self._expectation(expected)}; {hint}"
            raise FormulaSyntaxError(message, text, position) from None
        self._refuse(f"{found}; expected {self._expectation(expected)}", text, position)

    def _expectation(self, terminals: set[str]) -> str:
        if "NAME" in terminals:
            number = ", a number" if "INTEGER" in terminals else ""
            return f"a symbol{number}, {self.operand}"
        if "NOT" in terminals:
            return self.operand
        options = [f"an operator ({self.operators})"]
        if "_COMMA" in terminals:
            options.append("','")
        options.append("')'" if "_CLOSE" in terminals and "$END" not in terminals else "the end of the formula")
        return " or ".join(options)

    def _refuse(self, message: str, text: str, position: int, alike: bool = True) -> NoReturn:
        hint = _other_language(self.logic, text) if alike else ""
        raise FormulaSyntaxError(f"{message}{hint}", text, position) from None


def symbol_name(token: Token) -> str:
    """The name of an atom, quoted or not."""
    name = str(token)[1:-1] if token.type == "QUOTED" else str(token)
    if problem := name_problem(name):
        raise PlacedError(problem, token.start_pos or 0)
    return name


def whole_number(token: Token, most: int | None = None) -> int:
    """The number of a token."""
    if len(token) > 9 or (most is not None and int(token) > most):
        limit = "" if most is None else f"; the limit is {most:,}"
        raise PlacedError(f"the number {shorten(str(token))} is too large{limit}", token.start_pos or 0)
    return int(token)


def _understanding(logic: str, text: str) -> Language[Any] | None:
    """Another language that a text can be read in, whole."""
    from nrm.logic.language import LANGUAGES

    others = [LANGUAGES[name] for name in LANGUAGES.own if name != logic]
    return next((other for other in others if other.reader is not None and other.reader.understands(text)), None)


def _other_language(logic: str, text: str) -> str:
    """Which other language the text is in, in words, by reading it or by its marks; nothing if none is likely."""
    from nrm.logic.language import LANGUAGES

    marked = [one for one in map(LANGUAGES.__getitem__, LANGUAGES.own) if one.marks and re.search(one.marks, text)]
    found = _understanding(logic, text)
    if found is None and LANGUAGES[logic] not in marked:
        found = next(iter(marked), None)
    if found is None:
        return ""
    return f'; this looks like {found.label}: add --logic {found.name} (logic="{found.name}" in Python and in files)'


class BooleanBuild(Transformer[Token, Any]):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""

    def joined(self, op: str, parts: list[Any]) -> Any:
        """Parts joined by a Boolean operator, by its name."""
        raise NotImplementedError

    def equivalence(self, parts: list[Any]) -> Any:
        """From the left."""
        return self._folded("IFF", parts)

    def implication(self, parts: list[Any]) -> Any:
        """Two parts; the grammar groups to the right."""
        return self.joined("IMPLIES", parts)

    def exclusive_or(self, parts: list[Any]) -> Any:
        """From the left."""
        return self._folded("XOR", parts)

    def integer(self, parts: list[Token]) -> int:
        """The number of a pattern."""
        return whole_number(parts[0])

    def _folded(self, op: str, parts: list[Any]) -> Any:
        result = parts[0]
        for part in parts[1:]:
            result = self.joined(op, [result, part])
        return result


_FUTURE = {
    "eventually": "F",
    "finally": "F",
    "sometime": "F",
    "always": "G",
    "globally": "G",
    "next": "X",
    "weaknext": "WX",
    "until": "U",
    "release": "R",
    "releases": "R",
    "unless": "W",
}
_PAST = {"once": "O", "historically": "H", "since": "S", "yesterday": "Y", "previously": "Y", "before": "Y"}
_WORDS = {"ltlf": _FUTURE | _PAST, "ppltl": _PAST}
"""Operators spelt out, by language."""
_SIGNS = {"[]": "G", "□": "G", "<>": "F", "◇": "F", "()": "X", "○": "X", "◯": "X"}
"""Operators of other tools, and of books."""

_WHOLE = "the whole trace must match anyway, so there are no ^ and $; .* takes what may come before or after"
_MEANT = (
    ("ldlf", "", r"\{", "paths have no numbers of times: write a step as often as it comes, a; a; a"),
    ("ldlf", "", r"\.", "any step is written true"),
    ("ltlf ppltl", r"\b[FGXU]$", r"[\[{]\s*\d", "operators have no bounds: count steps with X, as in a | X a | X X a"),
    ("ltlf ppltl", "", "=", "equality is written <->"),
    ("ltlf ppltl", "([URWMS])$", "[A-Za-z_]", "{0} stands between two formulas, as in a {0} b"),
    ("re", r"\+$", "", "'+' stands between two choices: for once or more, write a{{1,}}"),
    ("re", "", r"\[", "one of several symbols is written (a | b), and none of them !(a | b)"),
    ("re", "", r"[\^$]", _WHOLE),
    ("re", r"\^$", "", _WHOLE),
    ("re", "", r"ε|\\", "steps are named by their symbols; p? says that p may be left out"),
    ("re", r"^(?!.*\{[^}]*$).*[\w\".)*?}]$", r"[\w\".(]", "what follows comes behind ';', as in a; b"),
    ("", "", "'", 'names that are no plain words go in double quotes: "empty-cell"'),
    ("", r"(\w+)$", r"-(\w+)", 'a name with a hyphen goes in double quotes: "{0}-{1}"'),
    ("", "", r'"[^"]*$', "the quotes are not closed"),
)
"""What may have been meant: in which languages, behind and before what, and what to say of it; the first that fits."""


def meant(logic: str, text: str, position: int) -> str:
    """What may have been meant where a text cannot be read on; nothing where nobody can say."""
    before, here = text[:position].rstrip(), text[position:]
    for word in re.findall(r"^[A-Za-z_]\w*", here) + re.findall(r"[A-Za-z_]\w*$", before):
        if operator := _WORDS.get(logic, {}).get(word.lower()):
            return f"'{word}' is written {operator}"
    if logic in _WORDS and (joined := re.search(r"\b[XFGYOH]{2,}$", before)):
        return f"operators stand apart: {' '.join(joined[0])} (for infinite traces, add --logic ltl)"
    for sign, operator in _SIGNS.items():
        if logic == "ltlf" and here.startswith(sign):
            return f"'{sign}' is written {operator}"
    for logics, behind, ahead, said in _MEANT:
        one, two = re.search(behind, before, re.DOTALL), re.match(ahead, here, re.DOTALL)
        if (not logics or logic in logics.split()) and one and two:
            return said.format(*one.groups(), *two.groups())
    return ""
