"""From words to a run: which environment, algorithm, recipe and settings they mean.

Recipes are settings that belong together, as small TOML files; ours are in the folder `nrm/recipes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from nrm.agents import ALGORITHMS, METHODS, NetworkConfig, find_device
from nrm.envs import End, EnvConfig, find_env
from nrm.errors import ConfigError, unknown
from nrm.files import parse_toml, read_text
from nrm.machines import RewardScheme, Task, alphabet_of, is_machine_file, task_of_machine_file
from nrm.runs.config import RunConfig
from nrm.runs.sections import Changes, Sections, base_sections, changed
from nrm.runs.tasks import NO_RECIPE, about, asked
from nrm.runs.words import AUTO
from nrm.samplers import TaskSetConfig


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


def env_as_set(env: str, changes: Changes | None = None) -> EnvConfig:
    """The environment of that name, with the changes of its section."""
    own = {name: values for name, values in (changes or {}).items() if name in ("env", "world")}
    found: EnvConfig = changed({"env": find_env(env)}, own)["env"]
    return found


def default_sections(
    env: EnvConfig, method: str, algorithm: str, recipe: str = AUTO, tasks: str | None = None
) -> dict[str, Any]:
    """The settings of a run in an environment before anybody has changed any. `tasks`: the family of many tasks."""
    what = about("", tasks)
    chosen, usual = what.suits(env, algorithm)
    sections = base_sections(env, method, ALGORITHMS[chosen].config(), what)
    return read_recipe(usual if recipe == AUTO else recipe).applied(sections)


def choose_run(
    task: str | Task | None,
    env: str = "map",
    method: str = "nrm",
    seed: int = 0,
    *,
    algorithm: str = AUTO,
    recipe: str = AUTO,
    total_episodes: int | None = None,
    num_envs: int | None = None,
    end: End = "outcome",
    settings: Changes | None = None,
    tasks: str | None = None,
    total_timesteps: int | None = None,
    device: str = "cpu",
    also: Iterable[str] = (),
    reward: RewardScheme | None = None,
) -> RunConfig:
    """The configuration of a run; settings that are not given come from recipes and defaults.

    `task`: a paper task, a formula, a task file or a machine file; by default the ready task of the environment.
    `tasks`: a task sampler instead of one task. `settings`: changes by section. `recipe`: a name, or a TOML file.
    `algorithm`: auto depends on the environment. `total_timesteps`: length of training in steps instead of episodes.
    `device`: cpu, cuda or auto. `also`: sections that `settings` may have although this run does not use them.
    `reward`: another reward scheme than that of the task.
    """
    if None not in (task, tasks):
        raise ConfigError(f"a task ({task}) and a task sampler ({tasks}) are given together; give one of them")
    changes = settings or {}
    place = env_as_set(env, changes)
    what = asked(lambda: task if isinstance(task, Task) else _task(task, place), tasks, reward)
    chosen, usual = what.suits(place, algorithm)
    followed = read_recipe(usual if recipe == AUTO else recipe)
    sections = followed.applied(base_sections(place, method, ALGORITHMS[chosen].config(), what))
    sections = changed(sections, {name: new for name, new in changes.items() if name not in ("env", "world")}, also)
    counts = (num_envs, followed.num_envs, ALGORITHMS[chosen].num_envs)
    config = RunConfig(
        task=what.text,
        env=env,
        method=method,
        algorithm=chosen,
        total_episodes=10_000 if total_episodes is None else total_episodes,
        num_envs=next(count for count in counts if count is not None),
        seed=seed,
        end=end,
        settings=sections,
        tasks=tasks,
        total_timesteps=total_timesteps,
        device=str(find_device(device)),
    )
    vars(config)["about"] = what  # which has read the task already
    return config


def _task(text: str | None, env: EnvConfig) -> Task:
    if text is not None and is_machine_file(text):
        alphabet = alphabet_of(getattr(env, "symbols", None), getattr(env, "propositions", None))
        return task_of_machine_file(text, alphabet)
    return env.task(text)
