"""What one run is: a task in a world, a method, a seed, and how to learn."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from nrm.agents import AgentConfig
from nrm.aliases import Json
from nrm.envs import BatchedWorld, End, MinecraftConfig
from nrm.errors import ConfigError, listing, suggestion
from nrm.lab.worlds import WorldConfig, build_world, world_from_json
from nrm.machines import Task
from nrm.machines.formats.task_file import task_from_toml, task_toml

World = Literal["map", "image"]
WORLDS: tuple[World, ...] = get_args(World)
VERSION = 1


@dataclass(frozen=True)
class RunConfig:
    """One run, whole: everything that its results depend on."""

    task: str
    """The task, as the text of a task file."""
    world: WorldConfig = field(default_factory=MinecraftConfig)
    method: str = "nrm"
    agent: AgentConfig = field(default_factory=AgentConfig)
    seed: int = 0
    end: End = "outcome"
    """When the task ends an episode."""

    def build_task(self) -> Task:
        """The task."""
        return task_from_toml(self.task, "the run's task")

    def build_world(self, count: int | None = None) -> BatchedWorld:
        """The world, with as many environments as the agent trains on unless told otherwise."""
        return build_world(self.world, self.build_task().machine(), count or self.agent.environments, self.end)

    def to_json(self) -> Json:
        """The configuration as JSON values."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Json) -> RunConfig:
        """The configuration that `to_json` wrote."""
        if data.get("version") != VERSION:
            raise ConfigError(f"the run is of version {data.get('version')}; this release reads version {VERSION}")
        fields = dict(data)
        fields.pop("version")
        try:
            world, agent = world_from_json(fields.pop("world")), AgentConfig(**fields.pop("agent"))
            return cls(world=world, agent=agent, **fields)
        except (KeyError, TypeError) as error:
            raise ConfigError(f"the run's configuration is malformed: {error}") from None


def run_config(
    task: Task, world: WorldConfig, method: str, agent: AgentConfig, seed: int, end: End = "outcome"
) -> RunConfig:
    """The configuration of a run on a task."""
    return RunConfig(task_toml(task), world, method, agent, seed, end)


def with_settings(config: Any, settings: dict[str, str]) -> Any:
    """A configuration with some fields set from text, each read by the field's type."""
    hints = get_type_hints(type(config))
    names = [item.name for item in dataclasses.fields(config)]
    changes = {}
    for name, text in settings.items():
        if name not in names:
            raise ConfigError(f"unknown setting '{name}'{suggestion(name, names)} (settings: {listing(names, 40)})")
        changes[name] = _read(name, text, hints[name])
    return dataclasses.replace(config, **changes)


def _read(name: str, text: str, kind: Any) -> Any:
    """The value that `text` stands for, of the type `kind`."""
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ConfigError(f"{name} is one of {listing(map(str, get_args(kind)))}, not '{text}'")
        return text
    if get_origin(kind) is Union or type(kind).__name__ == "UnionType":
        if text.lower() == "none":
            return None
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{name} is true or false, not '{text}'")
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{name} is of type {kind.__name__}, not '{text}'") from None
