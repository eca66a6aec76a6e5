"""A setting is there because a benchmark, a recipe, an example or a page of the documentation sets it."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.surface import declared

from nrm.cli import _COMMANDS

ROOT = Path(__file__).parents[1]
PLACES = ("benchmarks/*.py", "benchmarks/sweeps/*.toml", "src/nrm/recipes/*.toml", "examples/*.py", "docs/**/*.md")
NAMES = {"pattern", "path", "source", *(name for command in _COMMANDS for name in command.arguments)}
"""What a sampler or an environment is called, and what stands behind a command without a name."""


def test_every_setting_is_set_somewhere() -> None:
    files = [path for place in PLACES for path in ROOT.glob(place) if path.name != "surface.py"]
    text = "\n".join([*(path.read_text() for path in files), (ROOT / "README.md").read_text()])
    text += "\n".join(command.__doc__ or "" for command in _COMMANDS)
    idle = set()
    for owner, name in declared():
        plain = name.rstrip("_")
        option = plain.replace("_", "-")
        said = rf"--(?:[a-z]+\.)?{option}\b|(?<![\w.]){plain} ?=(?!=)|\"{plain}\":"
        if name not in NAMES and not re.search(said, text):
            idle.add(f"{owner.__name__}.{name}")
    assert idle == set()
