"""Files that once ended in a traceback, a full memory, or something worse: each is an error with its path."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.fuzz import attack, targets

import nrm
from nrm.errors import ConfigError, FileError, FormulaError, NrmError, escaped, shown
from nrm.files import LIMITS, check_links, parse_json, read_arrays, read_bytes, read_json, read_lines
from nrm.machines import load_machine, load_pool
from nrm.neural import load_episodes, load_model
from nrm.report import build_report
from nrm.results import group_runs, read_records
from nrm.runs import RunFolder, choose_run
from nrm.samplers import sampler_of
from tests.cli.conftest import Nrm, nrm_command
from tests.results.folders import run

__all__ = ["nrm_command"]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("good") / "run", "automata-learning", 0)


def npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(array: object) -> bytes:
    whole = io.BytesIO()
    np.save(whole, np.asarray(array))
    return whole.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 70 + "]" * 70,
        "9" * 5_000,
        "-" + "9" * 400,
        "1e400",
        "NaN",
        "[Infinity]",
        '["\\ud800"]',
        '{"a": 1',
        "\x00",
    ],
)
def test_json_within_limits(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(text)
    with pytest.raises(FileError, match=r"one\.json"):
        read_json(path)


def test_values_of_another_kind_are_named_by_their_place() -> None:
    with pytest.raises(FileError, match=r"\$\[1\]"):
        parse_json("[1, []]", "it", list[int])


@pytest.mark.parametrize("metadata", ["[" * 100_000, "1" * 5_000])
def test_metadata_of_episodes(tmp_path: Path, metadata: str) -> None:
    arrays = {"observations": npy(np.zeros((2, 1))), "lengths": npy([2]), "rewards": npy([0.0, 1.0])}
    with pytest.raises(NrmError, match=r"bad\.npz"):
        load_episodes(npz(tmp_path / "bad.npz", **arrays, metadata=npy(metadata)))


def test_what_is_not_asked_for_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nrm.files, "LIMITS", LIMITS._replace(memory=1 << 22))
    path = tmp_path / "large.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lengths.npy", npy([1]))
        with archive.open("unused.npy", "w", force_zip64=True) as member:
            member.write(bytes(1 << 23))
    assert list(read_arrays(path.read_bytes(), "it", ["lengths", "others"])) == ["lengths"]
    with pytest.raises(FileError, match="unpacks to"):
        read_arrays(path.read_bytes(), "it", ["unused"])


def test_a_flipped_byte_and_an_encrypted_member(tmp_path: Path) -> None:
    whole = npz(tmp_path / "tasks.npz", about=npy(list(range(1000)))).read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        (tmp_path / "tasks.npz").write_bytes(changed)
        with pytest.raises(FileError):
            load_pool(tmp_path / "tasks.npz")
    locked = bytearray(whole)
    locked[6] |= 1
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FileError, match="encrypted"):
        read_arrays(bytes(locked), "it", ["about"])


MACHINES: dict[str, Any] = {
    "outputs are lists": {"outputs": [[0.0], [1.0]]},
    "one output is a list": {"outputs": [0.0, [1.0]]},
    "names for a table": {"outputs": {"0": [0.0]}},
    "states beyond": {"transitions": [[0, 10**9], [1, 1]]},
    "no states": {"transitions": [], "outputs": [], "accepting": []},
    "a large initial": {"initial": 10**17},
}


@pytest.mark.parametrize("what", MACHINES)
def test_machines_that_are_none(tmp_path: Path, what: str) -> None:
    machine = {"symbols": ["a", "b"], "transitions": [[0, 1], [1, 1]], "outputs": [0, 1], "accepting": [False, True]}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({**machine, **MACHINES[what]}))
    with pytest.raises(NrmError, match=r"machine\.json"):
        load_machine(path)


def test_huge_numbers_in_a_diagram(tmp_path: Path) -> None:
    wide = nrm.compile("visit(a, b)", propositions=[*"ab", *(f"p{number}" for number in range(14))])
    nrm.save_machine(wide, tmp_path / "wide.json")
    data = json.loads((tmp_path / "wide.json").read_text())
    for key in data["diagram"]:
        for number in (10**12, -(10**12)):
            changed = {**data, "diagram": {**data["diagram"], key: [number, *data["diagram"][key][1:]]}}
            (tmp_path / "wide.json").write_text(json.dumps(changed))
            with pytest.raises(NrmError, match=r"wide\.json"):
                load_machine(tmp_path / "wide.json")


def test_a_drawing_without_states(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    path = tmp_path / "empty.dot"
    path.write_text('digraph machine { graph [nrm_kind="exclusive", nrm_symbols="a,b"]; }')
    with pytest.raises(NrmError, match=r"empty\.dot"):
        load_machine(path)


@pytest.mark.parametrize("version", [torch.ones(3), "4", None, True])
def test_versions_that_are_no_numbers(tmp_path: Path, good: Path, version: object) -> None:
    shutil.copytree(good, tmp_path / "run")
    torch.save({"format": "nrm-checkpoint", "version": version}, tmp_path / "run" / "checkpoint.pt")
    with pytest.raises(FileError, match=r"checkpoint\.pt has version"):
        RunFolder(tmp_path / "run").load()
    torch.save({"format": "nrm-model", "version": version}, tmp_path / "model.pt")
    with pytest.raises(FileError, match=r"model\.pt has version"):
        load_model(tmp_path / "model.pt")


DAMAGES = {
    "machines.json": "{}",
    "cost.json": '{"cpu_seconds": NaN}',
    "cell.json": "[1]",
    "grounding.csv": "episode,accuracy,balanced_accuracy,accuracy_modulo_shortcuts\n999,1,1,1\n",
    "metrics.csv": "episode,steps,return,length,success\n1,5,1e308,5,1\n2,9,1e308,4,1\n",
    "versions.json": "[]",
    "policy.safetensors": "x",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_costs_only_what_it_holds(tmp_path: Path, good: Path, name: str) -> None:
    shutil.copytree(good, tmp_path / "runs" / "good")
    shutil.copytree(good, tmp_path / "runs" / "bad")
    bad = tmp_path / "runs" / "bad"
    other = tmp_path / "runs" / "good" / "config.json"
    other.write_text(json.dumps({**json.loads(other.read_text()), "seed": 1}))  # the first is shown
    (bad / name).write_text(DAMAGES[name])
    page = build_report(tmp_path / "runs", recorded=2)
    assert name in page.problems[bad]
    assert page.runs == (1 if name == "metrics.csv" else 2)
    assert page.html()


def test_machines_of_other_symbols_cost_only_themselves(tmp_path: Path, good: Path) -> None:
    bad = tmp_path / "runs" / "bad"
    shutil.copytree(good, bad)
    machines = json.loads((bad / "machines.json").read_text())
    for version in machines["versions"]:
        version["table"] = [[99] * len(row) for row in version["table"]]
    (bad / "machines.json").write_text(json.dumps(machines))
    page = build_report(bad.parent, recorded=0)
    assert page.runs == 1
    assert "what it learned is not shown" in page.problems[bad] or not machines["versions"]


def test_runs_of_another_source_are_other_runs(tmp_path: Path, good: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(good, tmp_path / name)
        versions = json.loads((good / "versions.json").read_text())
        (tmp_path / name / "versions.json").write_text(json.dumps({**versions, "sources": name}))
    found = group_runs(read_records(tmp_path)[0])
    assert len(found.groups) == 2
    assert not found.copies


def test_links_that_lead_out_and_pipes(tmp_path: Path, good: Path) -> None:
    run_folder, secret = tmp_path / "runs" / "bad", tmp_path / "secret"
    secret.write_text("keep me")
    for name in ("config.json", "metrics.csv", "checkpoint.pt", "machines.json", ".lock"):
        shutil.rmtree(run_folder, ignore_errors=True)
        shutil.copytree(good, run_folder)
        (run_folder / name).unlink(missing_ok=True)
        (run_folder / name).symlink_to(secret)
        with pytest.raises(FileError, match="leads out"):
            RunFolder(run_folder).load()
        with pytest.raises(FileError, match="leads out"):
            build_report(run_folder.parent)
        assert secret.read_text() == "keep me"
    check_links(good)
    for name in ("config.json", "metrics.csv", "policy.safetensors"):
        shutil.rmtree(run_folder)
        shutil.copytree(good, run_folder)
        (run_folder / name).unlink()
        os.mkfifo(run_folder / name)
        page = None
        try:
            page = build_report(run_folder.parent)
        except FileError as error:
            assert "a pipe" in str(error)  # noqa: PT017 - nothing is left to show
        assert page is None or "a pipe" in page.problems[run_folder]


def test_text_for_terminals_and_pages() -> None:
    assert escaped("a\x1b[2J\u202eb\nc") == "a\\x1b[2J\\u202eb\nc"
    assert len(shown("no 'x" + "y z" * 400 + "'")) < 220
    assert len(shown("y" * 10_000)) == 199
    with pytest.raises(FormulaError) as caught:
        nrm.compile("F \x1b[2J a")
    assert "\x1b" not in str(caught.value).splitlines()[-2]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as file:
        file.truncate(LIMITS.bytes + 1)
    with pytest.raises(FileError, match="large"):
        read_bytes(tmp_path / "large")


def test_lines_of_a_stream_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.files.LIMITS", LIMITS._replace(line=20))
    assert list(read_lines(io.StringIO("recording,symbol\nr,gem\n"), "it")) == ["recording,symbol\n", "r,gem\n"]
    with pytest.raises(FileError, match="it has a line"):
        list(read_lines(io.StringIO("r,gem\n" + "x" * 20), "it"))


def test_cells_that_are_too_large(tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_text(f"recording,x,verdict\nr,{'1' * 140_000},true\n")
    with pytest.raises(FileError, match=r"large\.csv, line 2"):
        load_episodes(tmp_path / "large.csv")


@pytest.mark.parametrize("value", [10**18, float("nan"), "\ud800"])
def test_arguments_of_environments_that_could_not_be_read_again(tmp_path: Path, value: object) -> None:
    env = {"kwargs": {"sutton_barto_reward": value}, "symbols": ["a"]}
    config = choose_run("F a", "gym:CartPole-v1", "rm", settings={"env": env})
    with pytest.raises(NrmError):
        RunFolder(tmp_path / "run").begin(config)
    assert not (tmp_path / "run").exists()


def test_a_long_name_is_no_file(nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("gem\ndoor\n")
    rule = "F gem & " + " | ".join(["gem"] * 100)
    assert nrm_command("monitor", rule, str(tmp_path / "log.txt"), "--symbols", "gem,door").status == 0
    with pytest.raises(ConfigError, match="xxx"):
        sampler_of("x" * 300)


@pytest.mark.filterwarnings("ignore::nrm.errors.NrmWarning")
def test_each_target_of_the_attack_withstands_some_inputs(tmp_path: Path) -> None:
    chance, found = random.Random(7), Counter[str]()
    (tmp_path / "seeds").mkdir()
    for name, target in targets(tmp_path / "seeds").items():
        for _ in range(3):
            attack(name, target, chance, tmp_path / f"input{target.ending}", found, tmp_path)
    assert not [said for said in found if "·" in said]


def test_lines_of_traces_that_are_nested_too_deep(tmp_path: Path, nrm_command: Nrm) -> None:
    (path := tmp_path / "deep.jsonl").write_text("[" * 15_000)
    outcome = nrm_command("monitor", "F a", str(path))
    assert outcome.status == 2
    assert f"{path}, line 1" in outcome.err
