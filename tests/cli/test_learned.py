"""What commands say about a machine that was learned."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from nrm.cli.learned import LearnedSymbols, learned_json, learned_lines
from nrm.runs.learned_machines import LearnedMachines
from nrm.tracking import Version
from tests.cli.conftest import Nrm
from tests.results.folders import run


def learned(episode: int, right: bool | None, explained: float | None = 1.0) -> LearnedMachines:
    version = Version(episode, (0.0, 100.0), ((0, 1), (1, 1)), ((3, 1), (0, 0)), (0, 1), (0, 1), None, right)
    guess, certainty = "looks like F a, with a = o1", "2 transitions seen (1 once)"
    return LearnedMachines((version,), ("o0", "o1"), guess, certainty, "", explained)


def test_the_last_machine_is_told_in_words() -> None:
    assert learned_lines(learned(74, True), 200) == [
        "machine: 2 states since episode 74, 2 transitions seen (1 once)",
        "it equals the task's machine, as far as episodes can show; found at episode 74",
        "it looks like F a, with a = o1",
    ]
    assert learned_lines(learned(74, False), 200)[1] == "it differs from the task's machine"
    assert len(learned_lines(learned(74, None), 200)) == 2
    assert learned_json(learned(74, True), 200) == {
        "states": 2,
        "since_episode": 74,
        "right": True,
        "found_at_episode": 74,
        "guess": "looks like F a, with a = o1",
        "explained": 1.0,
        "warning": "",
        "note": "",
    }


def test_no_machine_is_newer_than_its_run() -> None:
    assert "since episode 70," in learned_lines(learned(74, None), 70)[0]
    assert learned_json(learned(74, None), 70)["since_episode"] == 70
    assert learned_lines(learned(74, True), 70)[1].endswith("found at episode 70")
    assert learned_json(learned(74, True), 70)["found_at_episode"] == 70


def test_a_run_without_a_machine_says_why() -> None:
    nothing = LearnedMachines((), (), "", "", "", None)
    assert learned_lines(nothing, 5) == ["no machine yet: no episode has shown a change of potential"]
    assert learned_json(nothing, 5)["states"] is None


def test_a_machine_that_does_not_explain_the_last_episodes_is_warned_of() -> None:
    lines = learned_lines(learned(74, None, 0.9), 200)
    assert lines[-1].startswith("caution: the machine explains 90% of the last episodes only, so it is wrong")
    assert learned_json(learned(74, None, 0.9), 200)["warning"] == lines[-1]
    for share in (0.95, None):
        assert not any("caution" in line for line in learned_lines(learned(74, None, share), 200))


def test_the_share_of_explained_episodes_is_kept_in_the_file(tmp_path: Path) -> None:
    learned(74, False, 0.5).write(tmp_path)
    read = LearnedMachines.read(tmp_path)
    assert read is not None
    assert read.explained == 0.5
    assert "50%" in read.warning()


def test_a_machine_that_was_learned_anew_was_found_when_the_first_right_one_was() -> None:
    last = learned(74, True)
    earlier = [replace(last.versions[0], episode=episode, right=right) for episode, right in ((3, False), (9, True))]
    lines = learned_lines(replace(last, versions=(*earlier, *last.versions)), 200)
    assert lines[0].startswith("machine: 2 states since episode 74")
    assert lines[1].endswith("found at episode 9")


@pytest.fixture(scope="module", params=["automata-learning", "pure-learning"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run that has found its machine."""
    return str(
        run(tmp_path_factory.mktemp("runs") / "learned", request.param, formula="F(pickaxe & F lava)", episodes=300)
    )


def test_evaluate_tells_what_there_is_to_say(nrm_command: Nrm, trained: str) -> None:
    shown = nrm_command("evaluate", trained, "--episodes", "5").out
    rows = {" ".join(line.split()[:-2]): line.split()[-2:] for line in shown.splitlines()}
    assert rows["state accuracy"] == ["100.0%", "100.0%"]
    assert "grounding" not in shown
    assert "shortcuts" not in shown
    assert "it equals the task's machine, as far as episodes can show; found at episode " in shown
    data = json.loads(nrm_command("evaluate", trained, "--episodes", "5", "--json").out)
    assert data["state_accuracy"] == data["sampled"]["state_accuracy"] == 1.0
    assert data["grounding_accuracy"] is None


def test_watch_shows_the_state_that_is_believed(nrm_command: Nrm, trained: str, tmp_path: Path) -> None:
    legend, *steps = nrm_command("watch", trained).out.split("true symbol")
    told = re.match(r"learned symbols: a = (.*); b = (.*); all others change nothing\n", legend)
    assert told is not None
    read = [line for step in steps for line in step.splitlines()[:1]]
    assert read[-1].endswith(f"  read {told[2]} = b")
    assert all(re.search("  read .* = [ab]$|  read .*, which changes nothing$", line) for line in read)
    levels = []
    for step in steps:
        bars = [line.split() for line in step.splitlines() if line.startswith("  state ")]
        assert [bar[1] for bar in bars] == ["0", "1", "2"]
        levels += [float(bar[-1]) for bar in bars if "100%" in bar]
    assert len(levels) == len(steps)
    assert levels[-1] == 100.0
    assert nrm_command("watch", trained, "--out", str(tmp_path / "a.gif")).status == 0


def test_symbols_without_a_formula_go_by_their_numbers() -> None:
    learned = LearnedSymbols((("o0", ""), ("o1", "symbol 1"), ("o2", "symbol 1"), ("o3", "symbol 2")))
    assert learned.legend() == "learned symbols: symbol 1 = o1, o2; symbol 2 = o3; all others change nothing"
    assert [learned.said(letter) for letter in (-1, 0, 3)] == [
        "a new observation, which changes nothing",
        "o0, which changes nothing",
        "o3 = symbol 2",
    ]


def test_nothing_is_said_of_states_before_there_is_a_machine(nrm_command: Nrm, tmp_path: Path) -> None:
    folder = str(run(tmp_path / "early", "pure-learning", formula="F(pickaxe & F lava)", episodes=300, stop_after=1))
    assert "state accuracy" not in nrm_command("evaluate", folder, "--episodes", "2").out
    assert "  state " not in nrm_command("watch", folder).out
