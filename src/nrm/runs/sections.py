"""Settings by sections: which dataclasses a run's settings are made of, and how changes to them are read.

Texts from files are validated against the dataclasses by msgspec: it is strict (a text is no number), needs nothing
else, and names the path of what is wrong. It lets unknown names of dataclasses pass, so these are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args, get_type_hints

import msgspec

from nrm.agents import ALGORITHMS, METHODS, NetworkConfig
from nrm.envs import find_env
from nrm.errors import ConfigError, listing, suggestion, unknown
from nrm.runs.algorithm_choice import Choice, choose_algorithm
from nrm.runs.renamed import Renaming
from nrm.samplers import TaskSetConfig, sampler_of

Sections = Mapping[str, Any]
"""A frozen dataclass for each name: `env`, `algorithm`, `network`, and the section of the method, if it has one."""
Changes = Mapping[str, Mapping[str, Any]]
"""New values of some fields, by section."""


@dataclass(frozen=True)
class Preset:
    """Settings that belong together, as changes of the defaults."""

    num_envs: int | None = None
    """Environments that step side by side; as many as suit the algorithm when absent."""
    sections: Changes = field(default_factory=dict)
    """By section; those of an environment, method or algorithm that a run does not use are left aside."""


PRESETS = {
    "default": Preset(),
    # The paper's hyper-parameters (its appendix). It implies one environment, and gives neither the discount nor how
    # many episodes an update learns from; of the last 120 alone a grounder forgets all places that are left unvisited.
    "paper": Preset(
        num_envs=1,
        sections={
            "algorithm": {
                "learning_rate": 4e-4,
                "gamma": 0.99,
                "gae_lambda": 1.0,
                "actor_coef": 0.3,
                "vf_coef": 0.5,
                "ent_coef": 1e-4,
                "final_ent_coef": 1e-4,
                "reward_scale": 1.0,
                "max_grad_norm": None,
            },
            "network": {"normalise": False, "encoder": "paper"},
            "grounding": {
                "epochs": 100,
                "restarts": 1,
                "learning_rate": 4e-4,
                "objective": "marginal",
                "keep": 1000,
                "grounder": "paper",
            },
        },
    ),
}


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, PRESETS))
    return PRESETS[name]


MANY_SECTIONS = ("tasks", "family")
"""Sections of runs with many tasks."""
_SHORT = {"gamma": 0.94, "ent_coef": 0.01, "final_ent_coef": 0.001}
MANY = Preset(256, {"algorithm": {"update_epochs": 2, "minibatch_size": 1024, **_SHORT}})
"""Where every episode has one of many tasks: episodes are short, and rollouts large. See docs/how-to/many-tasks.md."""
MANY_IMAGES = Preset(64)
"""The same from images, where learning to see takes more steps of descent and not more of the environment."""
MANY_CENTRED = Preset(64, {"algorithm": _SHORT})
"""The same from images with the agent in the middle: nobody has to be found, and ways are as short as in `MANY`."""

MANY_VECTORS = Preset(
    256,
    {
        "algorithm": {
            "update_epochs": 3,
            "minibatch_size": 1024,
            "gamma": 0.98,
            "learning_rate": 7e-4,
            "ent_coef": 0.01,
            "final_ent_coef": 0.001,
            "terminal_reward": True,
            "exit_penalty": 0.3,
        },
        "tasks": {
            "curriculum": "success",
            "curriculum_threshold": 0.6,
            "emphasis": "shortest",
            "training_horizon": 40,
            "stuck_noise": 40,
            "max_states": 8,
        },
        "family": {
            "families": (
                "reach-avoid",
                "avoid-except",
                "avoid-except",
                "conjunctions",
                "until",
                "resettable",
                "mid-resettable",
                "avoidance",
                "branching",
            )
        },
        "grounding": {
            "maximisation": "evidence",
            "learning_rate": 0.003,
            "every": 1000,
            "keep": 3000,
            "epochs": 120,
            "longest": 120,
            "steady": True,
            "spacing": 0.3,
            "target": 0.0005,
        },
    },
)
"""The same from positions, where ways are long: short tasks come first, and symbols are learned a little all the time.
"""
_BY_OBSERVATION = {"image": MANY_IMAGES, "position": MANY_VECTORS, "lidar": MANY_VECTORS}


def many_preset(env: str, place: Any = None) -> Preset:
    """What suits an environment where every episode has one of many tasks. `place`: its configuration, as it is set."""
    config = find_env(env) if place is None else place
    found = _BY_OBSERVATION.get(getattr(config, "observation", ""), MANY)
    return MANY_CENTRED if found is MANY_IMAGES and getattr(config, "centred", False) else found


def env_section(env: str, changes: Changes) -> Any:
    """The environment's configuration with the changes of its section."""
    named = {"env": find_env(env)}
    return changed(named, {name: values for name, values in changes.items() if name in named})["env"]


