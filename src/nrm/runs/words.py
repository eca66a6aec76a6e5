"""A run in words: what commands and grid files say of it, and values of settings as they are typed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

import msgspec

from nrm.aliases import End
from nrm.logic import DEFAULT_LOGIC
from nrm.settings import Checked, Count

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class LogicOption(Checked):
    """Where formulas are written."""

    logic: str = DEFAULT_LOGIC
    """Language of formulas: ltlf, ldlf, ppltl, re, ltl, ltlf+, ppltl+ or module:name. Or a prefix: "re: a*; b"."""


@dataclass(frozen=True, kw_only=True)
class SettingsOption(Checked):
    """Where there are settings by section."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Changes to the recipe by section, such as {"algorithm": {"learning_rate": 0.002}}. The section of a method
    (grounding, recurrent) applies to runs of that method only."""


@dataclass(frozen=True, kw_only=True)
class RunOptions(LogicOption, SettingsOption):
    """Options of a run besides task, environment, method and seed."""

    algorithm: str = AUTO
    """a2c, ppo, module:name, or auto."""
    recipe: str = AUTO
    """File of settings: paper, another recipe, a TOML file, none, or auto (by environment)."""
    total_episodes: Count | None = None
    """Number of training episodes; 10,000 if neither length is given."""
    total_timesteps: Count | None = None
    """Number of training steps, summed over environments, in place of episodes."""
    num_envs: Count | None = None
    """Number of parallel environments. Default: that of the recipe or algorithm."""
    end: End = "outcome"
    """What ends an episode: the task holds or is violated (outcome), a state that nothing leaves (absorbing), a round,
    or the time limit."""


class Words(tuple[str, ...]):
    """What stands behind an option; the type of its setting says what it means."""

    def meant(self, hint: Any) -> Any:
        """What the words mean for a setting of this type, or the first of them where they mean nothing.

        No words are a flag.
        """
        if self == ("none",) and type(None) in get_args(hint):
            return None
        if dict in (hint, get_origin(hint)):
            return dict(zip(self[::2], map(literal, self[1::2]), strict=False))
        tries: list[Any] = [*self, [*self]] if len(self) == 1 else [[*self]] if self else [True, []]
        fitting = (one for one in tries if _fits(one, hint))
        for one in fitting:
            return msgspec.to_builtins(msgspec.convert(one, hint, strict=False))
        return tries[0]


def _fits(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError:
        return False
    return True


def literal(text: str) -> Any:
    """A number, truth value or text, as it is written."""
    try:
        return ast.literal_eval(text.capitalize() if text in ("true", "false") else text)
    except (ValueError, SyntaxError):
        return text
