"""`nrm monitor` on traces of symbols."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from torch import Tensor

import nrm
from nrm.machines import TaskSet
from nrm.neural import NeuralRewardMachine, TrueLabels, record_episodes, save_episodes, save_model
from tests.cli.conftest import Nrm

RULE = "G(request -> F grant)"
LOG = "recording,symbol\nr1,request\nr2,request\nr1,grant\nr3,idle\n"


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return str(path)


def test_every_step_gets_its_verdict_and_the_status_is_a_test_runners(nrm_command: Nrm, log: str) -> None:
    outcome = nrm_command("monitor", RULE, log)
    rows = [line.split() for line in outcome.out.splitlines()]
    assert rows[:3] == [["r1", "1", "request", "open"], ["r2", "1", "request", "open"], ["r1", "2", "grant", "holds"]]
    assert [" ".join(row) for row in rows[4:]] == [
        "3 recordings: 2 passed, 1 failed",
        "r2: open at its end, after 1 step",
    ]
    assert outcome.status == 1
    assert nrm_command("monitor", "F (request | idle)", log).status == 0


def test_recordings_may_be_called_cases(nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case_id,activity\n1,ship\n2,pay\n")
    outcome = nrm_command("monitor", "F ship", str(tmp_path / "log.csv"))
    assert (outcome.status, "2 recordings: 1 passed, 1 failed" in outcome.out) == (1, True)


def test_without_a_rule_one_is_asked_for(nrm_command: Nrm) -> None:
    outcome = nrm_command("monitor")
    assert outcome.status == 2
    assert "no task is given" in outcome.err


def test_json_has_an_object_a_line(nrm_command: Nrm, log: str) -> None:
    lines = [json.loads(line) for line in nrm_command("monitor", RULE, log, "--json").out.splitlines()]
    assert lines[0] == {"recording": "r1", "step": 1, "symbols": ["request"], "verdict": "open"}
    assert lines[-1]["recordings"] == 3
    assert lines[-1]["open"] == 1
    assert lines[-1]["vacuous"] == {RULE: 1}
    ends = [json.loads(line) for line in nrm_command("monitor", RULE, log, "--json", "--show", "ends").out.splitlines()]
    assert [(end["recording"], end["steps"], end["verdict"]) for end in ends[:-1]] == [
        ("r1", 2, "holds"),
        ("r2", 1, "open"),
        ("r3", 1, "holds"),
    ]


def test_changes_alone_are_shown(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "steps.txt"
    path.write_text("a\nb\nb\nc\nc\n")
    shown = nrm_command("monitor", "F b & G !c", str(path), "--show", "changes").out
    assert [line.split()[0] for line in shown.splitlines()[:-2]] == ["1", "2", "4"]
    assert "violated at step 4 (c)" in shown


def test_junit_has_a_test_case_for_each_recording(nrm_command: Nrm, tmp_path: Path) -> None:
    log, report = tmp_path / "log.jsonl", tmp_path / "report.xml"
    log.write_text(
        '{"case": "ok", "trace": ["request", "grant"]}\n["idle"]\n{"case": "a\\u0000b<", "trace": ["request"]}\n'
    )
    assert nrm_command("monitor", RULE, str(log), "--out", str(report)).status == 1
    suite = ElementTree.parse(report).getroot()
    assert suite.attrib == {"name": RULE, "tests": "3", "failures": "1", "errors": "0"}
    assert [case.get("name") for case in suite] == ["ok", "2", "a?b<"]
    assert [[child.tag for child in case] for case in suite] == [[], ["system-out"], ["failure"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,event\n1,a\n2,b\n", "'recording'"),
        ("id,a,b\n1,1,0\n2,0,1\n", "'recording'"),
        ("recording,symbol,time\nn,a,2\nm,a,1\nn,b,1\n", "line 4: recording 'n'"),
        ("timestamp,a,b\n2,1,0\n1,0,1\n", "line 3"),
        ('{"time": 2, "symbol": "a"}\n{"time": 1, "symbol": "b"}\n', "line 2"),
    ],
)
def test_rows_whose_recording_or_order_is_in_doubt_are_refused(
    text: str, said: str, nrm_command: Nrm, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(text)
    outcome = nrm_command("monitor", "G(a -> F b)", str(tmp_path / "log.csv"))
    assert (outcome.status, said in outcome.err) == (2, True), outcome.err


@pytest.mark.parametrize(
    ("rule", "text", "recordings"),
    [
        ("F a", "event\nb\na\n", 1),
        ("F a", "Time,Symbol\n1,b\n2,a\n", 1),
        ("F a", "Recording,Symbol,T\n1,a,30\n2,a,20\n1,b,10\n", 2),
        ("F t", "t\n1\n0\n", 1),
        ("F a", "time,symbol\n2026-01-02,a\n2026-01-01,b\n", 1),
    ],
    ids=["only symbols", "a time", "capital letters", "a proposition t", "dates, which are not compared"],
)
def test_headings_that_say_enough(rule: str, text: str, recordings: int, nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(text)
    outcome = nrm_command("monitor", rule, str(tmp_path / "log.csv"), "--json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out.splitlines()[-1])["recordings"] == recordings


def test_swapped_arguments_are_named(nrm_command: Nrm, log: str) -> None:
    outcome = nrm_command("monitor", log, RULE)
    assert (outcome.status, f"nrm monitor RULE {log}" in outcome.err) == (2, True)


FORMS = {
    "a step a line": "request\nidle\ngrant\n",
    "CSV with symbols": "time,case,symbol,cost\n1,x,request,3\n2,x,idle,4\n3,x,grant,5\n",
    "CSV with ids": "case_id,event\n7,request\n7,idle\n7,grant\n",
    "CSV with another delimiter": "\ufeffcase;activity\nx;request\nx;idle\nx;grant\n",
    "CSV with propositions": "case,request,grant,other\nx,1,0,\nx,0,false,\nx,No,TRUE,\n",
    "names": '"request"\n"idle"\n"grant"\n',
    "objects": '{"symbol": "request"}\n\n{"symbols": []}\n{"symbols": ["grant", "idle"]}\n',
    "objects of propositions": "".join(
        json.dumps({"request": a, "grant": b}) + "\n" for a, b in ((1, 0), (False, False), (0, True))
    ),
    "traces": '["request", "idle", ["grant"]]\n',
    "named traces": '{"recording": 5, "trace": ["request", [], "grant"]}\n',
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_all_forms_of_traces_say_the_same(text: str, nrm_command: Nrm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    lines = [json.loads(line) for line in nrm_command("monitor", RULE, "--json").out.splitlines()]
    assert [line["verdict"] for line in lines[:-1]] == ["open", "open", "holds"]
    assert lines[-1]["recordings"] == 1


@pytest.mark.parametrize(
    ("logic", "rule"), [("ldlf", "<true*; a>tt"), ("ppltl", "O a"), ("re", "true*; a; true*"), ("ltlf", "existence(a)")]
)
def test_all_languages(logic: str, rule: str, nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "steps.txt"
    path.write_text("b\na\n")
    outcome = nrm_command("monitor", rule, str(path), "--logic", logic, "--symbols", "a,b")
    assert outcome.status == 0
    assert [line.split()[-1] for line in outcome.out.splitlines()[:2]] == ["open", "satisfied"]


def test_task_files_machine_files_and_paper_tasks_are_rules(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "steps.txt"
    path.write_text("a\nb\n")
    assert nrm_command("compile", "F a & F b", "--symbols", "a,b", "--out", str(tmp_path / "rule.json")).status == 0
    for rule in ("1", str(tmp_path / "rule.json")):
        outcome = nrm_command("monitor", rule, str(path))
        assert (outcome.status, outcome.out.splitlines()[1].split()) == (0, ["2", "b", "satisfied"])


def test_vacuous_rules_and_misspelt_symbols_give_warnings(nrm_command: Nrm, log: str) -> None:
    outcome = nrm_command("monitor", "G(reqest -> F grant)", log, "--show", "ends")
    assert outcome.status == 0
    assert "holds vacuously in all recordings" in outcome.err
    assert "'reqest' of the rule occurs in no recording; did you mean 'request'?" in outcome.err
    assert "vacuously" in outcome.out
    assert not nrm_command("monitor", "G !fall", log).err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("recording,symbol\n", "no recordings"),
        ("recording,symbol\nr1,a,b\n", "line 2"),
        ("recording,symbol\nr1,\n", "line 2"),
        ("recording,sym\nr1,a\n", "recording, sym"),
        ("recording,a\nr1,1\nr1,perhaps\n", "perhaps"),
        ('recording,symbol\nr1,"a\n', "line"),
        ("recording,symbol\nr1," + "a" * 200_000 + "\n", "line 2"),
        ('["a"\n', "line 1"),
        ("[]\n", "line 1"),
        ('"a"\n3\n', "line 2"),
        ('{"symbol": 3}\n', "3"),
        ('{"symbol": [["a"]]}\n', "line 1"),
        ('{"trace": "ab"}\n', "ab"),
        ('{"recording": [1], "symbol": "a"}\n', "[1]"),
        ('{"b": true}\n', "given: b"),
        ('{"recording": 1, "b": true}\n', "'a'"),
        ('{"session": "r1", "symbol": "a"}\n', "session"),
        ("{a,b}\n", "JSON"),
        ("a\nelsewhere\n", "elsewhere"),
    ],
)
def test_bad_input_is_refused_with_its_place(text: str, said: str, nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(text)
    outcome = nrm_command("monitor", "F a", str(path), "--symbols", "a")
    assert outcome.status == 2
    assert said in outcome.err
    assert str(path) in outcome.err


def test_files_that_cannot_be_read(nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\n\xff\xfe\n")
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "binary"):
        outcome = nrm_command("monitor", "F a", str(path))
        assert (outcome.status, str(path) in outcome.err) == (2, True)


def test_input_that_never_ends_is_followed_line_by_line_without_torch() -> None:
    code = "import sys; from nrm.cli import main\ntry: main()\nfinally: assert 'torch' not in sys.modules"
    command = [sys.executable, "-c", code, "monitor", "G(a -> F b)", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for symbol, verdict in itertools.islice(itertools.cycle([("a", "open"), ("c", "open"), ("b", "holds")]), 9):
            process.stdin.write(f"{symbol}\n")
            process.stdin.flush()
            assert process.stdout.readline().split()[1:] == [symbol, verdict]
        process.stdin.close()
        assert "1 passed" in process.stdout.read()
    assert process.returncode == 0


class Second(TrueLabels):
    """Reads the second of two features."""

    def __init__(self) -> None:
        super().__init__(2)

    def forward(self, observations: Tensor) -> Tensor:
        return super().forward(observations[:, 1:])


@pytest.fixture
def detector(tmp_path: Path) -> Path:
    """The folder of a model to which observations are the numbers of symbols."""
    machine = nrm.compile("F(a & F b) & G !c", ["a", "b", "c", "d"])
    save_model(tmp_path / "fit" / "model.pt", NeuralRewardMachine(TrueLabels(4), machine))
    nrm.save_machine(machine, tmp_path / "fit" / "machine.json")
    return tmp_path / "fit"


TRACES = {"r1": "dadb", "r2": "abc", "r3": "b", "r4": "ddda"}


def test_a_model_reads_observations_and_gives_verdicts_probabilities(
    nrm_command: Nrm, detector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = nrm.monitor("F(a & F b) & G !c", ["a", "b", "c", "d"])
    expected = [
        (name, symbol, after.verdict.value)
        for name, trace in TRACES.items()
        for symbol, after in zip(trace, start.run(trace), strict=True)
    ]
    rows = [np.array([["abcd".index(symbol)] for symbol in trace], dtype=np.float32) for trace in TRACES.values()]
    npz = save_episodes(tmp_path / "seen.npz", record_episodes(rows, names=list(TRACES)))
    lines = [f"{name},{row[0]}" for name, part in zip(TRACES, rows, strict=True) for row in part]
    text = "\n".join(["recording,x", *lines, ""])
    (tmp_path / "seen.csv").write_text(text)
    for file in (str(npz), str(tmp_path / "seen.csv"), "-"):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        outcome = nrm_command("monitor", str(detector), file, "--json")
        assert outcome.status == 1
        found = [json.loads(line) for line in outcome.out.splitlines()]
        assert [(line["recording"], *line["symbols"], line["verdict"]) for line in found[:-1]] == expected
        assert all(line["probabilities"][line["verdict"]] == pytest.approx(1) for line in found[:-1])
        assert (found[-1]["holds"], found[-1]["violated"], found[-1]["open"]) == (1, 1, 2)


def test_features_go_by_their_names(
    nrm_command: Nrm, detector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = NeuralRewardMachine(Second(), nrm.compile("F a", ["a", "b"]))
    monkeypatch.setattr("nrm.cli.grounding.load_model", lambda file: model)
    model.feature_names = ("x", "y")
    nrm.save_machine(nrm.compile("F a", ["a", "b"]), detector / "machine.json")
    seen = tmp_path / "seen.csv"
    for header, row, status in (("x,y", "1,0", 0), ("y,x", "0,1", 0), ("y,x", "1,0", 1), ("x,z", "1,0", 2)):
        text = f"recording,{header}\nr,{row}\n"
        seen.write_text(text)
        for file in (str(seen), "-"):
            monkeypatch.setattr("sys.stdin", io.StringIO(text))
            outcome = nrm_command("monitor", str(detector), file)
            assert outcome.status == status, (header, row, outcome)
    assert "x, z" in outcome.err


def test_models_that_cannot_be_followed(nrm_command: Nrm, detector: Path, tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("recording,x,y\nr,1,2\n")
    outcome = nrm_command("monitor", str(detector), str(tmp_path / "seen.csv"))
    assert (outcome.status, "(2,)" in outcome.err) == (2, True)
    assert nrm_command("monitor", str(detector), str(tmp_path / "seen.csv"), "--symbols", "a").status == 2
    (detector / "machine.json").unlink()
    outcome = nrm_command("monitor", str(detector), str(tmp_path / "seen.csv"))
    assert (outcome.status, "machine.json" in outcome.err) == (2, True)


def test_a_model_file_that_has_its_rule_is_enough(nrm_command: Nrm, tmp_path: Path) -> None:
    machine = nrm.compile("F a", ["a", "b"])
    seen = tmp_path / "seen.csv"
    seen.write_text("recording,x\nr,1\nr,0\n")
    one, two = (TaskSet((machine,) * count, ("F a", "F a again")[:count]) for count in (1, 2))
    for tasks, status in ((one, 0), (two, 2)):
        path = save_model(tmp_path / "detector.pt", NeuralRewardMachine(TrueLabels(2), tasks))
        outcome = nrm_command("monitor", str(path), str(seen))
        assert outcome.status == status, outcome.err
    assert "F a again" in outcome.err
    outcome = nrm_command("monitor", str(tmp_path / "none.pt"), str(seen))
    assert (outcome.status, "none.pt" in outcome.err) == (2, True)
