"""What holds at a step, from whatever an environment says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, cast

import gymnasium
import numpy as np

from nrm.aliases import Letter, Symbol
from nrm.errors import EnvError, UnknownSymbolError, suggestion
from nrm.machines import Alphabet
from nrm.registry import import_value

LabelFunction: TypeAlias = Callable[[Any, dict[str, Any], Any], Any]
"""From (observation, info, environment) after a step to what holds: see `letter_of`."""

KEYS = ("labels", "propositions")
METHODS = ("get_events", "label")
CONVENTIONS = (*KEYS, *METHODS)
"""Where environments are known to say what holds: `info["labels"]`, `info["propositions"]`, and the methods
`env.get_events()` and `env.label()`."""


def labelling(label: LabelFunction | str | None, env: gymnasium.Env[Any, Any]) -> LabelFunction:
    """The function that `label` means: itself, what its name says, or (None) whichever convention `env` follows.

    Names are those of `CONVENTIONS`, `info:KEY` for another key of info, and `module:name` for a function.
    """
    if isinstance(label, str) and ":" in label and not label.startswith("info:"):
        label = cast(LabelFunction, import_value(label, "label"))
    if label is None:
        return _whichever
    if not isinstance(label, str):
        _check_function(label)
        return label
    key = label.removeprefix("info:")
    if key != label or key in KEYS:
        return lambda observation, info, env: _from_info(info, key)  # noqa: ARG005
    if label not in METHODS:
        raise EnvError(
            f"unknown labelling function '{label}'{suggestion(label, CONVENTIONS)}; give a function of (observation, "
            f"info, environment), module:name of one, info:KEY, or one of {', '.join(CONVENTIONS)}"
        )
    if not env.has_wrapper_attr(label):
        raise EnvError(f"the environment {env} has no method {label}(); pass label=function instead")
    return lambda observation, info, env: env.get_wrapper_attr(label)()  # noqa: ARG005


def _check_function(label: Any) -> None:
    """Raise `EnvError` unless this can be called with three arguments, as far as one can tell."""
    if not callable(label):
        raise EnvError(f"label is {label!r}, not a function of (observation, info, environment)")
    try:
        inspect.signature(label).bind(None, None, None)
    except ValueError:  # some built-in functions do not say
        return
    except TypeError as error:
        raise EnvError(
            f"the labelling function must take three arguments, (observation, info, environment): {error}"
        ) from None


def letter_of(said: Any, alphabet: Alphabet, empty: Symbol | None, place: str) -> Letter:
    """The letter of what a label said to hold at a place: `step 3 of episode 1`.

    It may be a symbol's name; a collection of names; a mapping from names to truth values; truth values, or zeros and
    ones, in the order of the alphabet; text whose characters are names (the habit of `get_events`); a letter's number;
    or None for nothing. Where nothing holds, an exclusive alphabet reads the symbol `empty`.
    """
    if isinstance(said, np.ndarray) and said.ndim == 0:
        said = said.item()
    if isinstance(said, (int, np.integer)) and not isinstance(said, bool):
        if 0 <= said < alphabet.size:
            return int(said)
        raise UnknownSymbolError(f"the label at {place} is {said}; numbers go from 0 to {alphabet.size - 1}")
    names = _names(said, alphabet, place) or alphabet.nothing(empty, place)
    try:
        return alphabet.letter(names, place)
    except UnknownSymbolError as error:
        raise UnknownSymbolError(
            f"the labelling function returned what the task lacks: {error}. List all symbols that it can return: "
            "nrm.compile(formula, symbols), or --env.symbols; for several at once, --env.propositions"
        ) from None


def _names(said: Any, alphabet: Alphabet, place: str) -> tuple[str, ...]:
    if said is None:
        return ()
    if isinstance(said, str):
        spelt = said not in alphabet.symbols and all(character in alphabet.symbols for character in said)
        return tuple(said) if spelt else (said,)
    if isinstance(said, Mapping):
        return tuple(name for name, holds in said.items() if holds)
    if _truth_values(said):
        said = np.asarray(said)
        if said.shape != (len(alphabet.symbols),):
            raise EnvError(
                f"the label has truth values of shape {said.shape} at {place}, for {len(alphabet.symbols)} symbols"
            )
        return tuple(name for name, holds in zip(alphabet.symbols, said.tolist(), strict=True) if holds)
    if isinstance(said, Collection) and all(isinstance(name, str) for name in said):
        return tuple(said)
    raise EnvError(
        f"the labelling function returned {said!r} ({type(said).__name__}) at {place}; return a name, several names, "
        "truth values, or None for nothing"
    )


def _truth_values(said: Any) -> bool:
    """Whether these are truth values, or zeros and ones; not whether they are as many as there are symbols."""
    if isinstance(said, np.ndarray):
        return said.dtype == np.bool_ or (said.dtype.kind in "iu" and bool(np.isin(said, (0, 1)).all()))
    if not isinstance(said, (list, tuple)) or not said:
        return False
    return all(isinstance(one, (bool, np.bool_, int, np.integer)) and one in (0, 1) for one in said)


def _whichever(observation: Any, info: dict[str, Any], env: gymnasium.Env[Any, Any]) -> Any:  # noqa: ARG001
    for key in KEYS:
        if key in info:
            return info[key]
    for method in METHODS:
        if env.has_wrapper_attr(method):
            return env.get_wrapper_attr(method)()
    raise EnvError(
        "the environment has no labelling function: its info has neither 'labels' nor 'propositions', and it has no "
        "method get_events() or label(). Pass label=function of (observation, info, environment), or on the command "
        "line --env.label module:name"
    )


def _from_info(info: dict[str, Any], key: str) -> Any:
    if key not in info:
        raise EnvError(
            f"info has no '{key}' (it has {', '.join(map(str, info)) or 'nothing'}){suggestion(key, map(str, info))}"
        )
    return info[key]
