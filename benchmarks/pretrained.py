"""Train the agents that come with the library, each with a card: `python -m benchmarks.pretrained letter`.

The folder in `src/nrm/pretrained` gets what acting needs of the run: its configuration, its tasks and its weights. The
card says what the agent was trained on, and how often it satisfies formulas that were held out.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro

import nrm
from benchmarks import flat_world, letter_world
from benchmarks.drawn_tasks import EIGHT
from benchmarks.unseen import Tested, outcomes
from nrm.files import write_text
from nrm.machines import TaskSet
from nrm.runs import RunConfig, RunFolder, choose_run, train

FOLDER = Path(nrm.__file__).parent / "pretrained"
KEPT = ("config.json", "versions.json", "policy.safetensors", "tasks.npz")
SEED = 7
"""Reported nowhere else."""


class Agent(NamedTuple):
    """What an agent is trained on."""

    about: str
    env: str
    steps: int
    formulas: tuple[str, ...]
    """Held out with all renamed copies, and tested."""
    example: str


AGENTS = {
    "letter": Agent(
        "a 7x7 torus with twelve letters, randomised in every episode",
        "letter",
        1_000_000,
        letter_world.FORMULAS,
        "F(a & (!b U c)) & F d",
    ),
    "layouts": Agent(
        "64x64 images of a 4x4 grid with four items, randomised in every episode",
        "image-episode",
        400_000,
        EIGHT,
        "F(pickaxe & F(gem & F door)) & G !lava",
    ),
    "flat": Agent(
        "a point that moves among nine discs of seven colours, which overlap",
        "flat",
        2_400_000,
        flat_world.PUBLISHED,
        "F(orange & (!red U magenta))",
    ),
}


@dataclass(frozen=True)
class Config:
    """Train one agent."""

    name: tyro.conf.Positional[str]
    """letter, layouts or flat."""
    steps: int | None = None
    """Steps of training, if not the usual ones."""
    episodes: int = 500
    """Test episodes of each formula."""
    runs: Path = Path("out/pretrained")
    """Where runs are kept; one that is there goes on."""


def trained(agent: Agent, steps: int, folder: RunFolder) -> RunConfig:
    """Train to the end."""
    if not folder.exists:
        settings: dict[str, Any] = {"tasks": {"held_out": agent.formulas, "up_to_renaming": True}}
        folder.begin(
            choose_run(None, agent.env, "nrm", SEED, tasks="mixture", total_timesteps=steps, settings=settings)
        )
    train(folder, folder.load())
    return folder.config()


def card(name: str, agent: Agent, config: RunConfig, tested: Sequence[Tested], seconds: float) -> str:
    """What people should know before they use it, in Markdown."""
    shown = [f"task {name} of the paper" if name in EIGHT else f"`{name}`" for name in agent.formulas]
    pairs = zip(shown, tested, strict=True)
    lines = ["| {} | {:.3f} |".format(formula.replace("|", "\\|"), one.success) for formula, one in pairs]
    return f"""# {name}

An agent for {agent.about}. It executes LTLf formulas over {", ".join(config.alphabet.symbols)}.

```sh
nrm watch {name} --task "{agent.example}"
```

- Trained by `python -m benchmarks.pretrained {name}`: NRM, {config.amount:,} steps, {seconds:.0f} CPU seconds.
- Symbols were learned from rewards. The agent was shown no label.
- Training tasks: the sampler `mixture`. The formulas below and all copies with renamed symbols were held out.
- It acts in the environment `{agent.env}` with its default settings, and in no other.

Success on unseen formulas, sampled actions, no rewards read. Mean: {np.mean([one.success for one in tested]):.3f}.

| formula | success |
| --- | ---: |
{chr(10).join(lines)}

One agent: the benchmark pages have means over seeds. A good mean does not exclude a formula on which it fails, so try
yours: `nrm evaluate {name} --task FORMULA`. Penalties discourage violations; they guarantee nothing.
"""


def main(config: Config) -> None:
    """Train, test and write."""
    torch.set_num_threads(1)
    agent, folder = AGENTS[config.name], RunFolder(config.runs / config.name)
    run = trained(agent, config.steps or agent.steps, folder)
    formulas = TaskSet.of([run.task_named(formula) for formula in agent.formulas], run.alphabet)
    tested = outcomes(run, folder.load_policy(), formulas, config.episodes, 90_000)
    out = FOLDER / config.name
    out.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        shutil.copyfile(folder.path / name, out / name)
    write_text(out / "README.md", card(config.name, agent, run, tested, folder.cpu_seconds()))
    print((out / "README.md").read_text())


if __name__ == "__main__":
    main(tyro.cli(Config))
