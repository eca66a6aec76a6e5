"""What one run is: a task in an environment, a method, an algorithm, a seed, and how to learn."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import gymnasium
import torch
from torch import nn

from nrm.agents import ALGORITHMS, Trainer, new_trainer
from nrm.aliases import Json
from nrm.envs import (
    BatchedEnv,
    End,
    EnvConfig,
    NoisyLabels,
    NoisyLabelsEnv,
    find_env,
    with_noisy_labels,
    with_terminal_rewards,
)
from nrm.errors import ConfigError, FileError, NrmWarning, unknown
from nrm.files import read_json
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet
from nrm.runs.renamed import Renaming
from nrm.runs.sections import Sections, base_sections, read_section
from nrm.runs.tasks import Family, OneTask, about
from nrm.settings import CODE

CONFIG_VERSION = 2
_RANGES = {
    "num_envs": (1, 10**5),
    "seed": (0, 2**63 - 1),
    **dict.fromkeys(("total_episodes", "total_timesteps"), (1, 10**12)),
}


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run: everything that its results depend on."""

    task: str
    """The task, as the text of a task file; empty with many tasks."""
    env: str
    """Name of the environment: map, image, image-episode, minigrid:ID, gym:ID, module:name."""
    method: str
    algorithm: str
    total_episodes: int
    """Number of training episodes."""
    num_envs: int
    """Number of parallel environments."""
    seed: int
    """Equal seeds give equal runs."""
    end: End
    """When an episode ends: outcome, absorbing, limit or round."""
    settings: Sections
    tasks: str | None = None
    """Task sampler: a name, file:PATH or module:name; None for one task."""
    total_timesteps: int | None = None
    """Number of training steps, summed over environments, in place of episodes."""
    extended: tuple[int, ...] = ()
    """Earlier lengths of a run that was extended, in the same unit."""
    device: str = "cpu"
    """Device of training: cpu, cuda or cuda:NUMBER."""

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            if (value := getattr(self, name)) is not None and not least <= value <= most:
                raise ConfigError(f"{name} must be at least {least} and at most {most:,}, not {value}")

    @property
    def unit(self) -> Literal["episodes", "steps"]:
        """Unit of the length of training: episodes or steps."""
        return "episodes" if self.total_timesteps is None else "steps"

    @property
    def amount(self) -> int:
        """Length of training in this unit."""
        return self.total_episodes if self.total_timesteps is None else self.total_timesteps

    @property
    def length_option(self) -> str:
        """The option that sets the length of training."""
        return "--total-episodes" if self.total_timesteps is None else "--total-timesteps"

    @property
    def env_config(self) -> EnvConfig:
        """The configuration of the environment; an error if its module cannot be imported."""
        config = self.settings["env"]
        known: EnvConfig = config if isinstance(config, EnvConfig) else find_env(self.env)
        return known

    @property
    def env_title(self) -> str:
        """Short name of the configured environment."""
        return self.env_config.title()

    @cached_property
    def about(self) -> OneTask | Family:
        """One task, or a task distribution."""
        return about(self.task, self.tasks)

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of the tasks."""
        return self.about.alphabet(self)

    def build_task(self) -> Task:
        """The task; an error with many tasks."""
        return self.about.task

    @cached_property
    def pool(self) -> TaskSet | None:
        """The training tasks; None for one task."""
        return self.about.pool(self, vars(self).get("_folder"))

    def within(self, folder: Path) -> RunConfig:
        """The same run, with the tasks that are saved in its folder."""
        known = replace(self)
        vars(known)["_folder"] = folder
        return known

    def changed(self, **sections: Any) -> RunConfig:
        """The same run with other settings; its tasks stay, unless their settings change."""
        new = replace(self, settings={**self.settings, **sections})
        if "tasks" not in sections and self.pool is not None:
            vars(new)["pool"] = self.pool
        return new

    def task_named(self, text: str) -> Task:
        """A task over the alphabet of the environment, from its text."""
        return self.env_config.task(text)

    def build_env(self, count: int | None = None, tasks: MooreMachine | TaskSet | None = None) -> BatchedEnv:
        """A batch of environments with the training tasks, or with others."""
        env = self.env_config.build(tasks or self.about.given(self), count or self.num_envs, self.end)
        if (labels := self.env_config.labels) is not None:
            env = with_noisy_labels(env, labels)
        return with_terminal_rewards(env, self.end) if self.about.reward == "terminal" else env

    def render_env(self, tasks: MooreMachine | TaskSet, mode: str) -> gymnasium.Env[Any, Any]:
        """One environment with a task, in a render mode."""
        env = self.env_config.render(tasks, mode, self.end)
        if (labels := self.env_config.labels) is not None:
            env = NoisyLabelsEnv(env, NoisyLabels.read(labels, tasks.alphabet))
        return env

    def sources(self) -> str:
        """A digest of the modules from outside that the environment is of, as they are now; empty where there are none.

        Call it once the environment was built.
        """
        env = self.settings["env"]
        names = {self.env, *(str(getattr(env, name, "")) for name in ("source", "label", "labels"))}
        modules = sorted({name.partition(":")[0] for name in names if CODE.fullmatch(name)})
        files = (getattr(sys.modules.get(module), "__file__", None) for module in modules)
        texts = [Path(file).read_bytes() for file in files if file and Path(file).is_file()]
        return hashlib.sha256(b"".join(texts)).hexdigest()[:16] if texts else ""

    def compare_sources(self, folder: Path) -> None:
        """Warn where these modules are not those with which the run in a folder began."""
        with suppress(FileError):
            if (began := sources_of(folder)) and began != self.sources():
                changed = f"the source of {self.env} has changed since the run began; it is played as it is now"
                warnings.warn(changed, NrmWarning, stacklevel=5)

    @property
    def initial(self) -> str | None:
        """The folder of the grounder to start from, if any."""
        holders = (section for section in self.settings.values() if hasattr(section, "initial"))
        return next((str(section.initial) for section in holders if section.initial is not None), None)

    def build_trainer(self, grounder: nn.Module | None = None, device: str | torch.device | None = None) -> Trainer:
        """The trainer at the start. `grounder`: a trained grounder to start from; `device`: another device."""
        return new_trainer(
            self.about.training(self).build_env(),
            self.method,
            self.algorithm,
            episodes=self.total_episodes,
            seed=self.seed,
            settings=self.settings,
            grounder=grounder,
            steps=self.total_timesteps,
            device=device or self.device,
        )

    def to_json(self) -> Json:
        """The configuration as JSON values."""
        # What is new and says nothing is left out, so that older releases read most runs.
        silent = {name for name, said in (("extended", self.extended), ("device", self.device != "cpu")) if not said}
        apart = {"settings", *silent}
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in apart}
        settings = {name: asdict(section) for name, section in self.settings.items()}
        return {"version": CONFIG_VERSION, **plain, "settings": settings}

    @classmethod
    def plain(cls, data: Any, renaming: Renaming) -> RunConfig:
        """The configuration that `to_json` wrote, with settings as JSON values; modules need not be importable."""
        if not isinstance(data, Mapping):
            raise ConfigError(f"a run's configuration is a JSON object, not {type(data).__name__}")
        if data.get("version") != CONFIG_VERSION:
            raise ConfigError(f"the run is of version {data.get('version')!r}; this release reads {CONFIG_VERSION}")
        new = renaming.keys(data, [item.name for item in fields(cls)])
        if isinstance(new.get("settings"), Mapping):
            new["settings"] = renaming.keys(new["settings"], ("env",))
        read: RunConfig = read_section(cls, {key: value for key, value in new.items() if key != "version"}, "")
        return read

    @classmethod
    def from_json(cls, data: Any) -> RunConfig:
        """The configuration that `to_json` wrote."""
        renaming = Renaming()
        read = cls.plain(data, renaming)
        given = read.settings
        defaults = base_sections(find_env(read.env), read.method, ALGORITHMS[read.algorithm].config(), read.about)
        if missing := [name for name in defaults if name not in given]:
            raise ConfigError(f"the settings lack the section '{missing[0]}'")
        for name in given:
            if name not in defaults:
                raise ConfigError(unknown("section", name, defaults, " in the settings"))
        settings = {}
        for name, section in defaults.items():
            values = renaming.section(name, given[name], section)
            if name == "family" and isinstance(values, Mapping):  # what a sampler is called need not be said
                values = {**asdict(section), **values}
            settings[name] = read_section(type(section), values, name)
        renaming.warn()
        return replace(read, settings=settings)


def extended(config: RunConfig, total_episodes: int | None = None, total_timesteps: int | None = None) -> RunConfig:
    """The same run with more episodes or steps to go; it remembers the lengths that it was made for before.

    What changes in the course of training (step size, entropy) goes by the share that is over. So a run that
    was extended is not one that was made for the new length: it came down to the end of these schedules before.
    """
    given = {"total_episodes": total_episodes, "total_timesteps": total_timesteps}
    name = config.length_option.removeprefix("--").replace("-", "_")
    amount = given.pop(name)
    if any(value is not None for value in given.values()):
        raise ConfigError(f"the length of the run is in {config.unit}; use {config.length_option} N")
    if amount is None:
        return config
    if amount <= config.amount:
        more = f"such as {config.length_option} {2 * config.amount}"
        raise ConfigError(f"the run already has {config.amount:,} {config.unit}; give more, {more}")
    return replace(config, **{name: amount, "extended": (*config.extended, config.amount)})  # type: ignore[arg-type]


def sources_of(folder: Path) -> str:
    """The digest of sources with which the run in a folder began; empty where all of its environment was ours."""
    versions = folder / "versions.json"
    return str(read_json(versions, dict[str, str]).get("sources", "")) if versions.exists() else ""
