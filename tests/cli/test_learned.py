"""What commands say about a machine that was learned."""

from __future__ import annotations

from pathlib import Path

from nrm.cli.learned import learned_json, learned_lines
from nrm.runs.learned_machines import LearnedMachines
from nrm.tracking import Version


def learned(episode: int, right: bool | None, explained: float | None = 1.0) -> LearnedMachines:
    version = Version(episode, (0.0, 100.0), ((0, 1), (1, 1)), ((3, 1), (0, 0)), (0, 1), (0, 1), None, right)
    guess, certainty = "looks like F a, with a = o1", "2 transitions seen (1 once)"
    return LearnedMachines((version,), ("o0", "o1"), guess, certainty, "", explained)


def test_the_last_machine_is_told_in_words() -> None:
    assert learned_lines(learned(74, True), 200) == [
        "machine: 2 states since episode 74, 2 transitions seen (1 once)",
        "it is the task's, as far as episodes can show",
        "it looks like F a, with a = o1",
    ]
    assert learned_lines(learned(74, False), 200)[1] == "it is not the task's"
    assert len(learned_lines(learned(74, None), 200)) == 2
    assert learned_json(learned(74, True), 200) == {
        "states": 2,
        "since_episode": 74,
        "right": True,
        "guess": "looks like F a, with a = o1",
        "explained": 1.0,
        "warning": "",
        "note": "",
    }


def test_no_machine_is_newer_than_its_run() -> None:
    assert "since episode 70," in learned_lines(learned(74, None), 70)[0]
    assert learned_json(learned(74, None), 70)["since_episode"] == 70


def test_a_run_without_a_machine_says_why() -> None:
    nothing = LearnedMachines((), (), "", "", "", None)
    assert learned_lines(nothing, 5) == ["no machine yet: no episode has shown a change of level"]
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
