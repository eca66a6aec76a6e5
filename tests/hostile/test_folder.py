"""A received folder in which everything is hostile, through every command and in a browser: it stays data."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.cli.conftest import Nrm, nrm_command
from tests.report.opened import Open, needs_chromium
from tests.results.folders import run

__all__ = ["nrm_command"]
NASTY = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\x1b[2J\x1b]0;owned\x07\u202egnp.exe"
SECRET = "the-contents-of-a-secret"
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that would do something to a terminal."""


@pytest.fixture(scope="module")
def received(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder: a run with nasty names that can be shown, and others that want to run, read or write something."""
    root = tmp_path_factory.mktemp("hostile")
    (root / "secret").write_text(SECRET)
    box = root / "box"
    good = run(box / "runs" / "a", "nrm", 0, name=NASTY, variant=NASTY)
    copies = {name: box / "runs" / name for name in (NASTY.replace("/", "|"), "links", "checkpoint", "code")}
    for number, path in enumerate(copies.values(), 1):
        shutil.copytree(good, path)
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps({**config, "seed": number}))
    for name in ("metrics.csv", "machines.json", "policy.safetensors"):
        (copies["links"] / name).unlink(missing_ok=True)
        (copies["links"] / name).symlink_to(root / "secret")
    torch.save(
        {"format": "nrm-checkpoint", "version": 4, "tables": {NASTY: [9, ""]}}, copies["checkpoint"] / "checkpoint.pt"
    )
    (copies["checkpoint"] / "policy.safetensors").unlink()
    config = json.loads((copies["code"] / "config.json").read_text())
    config["settings"]["network"]["encoder"] = "evilmod:NETWORK"
    (copies["code"] / "config.json").write_text(json.dumps({**config, "env": "evilmod:ENV", "algorithm": "evilmod:A"}))
    (box / "evilmod.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n")
    (box / "task.toml").write_text(f"name = {json.dumps(NASTY)}\nformula = 'evilmod:LANG: F a'\nsymbols = ['a', 'b']\n")
    (box / "named.toml").write_text(
        f"name = {json.dumps(NASTY)}\nformula = 'F a'\nsymbols = ['a', {json.dumps(NASTY)}]\n"
    )
    (box / "grid.toml").write_text("tasks = ['F gem']\nenvs = ['evilmod:ENV']\n")
    (box / "log.csv").write_text(f"recording,symbol\n{NASTY},a\n{NASTY},b\n")
    return box


@pytest.fixture
def here(received: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder, which is the current one; what is outside is as it was in the end."""
    monkeypatch.chdir(received)
    before = sorted(received.parent.iterdir()), list(sys.path)
    yield received
    assert (sorted(received.parent.iterdir()), list(sys.path)) == before
    assert (received.parent / "secret").read_text() == SECRET
    assert "evilmod" not in sys.modules


NAMES = ("a", NASTY.replace("/", "|"), "links", "checkpoint", "code")


@pytest.mark.parametrize(
    "command",
    [
        *(("evaluate", f"runs/{name}", "--episodes", "2") for name in NAMES),
        *(("watch", f"runs/{name}") for name in NAMES),
        *(("train", "--resume", f"runs/{name}", "--quiet") for name in NAMES),
        ("compile", "task.toml"),
        ("compile", "named.toml"),
        ("compile", f"F {NASTY}"),
        ("explain", "named.toml"),
        ("shortcuts", "named.toml"),
        ("check", "--task", "named.toml", "--trace", f"a;{NASTY}"),
        ("monitor", "named.toml", "log.csv"),
        ("monitor", "task.toml", "log.csv"),
        ("monitor", "F a", "log.csv", "--symbols", "a,b"),
        ("monitor", "F a", "log.csv", "--symbols", "a,b", "--show", "ends"),
        ("monitor", "runs/a", "log.csv"),
        ("fit", "log.csv", "--task", "task.toml", "--out", "fitted"),
        ("sweep", "grid.toml", "--out", "swept"),
        ("tasks", "--family", "file:log.csv"),
        ("train", "--task", "task.toml", "--out", "trained"),
    ],
)
def test_every_command(here: Path, nrm_command: Nrm, command: tuple[str, ...]) -> None:
    outcome = nrm_command(*command)
    assert outcome.status in (0, 1, 2)
    assert not HIDDEN.search(outcome.out + outcome.err)
    assert SECRET not in outcome.out + outcome.err
    assert not {"fitted", "swept", "trained"} & set(os.listdir(here))


@needs_chromium
def test_the_page_in_a_browser(here: Path, nrm_command: Nrm, browser: Any, tmp_path: Path) -> None:
    reported = nrm_command("report", "runs", "--out", str(tmp_path / "page.html"))
    assert reported.status == 0
    assert not HIDDEN.search(reported.out + reported.err)
    assert SECRET not in (tmp_path / "page.html").read_text()
    found = Open(browser, (tmp_path / "page.html").as_uri())
    assert found.trouble == []
    assert found.count("main img[src=x]") == 0
    found.page.context.close()
