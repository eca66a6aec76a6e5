"""What holds at a step, from whatever an environment says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import gymnasium
import numpy as np

from nrm.aliases import Letter, Symbol
from nrm.errors import EnvError, UnknownSymbolError, listing, suggestion
from nrm.machines import Alphabet
from nrm.registry import import_value

LabelFunction: TypeAlias = Callable[[Any, dict[str, Any], Any], Any]
"""From (observation, info, environment) after a step to what holds: see `letter_of`."""

KEYS = ("labels", "propositions")
METHODS = ("get_events", "label")
CONVENTIONS = (*KEYS, *METHODS)
"""Where environments are known to say what holds: `info["labels"]`, `info["propositions"]`, and the methods
`env.get_events()` and `env.label()`."""
INFO = "info:"
"""What the name of any other key of info begins with: `info:event`."""


@dataclass(frozen=True)
class Speaker:
    """Who says what holds, and how one tells there what can hold: for errors."""

    name: str = "the label"
    declare: str = "nrm.compile(formula, symbols) where one holds at a time, else propositions=…"
    """How symbols are declared; empty where they cannot be."""
    empty: str = "empty=…"
    """How the symbol is named that holds where nothing else does."""

    @staticmethod
    def by_option(label: str | None) -> Speaker:
        """Of a label that the settings of a run name."""
        options = "--env.symbols where one holds at a time, else --env.propositions"
        return Speaker(f"the label {label or 'of the environment'}", options, "--env.empty")


@dataclass(frozen=True)
class SpokenLabel:
    """A label that knows its speaker."""

    function: LabelFunction
    speaker: Speaker

    def __call__(self, observation: Any, info: dict[str, Any], env: Any) -> Any:
        """What holds."""
        return self.function(observation, info, env)


def speaker_of(label: LabelFunction | str | None) -> Speaker:
    """Who speaks in a label that is given in Python."""
    if isinstance(label, SpokenLabel):
        return label.speaker
    if label is None or isinstance(label, str):
        return Speaker(f"the label {label or 'of the environment'}")
    name = getattr(label, "__name__", type(label).__name__)
    return Speaker() if name == "<lambda>" else Speaker(f"the label {name}")


def labelling(label: LabelFunction | str | None, env: gymnasium.Env[Any, Any]) -> LabelFunction:
    """The function that `label` means: itself, what its name says, or (None) whichever convention `env` follows.

    Names are those of `CONVENTIONS`, `info:KEY` for another key of info, and `module:name` for a function.
    """
    if callable(label):
        _check_arguments(label)
        return label
    if label is None:
        return _whichever
    key = label.removeprefix(INFO)
    if key != label or key in KEYS:
        return lambda observation, info, env: _from_info(info, key)  # noqa: ARG005
    if label in METHODS:
        if not env.has_wrapper_attr(label):
            raise EnvError(f"the environment {env} has no method {label}(); pass label=function instead")
        return lambda observation, info, env: env.get_wrapper_attr(label)()  # noqa: ARG005
    if ":" in label:
        return labelling(_imported(label), env)
    raise EnvError(
        f"unknown way to label '{label}'{suggestion(label, CONVENTIONS)}; give a function of (observation, info, "
        f"environment), module:name of one, {INFO}KEY, or one of {', '.join(CONVENTIONS)}"
    )


def _imported(path: str) -> LabelFunction:
    found = import_value(path, "label")
    if not callable(found):
        raise EnvError(
            f"the label '{path}' is {found!r}, which cannot be called; give a function of (observation, info, "
            "environment)"
        )
    return cast(LabelFunction, found)


def _check_arguments(label: LabelFunction) -> None:
    """Raise `EnvError` unless the function can be called with three arguments, as far as one can tell."""
    try:
        signature = inspect.signature(label)
    except (TypeError, ValueError):  # some built-in functions do not say
        return
    try:
        signature.bind(None, None, None)
    except TypeError as error:
        raise EnvError(
            f"the label takes {signature}, but it is called with three arguments: (observation, info, "
            f"environment); {error}"
        ) from None


def letter_of(said: Any, alphabet: Alphabet, empty: Symbol | None, place: str, speaker: Speaker) -> Letter:
    """The letter of what was said to hold, by whom.

    It may be a symbol's name; a collection of names; a mapping from names to truth values; truth values, or zeros and
    ones, in the order of the alphabet; text whose characters are names (the habit of `get_events`); a letter's number;
    or None for nothing. Where nothing holds, an exclusive alphabet reads the symbol `empty`.
    """
    if isinstance(said, np.ndarray) and said.ndim == 0:
        said = said.item()
    if isinstance(said, (int, np.integer)) and not isinstance(said, bool):
        if 0 <= said < alphabet.size:
            return int(said)
        raise UnknownSymbolError(f"{speaker.name} gave letter {said} at {place}; letters are 0 to {alphabet.size - 1}")
    names = _names(said, alphabet, place, speaker)
    for name in names:
        if name not in alphabet.places:
            raise UnknownSymbolError(_undeclared(name, alphabet, place, speaker))
    if names or not alphabet.is_exclusive:
        return alphabet.letter(names, place)
    if empty is None:
        raise UnknownSymbolError(
            f"{speaker.name} says that nothing holds at {place}, but in an exclusive alphabet one symbol always does: "
            f"say which with {speaker.empty} (symbols: {', '.join(alphabet.symbols)}), or compile the task over "
            "propositions"
        )
    return alphabet.letter(empty, place)


def _undeclared(name: str, alphabet: Alphabet, place: str, speaker: Speaker) -> str:
    """What to say of a symbol that is said to hold and that the task does not know."""
    near = suggestion(name, alphabet.symbols)
    ways = [f"{'Correct' if near else 'correct'} the label"]
    ways += ["the task, if that is where it is misspelt"] if near else []
    ways += [f"name all that the label can say: {speaker.declare}"] if speaker.declare else []
    return (
        f"{speaker.name} says '{name}' at {place}, which is no symbol of the task (symbols: "
        f"{listing(alphabet.symbols)}){near or ';'} {', or '.join(ways)}"
    )


def _names(said: Any, alphabet: Alphabet, place: str, speaker: Speaker) -> tuple[str, ...]:
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
                f"{speaker.name} gave truth values of shape {said.shape} at {place}, for {len(alphabet.symbols)} "
                "symbols"
            )
        return tuple(name for name, holds in zip(alphabet.symbols, said.tolist(), strict=True) if holds)
    if isinstance(said, Collection) and all(isinstance(name, str) for name in said):
        return tuple(str(name) for name in said)
    raise EnvError(
        f"{speaker.name} gave {said!r} ({type(said).__name__}) at {place}; give a symbol's name, several names, "
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
        "the environment does not say what holds: its info has neither 'labels' nor 'propositions', and it has no "
        "method get_events() or label(). Pass label=function of (observation, info, environment), or on the command "
        "line --env.label module:name"
    )


def _from_info(info: dict[str, Any], key: str) -> Any:
    if key not in info:
        raise EnvError(
            f"info has no '{key}' (it has {', '.join(map(str, info)) or 'nothing'}){suggestion(key, map(str, info))}"
        )
    return info[key]
