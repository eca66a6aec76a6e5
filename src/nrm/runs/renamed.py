"""Names of the last release, which are read for one more: in config.json, grid files and on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from nrm.errors import ConfigError, NrmWarning
from nrm.samplers import RENAMED_SAMPLERS

RENAMED = {
    # Keys of a run or a grid, options, and sections.
    "world": "env",
    "worlds": "envs",
    "environments": "num_envs",
    "episodes": "total_episodes",
    "steps": "total_timesteps",
    "preset": "recipe",
    "flips": "reward_noise",
    "misread": "label_noise",
    # Settings: "section.setting", and the new name in the same section.
    "algorithm.discount": "gamma",
    "algorithm.gae": "gae_lambda",
    "algorithm.clip": "clip_coef",
    "algorithm.critic_weight": "vf_coef",
    "algorithm.entropy_weight": "ent_coef",
    "algorithm.final_entropy_weight": "final_ent_coef",
    "algorithm.actor_weight": "actor_coef",
    "algorithm.gradient_norm": "max_grad_norm",
    "algorithm.minibatch": "minibatch_size",
    "algorithm.steps": "num_steps",
    "algorithm.epochs": "update_epochs",
    "algorithm.normalise_advantages": "norm_adv",
    "algorithm.paid_at_end": "terminal_reward",
    "algorithm.unpaid_end": "exit_penalty",
    "tasks.passed": "curriculum_threshold",
    "tasks.patience": "training_horizon",
    "tasks.restless": "stuck_noise",
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
    **dict.fromkeys(("tasks", "family", "families", "family.families"), RENAMED_SAMPLERS),
    "preset": {"default": "auto"},
    "grounding.belief": {"conditioned": "filtered", "open": "open-loop", "crisp": "argmax"},
}
"""New values by old ones, by key, or by setting: {"section.setting": {"old": "new"}}."""
RETIRED = {
    "tasks.teach": 0.0,
    "tasks.encoding": "two-step",
    **dict.fromkeys(("algorithm.value_clip", "algorithm.setback_weight", "algorithm.inverse_weight")),
    "network.hidden": 120,
    "recurrent.reads_rewards": False,
    "inference.explore": 0.0,
    **{f"family.{name}": value for name, value in (("undoing", 2), ("beside", 1), ("forbidden", 3))},
    "family.smallest": 4,
    "family.largest": 12,
    **dict.fromkeys(("family.conditions", "family.goals", "env.layout_seed", "env.outside")),
    **{f"env.{name}": value for name, value in (("noise", 0.0), ("rays", 16), ("reach", 2.0))},
    "env.tile": 8,
    "env.copies": 2,
    "env.view_size": 7,
    **dict.fromkeys(("algorithm.penalty_weight", "algorithm.final_penalty_weight", "algorithm.penalised")),
}
"""Settings that there were, with the value that does what always happens now: runs that had it can be read. None: with
any value, since it matters for training alone."""


class Renaming:
    """Gives values their new names, and remembers which ones it has seen, for one warning."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

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
        known = [item.name for item in fields(there)]
        return self.keys(values, known, name) if isinstance(values, Mapping) else values

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
        """Say what has new names, if anything."""
        warn_renamed(self._seen)
        self._seen.clear()


def warn_renamed(names: Mapping[str, str]) -> None:
    """Say which names, if any, are others now: new ones by old ones."""
    if names:
        said = ", ".join(f"{old} is {new} now" for old, new in names.items())
        warnings.warn(f"{said}; the next release reads the new names only", NrmWarning, stacklevel=4)


def without_retired(name: str, values: Any) -> Any:
    """The values of a section without those of settings that are gone."""
    if not isinstance(values, Mapping):
        return values
    for key, value in values.items():
        if RETIRED.get(f"{name}.{key}") not in (None, value):
            raise ConfigError(f"the setting {name}.{key} is gone, and {value!r} with it; use the release of the run")
    return {key: value for key, value in values.items() if f"{name}.{key}" not in RETIRED}
