"""Recipes: settings that belong together, as small TOML files; ours are in the folder `nrm/recipes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from nrm.agents import ALGORITHMS, METHODS, NetworkConfig
from nrm.errors import ConfigError, unknown
from nrm.files import parse_toml, read_text
from nrm.runs.sections import Changes, Sections, changed
from nrm.samplers import TaskSetConfig

AUTO = "auto"
NO_RECIPE = "none"


class Recipe(NamedTuple):
    """Settings as changes of the defaults; those that a run has no use for are left aside."""

    text: str
    """The file."""
    num_envs: int | None
    """Environments that step side by side; as many as suit the algorithm when absent."""
    sections: Changes

    def applied(self, sections: Sections) -> dict[str, Any]:
        """The sections of a run with the settings of the recipe that they have fields for."""
        changes = {
            name: {key: value for key, value in values.items() if name in sections and hasattr(sections[name], key)}
            for name, values in self.sections.items()
        }
        return changed(sections, changes, changes)


def recipe_names() -> list[str]:
    """The names of our own recipes."""
    found = (Path(one.name) for one in files("nrm").joinpath("recipes").iterdir())
    return sorted(path.stem for path in found if path.suffix == ".toml")


def read_recipe(name: str) -> Recipe:
    """The recipe of that name, or in that file."""
    if name == NO_RECIPE:
        return Recipe("", None, {})
    if not name.endswith(".toml") and name not in recipe_names():
        raise ConfigError(unknown("recipe", name, (AUTO, NO_RECIPE, *recipe_names())))
    own = not name.endswith(".toml")
    text = files("nrm").joinpath("recipes", f"{name}.toml").read_text("utf-8") if own else read_text(name)
    data = parse_toml(text, name, ConfigError)
    count = data.pop("num_envs", None)
    if count is not None and (type(count) is not int or count < 1):
        raise ConfigError(f"{name}: num_envs must be at least 1, not {count!r}")
    _check(name, data)
    return Recipe(text, count, data)


def _check(name: str, data: Mapping[str, Any]) -> None:
    """Every setting must be one of some algorithm or method. Those of a family are checked where it is known."""
    known: dict[str, set[str]] = {}
    kinds = [("algorithm", ALGORITHMS[one].config) for one in ALGORITHMS.own]
    kinds += [(method.section, method.config) for method in METHODS.values() if method.config is not None]
    for section, kind in (*kinds, ("network", NetworkConfig), ("tasks", TaskSetConfig)):
        known.setdefault(section, set()).update(item.name for item in fields(kind))
    for section, values in data.items():
        if section not in (*known, "family"):
            raise ConfigError(f"{name}: {unknown('section', section, (*known, 'family'))}")
        if not isinstance(values, Mapping):
            raise ConfigError(f"{name}: '{section}' is a section of settings, not {values!r}")
        for key in values:
            if section in known and key not in known[section]:
                raise ConfigError(f"{name}: {unknown('setting', f'{section}.{key}', known[section])}")
