"""From a formula to a minimal Moore machine whose outputs are rewards."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nrm.errors import AlphabetError
from nrm.logic import DEFAULT_LIMITS, Dfa, Formula, Limits, check_symbols, parse, translate
from nrm.machines.alphabet import Alphabet, alphabet_of
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
    given = alphabet_of(symbols, propositions)
    if given is not None:
        return given
    atoms = formula.atoms()
    if not atoms:
        raise AlphabetError(f"the formula '{formula}' names no symbol; say what can hold: symbols or propositions")
    return Alphabet.propositional(atoms)
