"""Names of the last release, which are read for one more: in config.json, grid files and on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from nrm.errors import ConfigError, NrmWarning, listing
from nrm.samplers import RENAMED_SAMPLERS

RENAMED = {
    # Keys of a run or a grid, options, and sections.
    "world": "env",
    "worlds": "envs",
    "families": "tasks",
    "environments": "num_envs",
    "episodes": "total_episodes",
    "steps": "total_timesteps",
    "preset": "recipe",
    "flips": "reward_noise",
    "misread": "label_noise",
    # Settings: "section.setting", and the new name in the same section.
    "env.id": "source",
    "env.view": "observation",
    "algorithm.discount": "gamma",
    "algorithm.gae": "gae_lambda",
    "algorithm.critic_weight": "vf_coef",
    "algorithm.entropy_weight": "ent_coef",
    "algorithm.final_entropy_weight": "final_ent_coef",
    "algorithm.gradient_norm": "max_grad_norm",
    "algorithm.minibatch": "minibatch_size",
    "algorithm.steps": "num_steps",
    "algorithm.epochs": "update_epochs",
    "algorithm.normalise_advantages": "norm_adv",
    "tasks.patience": "training_horizon",
    "inference.states": "max_states",
    "inference.flips": "reward_noise",
    "inference.misread": "label_noise",
    "tasks.most_states": "max_states",
    "family.shortest": "min_steps",
    "family.longest": "max_steps",
    "family.parts": "max_parts",
    "family.visits": "max_parts",
    "family.choices": "max_choices",
    "family.avoided": "max_avoided",
}
"""New names by old ones. An entry does nothing as long as the old name is one."""
_METHODS = {"grounding": "nrm", "machine": "automata-learning", "both": "pure-learning", "none": "memoryless"}
RENAMED_VALUES: Mapping[str, Mapping[str, str]] = {
    "method": _METHODS,
    "methods": _METHODS,
    **dict.fromkeys(("tasks", "family", "family.families"), RENAMED_SAMPLERS),
    "preset": {"default": "auto"},
    "grounding.belief": {"conditioned": "filtered", "open": "open-loop", "crisp": "argmax"},
}
"""New values by old ones, by key, or by setting: {"section.setting": {"old": "new"}}."""
RETIRED: Mapping[str, Any] = {
    "tasks.teach": 0.0,
    "tasks.encoding": "two-step",
    "tasks.seed": None,
    "tasks.curriculum": "none",
    **dict.fromkeys(("tasks.passed", "tasks.emphasis", "tasks.restless")),
    "algorithm.paid_at_end": False,
    "algorithm.unpaid_end": 0.0,
    **dict.fromkeys(("algorithm.value_clip", "algorithm.setback_weight", "algorithm.inverse_weight")),
    **dict.fromkeys(("algorithm.penalty_weight", "algorithm.final_penalty_weight", "algorithm.penalised")),
    "algorithm.clip": 0.2,
    "algorithm.actor_weight": 1.0,
    "algorithm.actor_coef": 1.0,
    "algorithm.sde_sample_freq": None,
    "algorithm.final_learning_rate": 0.0,
    "grounding.steady": False,
    "grounding.spacing": 0.0,
    "grounding.batch_size": None,
    "grounding.learn": True,
    "grounding.longest": None,
    "network.hidden": 120,
    "network.view": "auto",
    "network.normalise": True,
    "recurrent.reads_rewards": False,
    "recurrent.layers": 2,
    "inference.explore": 0.0,
    "inference.keep": 2000,
    "inference.settled": 1000,
    **{f"family.{name}": value for name, value in (("undoing", 2), ("beside", 1), ("forbidden", 3))},
    "family.smallest": 4,
    "family.largest": 12,
    **dict.fromkeys(("family.conditions", "family.goals", "env.layout_seed", "env.outside")),
    **dict.fromkeys(("env.bounds", "env.step", "env.directions", "env.start", "env.edge")),
    **{f"env.{name}": value for name, value in (("noise", 0.0), ("rays", 16), ("reach", 2.0))},
    "env.tile": 8,
    "env.wrappers": [],
    "env.copies": 2,
    "env.view_size": 7,
    "env.actions": "used",
}
"""Settings of the last release that are gone, with the value that does what always happens now; None where there is
none such."""
REFUSED = {"grounding.learn": "a grounder that stays as it is has a method, --method frozen"}
"""Of these, settings whose other values nothing does any more, with what does it instead."""


class Renaming:
    """Gives values their new names, and remembers which ones it has seen, for one warning."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}
        self._gone: list[str] = []

    def name(self, old: str, known: Collection[str], section: str = "") -> str:
        """The new name of a key or setting that is not among the known ones; the old one where there is none."""
        path = f"{section}.{old}" if section else old
        new = RENAMED.get(path, old)
        if old in known or new not in known or new == old:
            return old
        self._seen[path] = f"{section}.{new}" if section else new
        return new

    def keys(self, values: Mapping[str, Any], known: Collection[str], section: str = "") -> dict[str, Any]:
        """The values of a section, or of a file as a whole, by their new names."""
        found: dict[str, Any] = {}
        for key, value in values.items():
            new = self.name(key, known, section)
            if new != key and new in values:
                raise ConfigError(f"'{key}' is called '{new}' now, and both are given; drop '{key}'")
            found[new] = self.value(section, key, value)
        return found

    def section(self, name: str, values: Any, there: Any) -> Any:
        """The values of a section by their new names. `there`: the section itself, whose fields are the known ones."""
        if not isinstance(values, Mapping):
            return values
        known = [item.name for item in fields(there)]
        new = self.keys(values, known, name)
        gone = {key: f"{name}.{key}" for key in new if key not in known and f"{name}.{key}" in RETIRED}
        now = {key: getattr(there, key, RETIRED[path]) for key, path in gone.items()}
        differing = [path for key, path in gone.items() if new[key] is not None and _differ(new[key], now[key])]
        for path in differing:
            if path in REFUSED:
                raise ConfigError(f"the setting {path} is gone: {REFUSED[path]}")
        self._gone += differing
        return {key: value for key, value in new.items() if key not in gone}

    def value(self, section: str, key: str, value: Any) -> Any:
        """The new value of a key or setting, or of each in a list; the old one where there is none."""
        path = f"{section}.{key}" if section else key
        if isinstance(value, list | tuple) and path in RENAMED_VALUES:
            return type(value)(self.value(section, key, one) for one in value)
        new = RENAMED_VALUES.get(path, {}).get(value) if isinstance(value, str) else None
        if new is None:
            return value
        self._seen[f"{path} = {value}"] = f"{path} = {new}"
        return new

    def warn(self) -> None:
        """Say what has new names and what is gone, if anything."""
        warn_renamed(self._seen)
        if self._gone:
            warnings.warn(f"gone, and without effect: {listing(self._gone, 40)}", NrmWarning, stacklevel=3)
        self._seen.clear()
        self._gone.clear()


def _differ(one: Any, other: Any) -> bool:
    """Whether two values differ, where tuples are the lists that files have."""
    return (list(one) != list(other)) if isinstance(one, list) and isinstance(other, tuple) else bool(one != other)


def warn_renamed(names: Mapping[str, str]) -> None:
    """Say which names, if any, are others now: new ones by old ones."""
    if names:
        said = ", ".join(f"{old} is {new} now" for old, new in names.items())
        warnings.warn(f"{said}; the next release reads the new names only", NrmWarning, stacklevel=4)
