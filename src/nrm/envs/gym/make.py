"""Making one environment, with errors that say whose they are."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from nrm.aliases import Argument
from nrm.errors import ConfigError, EnvError, NrmError, describe, suggestion, unknown
from nrm.registry import import_here, import_value

AnyEnv = gymnasium.Env[Any, Any]
PREFIX = "gym:"
"""What the names of registered environments begin with: `gym:CartPole-v1`."""


def check_id(name: str) -> None:
    """Raise `ConfigError` unless Gymnasium has an environment of that id, or its package registers one."""
    package, colon, bare = name.rpartition(":")
    if colon:
        import_here(package, f"{PREFIX}{name}", "environment")
    if bare not in gymnasium.registry:
        near = suggestion(bare, gymnasium.registry)
        more = "" if colon else "; if a package brings it, name that too: gym:PACKAGE:ID"
        raise ConfigError(f"Gymnasium has no environment '{bare}'{near}{more}")


def make_env(
    source: str, kwargs: Mapping[str, Argument], wrappers: Sequence[str], render_mode: str | None = None
) -> AnyEnv:
    """The environment of a source (`gym:ID`, `module:name`), with wrappers around it."""
    make = _registered if source.startswith(PREFIX) else _own
    try:
        env = make(source, dict(kwargs), render_mode)
    except NrmError:
        raise
    except gymnasium.error.DependencyNotInstalled as error:
        raise EnvError(f"{source} needs a package that is not installed: {error}") from None
    except Exception as error:
        texts = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
        raise EnvError(f"{source} failed{f' with {texts}' if texts else ''}: {describe(error)}") from error
    if not isinstance(env, gymnasium.Env):
        raise EnvError(
            f"{source} gave {type(env).__name__}, not a gymnasium.Env; let it make an environment and return it"
        )
    for path in wrappers:
        wrap = import_value(path, "wrapper")
        try:
            env = wrap(env)
        except Exception as error:
            raise EnvError(f"the wrapper {path} failed on {source}: {describe(error)}") from error
    return env


def _registered(source: str, kwargs: dict[str, Any], render_mode: str | None) -> AnyEnv:
    name = source.removeprefix(PREFIX)
    check_id(name)
    make: Any = gymnasium.make  # its type gives the environment's own arguments the types of its own
    with warnings.catch_warnings():  # an older version than the newest is what was asked for
        warnings.simplefilter("ignore")
        made: AnyEnv = make(name.rpartition(":")[2], render_mode=render_mode, disable_env_checker=True, **kwargs)
    return made


def _own(source: str, kwargs: dict[str, Any], render_mode: str | None) -> AnyEnv:
    make = import_value(source, "environment")
    if isinstance(make, gymnasium.Env):
        raise EnvError(f"{source} is one environment, but several are needed; name a function that makes one")
    if not callable(make):
        raise EnvError(
            f"{source} is {make!r}; name a function or class that makes a gymnasium.Env, or an nrm.envs.EnvConfig"
        )
    try:
        known = inspect.signature(make).parameters
    except (TypeError, ValueError):  # some built-in ones do not say
        return make(**kwargs)  # type: ignore[no-any-return]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    if render_mode is not None and (takes_any or "render_mode" in known):
        kwargs.setdefault("render_mode", render_mode)
    for name in kwargs:
        if name not in known and not takes_any:
            others = [one for one in known if one != "render_mode"]
            there = unknown("argument", name, others) if others else f"'{name}' is given, but it takes no arguments"
            raise EnvError(f"{source}: {there}; see --env.kwargs")
    made: AnyEnv = make(**kwargs)
    return made