def default_sections(
    env: str,
    method: str,
    algorithm: str | Choice,
    preset_name: str = "default",
    tasks: str | None = None,
    place: Any = None,
) -> dict[str, Any]:
    """The settings of a run before anybody has changed any. `tasks`: the family, where there are many tasks.

    `algorithm`: its name, or what was chosen with the environment as it is set. `place`: the environment's
    configuration as it is set, by which other settings go; the section of the environment itself is as its name says.
    """
    how = algorithm if isinstance(algorithm, Choice) else choose_algorithm(env, algorithm, tasks, place)
    learns = ALGORITHMS[how.name].config(**how.settings)
    sections = {"env": find_env(env), "algorithm": learns, "network": NetworkConfig()}
    if tasks is not None:
        sections |= {"tasks": TaskSetConfig(), "family": sampler_of(tasks)}
    chosen = METHODS[method]
    if chosen.config is not None:
        if chosen.section in sections:
            raise ConfigError(f"the method '{method}' calls its section '{chosen.section}', which is taken; rename it")
        sections[chosen.section] = chosen.config()
    for changes in (preset(preset_name).sections, {} if tasks is None else many_preset(env, place).sections):
        sections = {name: _with_known(section, changes.get(name, {})) for name, section in sections.items()}
    return sections


def _with_known(section: Any, changes: Mapping[str, Any]) -> Any:
    """A section with those of the changes that it has fields for."""
    return replace(section, **{key: value for key, value in changes.items() if hasattr(section, key)})


def changed(sections: Sections, changes: Changes, also: Iterable[str] = ()) -> dict[str, Any]:
    """The sections with some fields changed. `also`: sections that may be named although this run has none such."""
    known = [*sections, *also]
    result = dict(sections)
    renaming = Renaming()
    for old, values in changes.items():
        name = renaming.name(old, known)
        if name not in known:
            raise ConfigError(unknown_section(name, known))
        if not isinstance(values, Mapping):
            raise ConfigError(f"'{name}' is a section of settings, not {values!r}; write {name}.setting = value")
        if name in sections:
            kind = type(sections[name])
            new = _with_nothing(kind, renaming.section(name, values, sections[name]))
            result[name] = read_section(kind, {**asdict(sections[name]), **new}, name)
    renaming.warn()
    return result


def unknown_section(name: str, known: Iterable[str]) -> str:
    """What to say of a section that a run does not have: which method has it, or what is near."""
    if name in MANY_SECTIONS:
        return f"the section '{name}' is for runs with many tasks, which name a family: tasks = \"mixture\""
    owners = [method.name for method in METHODS.values() if method.section == name]
    if not owners:
        return unknown("section", name, known)
    return (
        f"the section '{name}' is for the method {listing(owners)}, which is not the one of this run (its sections: "
        f"{listing(known)})"
    )


def _with_nothing(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with None for the text "none" where a field may be None: TOML cannot say so itself."""
    types = get_type_hints(kind)
    return {
        key: None if value == "none" and type(None) in get_args(types.get(key)) else value
        for key, value in values.items()
    }


def read_section(kind: type, data: Any, name: str) -> Any:
    """The dataclass of a section from plain values, or an error that names the path of what is wrong.

    `name`: of the section; empty for a file as a whole, whose entries are keys.
    """
    if isinstance(data, Mapping):
        known = [item.name for item in fields(kind)]
        for key in data:
            if key not in known:
                what = f"setting '{name}.{key}'" if name else f"key '{key}'"
                there = f"settings of {name}" if name else "keys"
                raise ConfigError(f"unknown {what}{suggestion(str(key), known)} ({there}: {listing(known, 40)})")
    return converted(data, kind, name)


def converted(data: Any, kind: Any, path: str) -> Any:
    """Plain values as a type; errors name the path from `path` on."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$")
        where = f"{path}{place.rstrip('`')}".removeprefix(".")
        raise ConfigError(f"{where}: {reason[0].lower()}{reason[1:]}".removeprefix(": ")) from None
