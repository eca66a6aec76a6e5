"""What the page asks about agents: which there are, an episode of a formula, success over many, and a film."""

from __future__ import annotations

import base64
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from nrm.agents import action_names, film
from nrm.aliases import Json
from nrm.errors import ConfigError, NrmError, describe, shorten, shown
from nrm.machines import Alphabet, MachineLike, MooreMachine
from nrm.report import (
    Tiles,
    caption,
    captioned,
    choose,
    gif,
    machine_data,
    method_data,
    record_task,
    view_data,
)
from nrm.runs import PRETRAINED, LoadedRun, RunConfig, RunFolder, evaluate
from nrm.studio.questions import MAX_RUNS, Home, Named, Watched
from nrm.studio.tasks import machine_of, task_over
from nrm.tracking import Belief


def run_at(home: Home, name: str) -> RunFolder:
    """The run of a path in the folder."""
    return RunFolder(home.inside(name), trust=home.trust)


def _agent_at(home: Home, name: str) -> RunFolder:
    """A run, or the pretrained agent of that name: those of the folder begin with './'."""
    if name.startswith("./"):
        return run_at(home, name[2:])
    if name not in _pretrained():
        raise ConfigError(f"there is no pretrained agent '{shorten(name)}'")
    return RunFolder(PRETRAINED / name)


def _pretrained() -> list[str]:
    return sorted(path.name for path in PRETRAINED.glob("*/"))


def agents(home: Home, asked: Named) -> list[Json]:  # noqa: ARG001
    """The agents that can be watched, the pretrained ones first."""
    own = [f"./{name}" for name in islice(home.runs(), MAX_RUNS)]
    trained = [name for name in own if any((_agent_at(home, name).path / one).exists() for one in _WEIGHTS)]
    return [_agent(home, name) for name in (*_pretrained(), *trained)]


_WEIGHTS = ("policy.safetensors", "checkpoint.pt")


def agent_data(name: str, config: RunConfig) -> Json:
    """What to say of an agent."""
    about, symbols = config.about, list(config.alphabet.symbols)
    said = {"env": config.env_title, "about": shown(about.words), "symbols": symbols}
    return {"name": name, "many": about.zero_shot, **said}


def _agent(home: Home, name: str) -> Json:
    try:
        return agent_data(name, _agent_at(home, name).config())
    except Exception as error:  # a damaged run shows only what is wrong with it
        return {"name": name, "problem": shown(describe(error).splitlines()[0])}


@lru_cache(maxsize=3)
def _loaded(home: Home, name: str, changed: int) -> LoadedRun:  # noqa: ARG001 - it is loaded again once it changed
    folder = _agent_at(home, name)
    return LoadedRun(folder.config(), folder.load_policy())


class Asked(NamedTuple):
    """What an agent is to do."""

    title: str
    machine: MooreMachine
    typed: bool
    """Whether it is what was typed: an agent of one task executes its own."""


def task_for(run: LoadedRun, text: str, logic: str) -> Asked:
    """The task of a text for an agent."""
    about, titles = run.config.about, [run.config.about.title]

    def read(alphabet: Alphabet) -> MachineLike:
        task = task_over(text, logic, alphabet)
        titles.append(task.title)
        return task if task.is_infinite else machine_of(task)

    tasks = about.executed(run.trainer, run.config, read)
    return Asked(titles[-1], tasks.union, about.zero_shot)


def _asked(home: Home, watched: Watched) -> tuple[LoadedRun, Asked]:
    folder = _agent_at(home, watched.agent)
    changed = max((path.stat().st_mtime_ns for path in folder.path.glob("*")), default=0)
    run = _loaded(home, watched.agent, changed)
    return run, task_for(run, watched.text, watched.logic)


def formulas(home: Home, asked: Named) -> list[str]:
    """Formulas of an agent's distribution that it was not trained on; none for an agent of one task."""
    return formulas_for(_agent_at(home, asked.name).config(), 12)


def formulas_for(config: RunConfig, count: int) -> list[str]:
    """So many formulas of a distribution that were not trained on; none of one task."""
    return [] if config.pool is None else [formula.name for formula in choose(config, [config.pool], count, [])]


def recorded(run: LoadedRun, asked: Asked, seed: int, tiles: Tiles) -> Json:
    """Two episodes of a task, sampled and greedy, as the report records them."""
    data: Json = {"name": asked.title, "machine": machine_data(asked.machine)}
    if asked.typed:
        data["view"] = view_data(asked.machine)
    belief: Belief | None = "open-loop" if asked.typed else None
    played = record_task(run.config, run.trainer, asked.machine, tiles, None, seed, belief)
    method = method_data(run.config.method)
    group = {"method": method["name"], "variant": "", "recordings": [{"seed": seed, **played}]}
    return {"task": data, "group": group, "method": method}


def episode(home: Home, watched: Watched) -> Json:
    """Two episodes, and the pictures that they need."""
    tiles = Tiles()
    run, asked = _asked(home, watched)
    return {**recorded(run, asked, watched.seed, tiles), "tiles": list(tiles.images)}


def success_of(run: LoadedRun, asked: Asked, seed: int, episodes: int = 100) -> Json:
    """How often an agent satisfies a task, in new episodes."""
    found = evaluate(run, task=asked.machine if asked.typed else None, episodes=episodes, seed=seed)
    return {"episodes": found.episodes, "success": found.success_rate, "length": found.mean_length}


def success(home: Home, watched: Watched) -> Json:
    """The same, as the page asks it."""
    run, asked = _asked(home, watched)
    return success_of(run, asked, watched.seed)


def animation(home: Home, watched: Watched) -> str:
    """An episode as a GIF file, in base64."""
    run, (_, machine, _) = _asked(home, watched)
    config = run.config
    env = config.render_env(machine, "rgb_array")
    if env.render_mode != "rgb_array":
        raise NrmError(f"{config.env} renders no images, so there is no film of it")
    names = action_names(env)
    shots = islice(film(run.trainer, env, watched.seed, watched.greedy, name=config.env), 400)
    frames = []
    for number, (pictures, played) in enumerate(shots, 1):
        if not pictures:
            raise NrmError(f"{config.env} draws nothing, so there is no film of it")
        frames.append(captioned(pictures[-1], [watched.text, *caption(machine, played, number, names)]))
    env.close()
    return base64.b64encode(gif(frames)).decode()
