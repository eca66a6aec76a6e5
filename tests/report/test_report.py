"""What a report holds: the right numbers, and everything that is not in order by name."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm.aliases import Json
from nrm.envs import MinecraftConfig
from nrm.errors import FileError, MissingExtraError
from nrm.groundability import shortcuts
from nrm.machines import MooreMachine
from nrm.report import Report, build_report, drawing, write_report
from nrm.report.curves import POINTS, curves, summary
from nrm.report.groups import Group, grouped
from nrm.report.pictures import png
from nrm.report.words import shortcut_words
from nrm.results import read_record
from nrm.runs import RunFolder
from tests.report.conftest import AGENT, NASTY, run

DRAWN = MinecraftConfig(layout="episode", items=("pickaxe", "lava", "door", "gem"))


def groups_of(data: Json, **wanted: str) -> list[Json]:
    return [group for group in data["groups"] if all(group[key] == value for key, value in wanted.items())]


def test_the_numbers_are_those_of_the_run_folders(runs: Path, report: Report) -> None:
    (group,) = groups_of(report.data, method="nrm", task=NASTY)
    records = [read_record(runs / "ugly" / f"nrm-{seed}") for seed in range(2)]
    last = [record.returns[-100:].mean() for record in records]
    assert group["last"] == pytest.approx([np.mean(last), np.std(last)], abs=1e-3)
    assert group["area"][0] == pytest.approx(np.mean([record.returns.mean() for record in records]), abs=1e-3)
    final = [record.grounding["accuracy"][-1] for record in records if record.grounding is not None]
    assert group["plain"][0] == pytest.approx(np.mean(final), abs=1e-3)
    assert group["seeds"] == [0, 1]
    assert report.runs == 8
    assert [group["method"] for group in report.data["groups"]][:3] == ["rm", "nrm", "rnn"]
    assert groups_of(report.data, method="rm", task=NASTY)[0]["plain"] is None


def test_what_is_not_in_order_is_named(runs: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(runs, root)
    shutil.copytree(root / "ugly" / "rm-0", root / "ugly" / "rm-0-copy")
    (root / "plain" / "nrm-0" / "checkpoint.pt").write_bytes(b"damaged")
    (root / "ugly" / "rnn-0" / "checkpoint.pt").unlink()
    RunFolder(root / "begun").begin(read_record(root / "ugly" / "rm-0").config)
    report = build_report(root)
    problems = {str(path.relative_to(root)): reason for path, reason in report.problems.items()}
    assert set(problems) == {"broken", "ugly/rm-0-copy", "plain/nrm-0", "ugly/rnn-0"}
    assert "it is counted once" in problems["ugly/rm-0-copy"]
    assert "no episode was played" in problems["plain/nrm-0"]
    assert "no checkpoint.pt" in problems["ugly/rnn-0"]
    unfinished = {str(path.relative_to(root)): reason for path, reason in report.unfinished.items()}
    assert set(unfinished) == {"begun", "plain/rm-0"}
    assert unfinished["plain/rm-0"].endswith("of 40 episodes")
    assert groups_of(report.data, method="rm", task=NASTY)[0]["counted"] == 2
    assert groups_of(report.data, method="rnn", task=NASTY)[0]["recordings"][0]["seed"] == 1


def test_unfinished_runs_do_not_count_beside_finished_ones(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0)
    run(tmp_path / "b", "rm", 1, stop_after=10)
    (group,) = build_report(tmp_path).data["groups"]
    assert (group["counted"], group["finished"], len(group["seeds"])) == (1, 1, 2)
    assert len(group["curves"]["runs"]) == 1


def test_runs_with_other_settings_are_kept_apart(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0)
    run(tmp_path / "b", "rm", 1)
    run(tmp_path / "c", "rm", 0, agent=replace(AGENT, learning_rate=0.5))
    run(tmp_path / "d", "rm", 0, variant="slow", agent=replace(AGENT, learning_rate=1e-6))
    records = [read_record(tmp_path / name) for name in "abcd"]
    found, twice = grouped(records)
    assert not twice
    assert [(group.variant, len(group.records)) for group in found] == [
        ("", 2),
        ("learning_rate=0.5", 1),
        ("slow", 1),
    ]


def test_tasks_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, name="same")
    folder = run(tmp_path / "b", "rm", 0, name="same")
    config = json.loads((folder / "config.json").read_text())
    config["task"] = config["task"].replace("F lava", "F gem")
    (folder / "config.json").write_text(json.dumps(config))
    found, _ = grouped([read_record(tmp_path / name) for name in "ab"])
    assert sorted(group.task for group in found) == ["same (F pickaxe & F gem)", "same (F pickaxe & F lava)"]


def test_a_curve_is_the_mean_of_bins(tmp_path: Path) -> None:
    run(tmp_path / "a", "nrm", 0)
    record = read_record(tmp_path / "a")
    episodes = 1003
    returns = np.random.default_rng(0).normal(size=episodes)
    record = replace(
        record,
        config=replace(record.config, agent=replace(AGENT, episodes=episodes)),
        metrics={"return": returns},
        grounding={
            "episode": np.array([0.0, 400.0]),
            "accuracy": np.array([0.25, 0.75]),
            "accuracy_modulo_shortcuts": np.array([0.5, 1.0]),
        },
    )
    shown = curves(Group("map", "t", "nrm", "", (record,)))
    size, (line,) = shown["size"], shown["runs"]
    assert size == 6
    assert len(line["return"]) == -(-episodes // size) <= POINTS
    slow = [returns[start : start + size].mean() for start in range(0, episodes, size)]
    assert line["return"] == pytest.approx(slow, abs=0.051)
    assert line["modulo"] == [0.5 if min((n + 1) * size, episodes) < 400 else 1.0 for n in range(len(slow))]


def test_numbers_that_are_none_do_not_break_the_page(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "rm", 0)
    text = (folder / "metrics.csv").read_text().splitlines()
    (folder / "metrics.csv").write_text("\n".join([*text[:-1], "40,999,nan,3,0"]) + "\n")
    report = build_report(tmp_path)
    assert report.data["groups"][0]["last"] is None
    json.dumps(report.data, allow_nan=False)
    assert summary(Group("map", "t", "rm", "", (read_record(folder),)))["last"] is None


def test_recorded_episodes_follow_the_task(report: Report) -> None:
    machine = nrm.compile("F pickaxe & F lava", "pickaxe lava door gem empty")
    for group in report.data["groups"]:
        for recording in group["recordings"]:
            for episode in recording["episodes"]:
                cell, state, total = episode["start"], machine.initial, 0.0
                for step in episode["steps"]:
                    x, y = cell % 4, cell // 4
                    dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[step["action"]]
                    cell = min(max(y + dy, 0), 3) * 4 + min(max(x + dx, 0), 3)
                    assert step["cell"] == cell
                    assert step["letter"] == recording["letters"][recording["contents"][cell]]
                    state = machine.next_state(state, step["letter"])
                    assert step["state"] == state
                    total += step["reward"]
                assert total == pytest.approx(machine.outputs[state] - machine.outputs[machine.initial])
                assert (episode["end"] == "success") == bool(machine.accepting[state])
                beliefs = [step.get("belief") for step in episode["steps"]]
                assert (None in beliefs) == (group["method"] == "rnn")
                if group["method"] == "rm":
                    assert beliefs == [[[step["state"], 1.0]] for step in episode["steps"]]


def test_the_grounding_of_a_layout_that_is_drawn(tmp_path: Path) -> None:
    run(tmp_path / "a", "nrm", 0, world=DRAWN, agent=replace(AGENT, episodes=10, grounding_every=999))
    (group,) = build_report(tmp_path).data["groups"]
    (recording,) = group["recordings"]
    assert group["world"] == "map-episode"
    assert recording["drawn"]
    assert sorted(recording["contents"]) == [0] * 12 + [1, 2, 3, 4]
    truth = [recording["letters"][content] for content in recording["contents"]]
    assert recording["grounding"]["truth"] == truth
    verdicts = zip(truth, recording["grounding"]["learned"], recording["grounding"]["verdicts"], strict=True)
    assert all((a == b) == (verdict == "right") for a, b, verdict in verdicts)


def test_a_large_world_has_curves_and_no_picture(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, world=MinecraftConfig(size=40, pixels=80), agent=replace(AGENT, episodes=5))
    report = build_report(tmp_path)
    assert report.data["groups"][0]["recordings"] == []
    assert "up to 1,024 cells" in next(iter(report.problems.values()))


def test_the_page_is_one_file_that_loads_nothing(report: Report, tmp_path: Path) -> None:
    text = report.write(tmp_path / "new" / "page.html").read_text()
    assert "{{" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert "default-src 'none'" in text


def test_where_a_page_is_written(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, agent=replace(AGENT, episodes=5))
    assert write_report(tmp_path, "A title") == tmp_path / "index.html"
    assert "<title>A title</title>" in (tmp_path / "index.html").read_text()


def test_texts_cannot_leave_their_place(report: Report) -> None:
    text = replace(report, data={**report.data, "title": NASTY + "{{data}}"}).html()
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert "<!--" not in text
    assert "<img" not in text
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["title"] == NASTY + "{{data}}"


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there are no runs below .*; make one with 'nrm train"):
        build_report(tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        build_report(tmp_path / "nowhere")
    folder = run(tmp_path / "a", "rm", 0)
    (folder / "metrics.csv").write_text("nonsense\nx\n")
    with pytest.raises(FileError, match=r"no run below .* can be read; .*/a: "):
        build_report(tmp_path)
    (folder / "metrics.csv").unlink()
    with pytest.raises(FileError, match="has saved an episode yet"):
        build_report(tmp_path)


def test_the_drawing_has_every_state_and_move() -> None:
    pytest.importorskip("pygraphviz")
    machine = nrm.compile("F a & F b & G !c", "a b c d")
    shown = drawing.drawing(machine)
    assert shown is not None
    assert sorted(node["state"] for node in shown["nodes"]) == list(range(machine.states))
    pairs = {(state, int(target)) for state in range(machine.states) for target in machine.columns[state]}
    assert {(edge["from"], edge["to"]) for edge in shown["edges"]} == pairs | {(-1, machine.initial)}
    for node in shown["nodes"]:
        x, y = node["at"]
        assert 0 <= x <= shown["width"]
        assert 0 <= y <= shown["height"]


def test_without_graphviz_there_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("no pygraphviz")

    monkeypatch.setattr(drawing, "graphviz", missing)
    data = drawing.machine_data(nrm.compile("F a", "a b"))
    assert data["drawing"] is None
    assert data["moves"] == [[[1, "a"], [0, "b"]], [[1, "true"]]]
    assert [state["level"] for state in data["states"]] == [0, 100]


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("F a & F b", ["(a b)", "mirror images", "{c, d}", "Label a, c, d (3 of 4 symbols"]),
        ("true", ["teach nothing"]),
        ("F(a & F(b & F c))", ["only the true one"]),
    ],
)
def test_the_shortcuts_in_words(formula: str, said: list[str]) -> None:
    machine: MooreMachine = nrm.compile(formula, "a b c d")
    words = shortcut_words(shortcuts(machine))
    text = " ".join([*words["sentences"], *words["repair"]])
    assert all(part in text for part in said)
    assert [symbol["name"] for symbol in words["symbols"]] == ["a", "b", "c", "d"]


def test_pictures_read_back() -> None:
    image_module = pytest.importorskip("PIL.Image")
    import io

    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert (np.asarray(image_module.open(io.BytesIO(png(pixels)))) == pixels).all()
