"""A method, an environment, an algorithm and a grounder from outside, one file each: as good as ours in every
command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Nrm
from tests.said import names

METHOD = '''
"""Remembers how many steps have passed, up to nine, and nothing of the task."""
from dataclasses import dataclass

import torch

from nrm.agents import Method, Prepared
from nrm.tracking import Memory


@dataclass(frozen=True)
class ClockConfig:
    """A clock."""

    most: int = 9
    """Steps that it counts."""


class Clock(Memory):
    def __init__(self, most):
        self.size = most + 1
        self.table = torch.eye(self.size)

    def start(self, count):
        return torch.zeros(count, dtype=torch.int64)

    def read(self, carry, seen):
        return (carry + 1).clamp(max=self.size - 1)

    def feature(self, carry):
        return self.table[carry]


CLOCK = Method(
    name="clock",
    label="Clock",
    knows="counts its steps",
    prepare=lambda environment, settings, features, seed: Prepared(Clock(settings.most)),
    config=ClockConfig,
    section="clock",
    colour="#123456",
    dark="#abcdef",
)
'''

ENV = '''
"""A row of cells with a bell at its end."""
from dataclasses import dataclass

import gymnasium
import numpy as np

import nrm
from nrm.envs import EnvConfig, GymVectorEnv


class Row(gymnasium.Env):
    metadata = {"render_modes": ["ansi", "rgb_array"]}
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, config, render_mode=None):
        self.length, self.render_mode = config.length, render_mode
        self.observation_space = gymnasium.spaces.Box(0, config.length, (1,), np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = 0, 0
        return self._seen()

    def step(self, action):
        self.place = max(0, min(self.length - 1, self.place + 2 * int(action) - 1))
        self.time += 1
        seen, info = self._seen()
        return seen, 0.0, False, self.time >= 20, info

    def _seen(self):
        name = "bell" if self.place == self.length - 1 else "home" if self.place == 0 else "way"
        return np.array([self.place], dtype=np.float32), {"labels": [name]}

    def render(self):
        if self.render_mode == "ansi":
            return "." * self.place + "@" + "." * (self.length - self.place - 1)
        return np.full((8, 8 * self.length, 3), 255, dtype=np.uint8)


SYMBOLS = nrm.Alphabet.exclusive(("home", "bell", "way"))


@dataclass(frozen=True)
class ROW(EnvConfig):
    """A row of cells."""

    name = "row"
    env_names = ("my_env:ROW",)
    titled = ("length",)

    length: int = 4
    """Cells."""

    def task(self, text):
        return nrm.machines.task_from_text(text or "F(bell & F home)", SYMBOLS)

    def build(self, tasks, count, end):
        return GymVectorEnv.of(lambda: self.render(tasks, None, end), count)

    def render(self, machine, mode, end):
        return nrm.TaskEnv(Row(self, mode), machine, end=end)

    def title(self):
        return f"row-{self.length}"
'''

ALGORITHM = '''
"""Plain policy gradients on the rewards of a rollout."""
from dataclasses import dataclass

import torch

from nrm.agents import Algorithm
from nrm.agents.acting import Actor


@dataclass(frozen=True)
class ReinforceConfig:
    """REINFORCE."""

    rate: float = 0.01
    """Step size."""


class Reinforce:
    def __init__(self, environment, memory, config, network, seed):
        self.memory = memory
        self.actor = Actor(environment, memory, network, 8, seed)
        self.policy = self.actor.net
        self.optimizer = torch.optim.SGD(self.actor.parameters, lr=config.rate)

    def collect(self):
        return self.actor.collect()

    def learn(self, rollout, progress):
        logits, _ = self.actor.evaluate(rollout)
        chosen = torch.log_softmax(logits, -1).gather(-1, rollout.action.unsqueeze(-1)).squeeze(-1)
        loss = -(chosen * rollout.reward / 100).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.actor.updated()
        return {"policy": float(loss.detach())}

    def state_dict(self):
        return {"actor": self.actor.state_dict()}

    def load_state_dict(self, state):
        self.actor.load_state_dict(state["actor"])


REINFORCE = Algorithm("reinforce", "REINFORCE", ReinforceConfig, Reinforce)
'''

GROUNDER = '''
"""A table over whole numbers."""
import torch
from torch import nn


class Table(nn.Module):
    name = "table"
    label = "a table"

    def __init__(self, symbols, rows=16):
        super().__init__()
        self.config = {"symbols": symbols, "rows": rows}
        self.scores = nn.Embedding(rows, symbols)

    @classmethod
    def from_shape(cls, shape, symbols, independent=False):
        return cls(symbols)

    def forward(self, observations):
        return self.scores(observations[:, 0].long()).softmax(-1)
'''

GRID = """
tasks = ["F(bell & F home)"]
envs = ["my_env:ROW"]
methods = ["rm", "nrm", "my_method:CLOCK"]
algorithm = "my_algorithm:REINFORCE"
total_episodes = 60
num_envs = 4
[settings]
grounding = {every = 20, epochs = 10, restarts = 1, grounder = "my_grounder:Table"}
clock.most = 7
[variants.short]
[variants.long.env]
length = 6
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the four files, where commands are run."""
    folder = tmp_path_factory.mktemp("outside")
    for name, text in (("method", METHOD), ("env", ENV), ("algorithm", ALGORITHM), ("grounder", GROUNDER)):
        (folder / f"my_{name}.py").write_text(text)
    (folder / "grid.toml").write_text(GRID)
    return folder


@pytest.fixture(autouse=True)
def _there(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(outside)


def test_train_evaluate_watch_and_resume(nrm_command: Nrm, outside: Path) -> None:
    run = ("--env", "my_env:ROW", "--algorithm", "my_algorithm:REINFORCE", "--total-episodes", "60", "--quiet")
    clock = nrm_command("train", *run, "--method", "my_method:CLOCK", "--clock.most", "7", "--out", "clock")
    assert clock.status == 0, clock.err
    table = ("--method", "nrm", "--grounding.grounder", "my_grounder:Table", "--grounding.every", "20")
    found = nrm_command("train", *run, *table, "--env.length", "3", "--algorithm.rate", "0.02", "--out", "table")
    assert found.status == 0, found.err
    config = json.loads((outside / "table" / "config.json").read_text())
    assert config["settings"]["env"] == {"length": 3}
    assert config["settings"]["algorithm"] == {"rate": 0.02}
    assert json.loads((outside / "clock" / "config.json").read_text())["settings"]["clock"] == {"most": 7}
    for name in ("clock", "table"):
        told = nrm_command("evaluate", "--trust", name, "--episodes", "4", "--json")
        assert json.loads(told.out)["episodes"] == 4, told.err
        assert "true symbol" in nrm_command("watch", name, "--trust").out
    assert "already finished" in nrm_command("train", "--resume", "table", "--trust", "--quiet").out
    listed = nrm_command("train", *run, "--method", "my_method:CLOCK", "--help-all").out
    assert "--clock.most" in listed
    assert "--env.length" in listed


def test_the_installed_command_finds_modules_in_the_current_folder(outside: Path) -> None:
    # The folder of the program, and not the current one, is on its path by itself.
    code = "import sys; sys.path.remove(''); from nrm.cli import main; main()"
    command = [sys.executable, "-c", code, "train", "--method", "my_method:CLOCK", "--help-all"]
    found = subprocess.run(command, cwd=outside, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
    assert "--clock.most" in found.stdout, found.stderr


def test_sweep_and_report(nrm_command: Nrm, outside: Path) -> None:
    swept = nrm_command("sweep", "grid.toml", "--trust", "--out", "grid", "--processes", "1", "--quiet")
    assert swept.status == 0, swept.err + swept.out
    rows = list(csv.DictReader((outside / "grid" / "results.csv").read_text().splitlines()))
    assert {row["env"] for row in rows} == {"row-4", "row-6"}
    assert {row["method"] for row in rows} == {"rm", "nrm", "my_method:CLOCK"}
    assert all(row["runs"] == "1" for row in rows)
    assert list((outside / "grid" / "figures").glob("tasks-row-4*.svg"))
    page = nrm_command("report", "grid", "--trust", "--out", "page.html")
    assert page.status == 0, page.err
    text = (outside / "page.html").read_text()
    assert "#123456" in text
    assert '"label":"Clock"' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "my_wrld:ROW"], "'my_wrld'"),
        (["--env", "my_env:RWO"], "'my_env' … 'RWO' … 'ROW'"),
        (["--method", "my_method:Clock"], "'my_method:Clock' … name, label, knows"),
        (["--method", "broken:METHOD"], "'broken:METHOD' … ZeroDivisionError: division by zero"),
        (["--algorithm", "my_algorithm:"], "write module:name"),
        (["--method", "failing:METHOD"], "ZeroDivisionError: division by zero"),
        (["--grounding.grounder", "my_method:Clock"], "name, label, from_shape"),
    ],
)
def test_mistakes(nrm_command: Nrm, outside: Path, arguments: list[str], message: str) -> None:
    (outside / "broken.py").write_text("\nMETHOD = 1 / 0\n")
    (outside / "failing.py").write_text(
        "from nrm.agents import Method\n"
        "METHOD = Method('failing', 'Failing', 'fails', lambda environment, settings, features, seed: 1 / 0)\n"
    )
    found = nrm_command("train", "--task", "F gem", *arguments, "--out", "mistake")
    assert found.status == 2
    assert names(found.err, message)
    assert not (outside / "mistake").exists()
