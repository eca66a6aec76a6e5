"""From a formula to a minimal Moore machine whose outputs are rewards."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nrm.errors import AlphabetError
from nrm.logic import DEFAULT_LIMITS, Dfa, Formula, Limits, check_symbols, parse, translate
from nrm.machines.alphabet import Alphabet, split_names
from nrm.machines.moore import MooreMachine
from nrm.machines.rewards import RewardScheme, with_rewards


def compile_formula(
    formula: Formula | str,
    symbols: Alphabet | Iterable[str] | None = None,
    *,
    propositions: Iterable[str] | None = None,
    reward: RewardScheme = "distance",
    limits: Limits = DEFAULT_LIMITS,
) -> MooreMachine:
    """Compile an LTLf task to its minimal Moore machine.

    `symbols`: exactly one of them holds at each step (the paper's setting); symbols that the formula does not name are
    welcome. `propositions`: any subset of them holds. With neither, the formula's own atoms are the propositions.
    Equivalent formulas over one alphabet give identical machines, state numbers included.
    """
    parsed = parse(formula)
    alphabet = _alphabet(parsed, symbols, propositions)
    check_symbols(parsed, alphabet.symbols)
    dfa = translate(parsed, alphabet.is_exclusive, limits)
    lifted = Dfa(alphabet.symbols, alphabet.is_exclusive, alphabet.lift(dfa), dfa.columns, dfa.accepting)
    # The alphabet may lack the letter "none of the formula's symbols", and orders letters its own way.
    minimal = lifted.trimmed().minimal()
    limits.check(minimal.states, minimal.columns.shape[1])
    plain = MooreMachine(
        alphabet, minimal.letter_class, minimal.columns, minimal.accepting, minimal.accepting.astype(np.float64)
    )
    return with_rewards(plain, reward)


def _alphabet(
    formula: Formula, symbols: Alphabet | Iterable[str] | None, propositions: Iterable[str] | None
) -> Alphabet:
    if symbols is not None and propositions is not None:
        raise AlphabetError("give either symbols (exactly one holds at a step) or propositions, not both")
    if isinstance(symbols, Alphabet):
        return symbols
    if symbols is not None:
        return Alphabet.exclusive(_names(symbols))
    if propositions is not None:
        return Alphabet.propositional(_names(propositions))
    atoms = formula.atoms()
    if not atoms:
        raise AlphabetError(f"the formula '{formula}' names no symbol; say what can hold: symbols or propositions")
    return Alphabet.propositional(atoms)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """Names from a list, or from text: `"a,b,c"` or `"a b c"`."""
    if isinstance(names, str):
        return split_names(names)
    if not isinstance(names, Iterable):
        raise AlphabetError(f"symbols are a list of names, or text such as 'a b c', not {names!r}")
    return tuple(names)
