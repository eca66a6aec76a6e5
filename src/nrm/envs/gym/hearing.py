"""What a label says in its first steps, for symbols that a task misspells where nobody has listed them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from nrm.envs.gym.rehearsal import live
from nrm.envs.labels import labelling
from nrm.envs.task_env import own_task
from nrm.errors import listing, suggestion
from nrm.machines import Alphabet

AnyEnv = gymnasium.Env[Any, Any]
NAME_ALL = "name all that the label can say: --env.symbols where one holds at a time, else --env.propositions"


LISTS = ("symbols", "propositions")
"""Attributes in which an environment says what can hold: one at a time, or any."""


def misspelt(make: Callable[[], AnyEnv], named: str | None, task: Alphabet) -> str:
    """Which symbol of a task the label seems to call by another name, in words; empty where nothing speaks for it.

    `make`: makes an environment; `named`: the label; `task`: the task's symbols.
    """
    said = () if task.is_exclusive else _heard(make, named)
    strange = [name for name in said if name not in task.places]
    unheard = [name for name in task.symbols if name not in said]
    if not strange or not unheard:
        return ""
    label = f"the label {named}" if named else "the label"
    for name in unheard:
        if hint := suggestion(name, strange):
            return (
                f"unknown symbol '{name}' in the task ({label} says in its first steps: {listing(said)}){hint} If "
                f"'{name}' is right, {NAME_ALL}"
            )
    return (
        f"in its first steps {label} says {listing(strange)}, of which the task does not speak, and never "
        f"{listing(unheard)}, of which it does; correct the task, or {NAME_ALL}"
    )


def _heard(make: Callable[[], AnyEnv], named: str | None) -> tuple[str, ...]:
    """The names that the label says in the steps that a rehearsal lives through, where the environment lists none."""
    env = make()
    try:
        if own_task(env) is not None or any(map(env.has_wrapper_attr, LISTS)):
            return ()
        listener = _Listener(env, labelling(named, env))
        live(listener)
    finally:
        env.close()
    return tuple(sorted(listener.said))


class _Listener(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes what a label says after each step."""

    def __init__(self, env: gymnasium.Env[Any, Any], label: Callable[[Any, dict[str, Any], Any], Any]) -> None:
        super().__init__(env)
        self.said: set[str] = set()
        self._label = label

    def step(self, action: Any) -> Any:
        stepped = self.env.step(action)
        self.said.update(_names(self._label(stepped[0], stepped[4], self.env)))
        return stepped


def _names(said: Any) -> list[str]:
    """The names in what a label said; none in numbers and truth values, which go by the order of the symbols."""
    if isinstance(said, str):
        return [said]
    if isinstance(said, Mapping):
        said = [name for name, holds in said.items() if holds]
    return [name for name in said if isinstance(name, str)] if isinstance(said, (list, tuple, set, frozenset)) else []
