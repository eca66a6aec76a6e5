"""What commands say about a machine that was learned."""

from __future__ import annotations

from nrm.cli.learned import learned_json, learned_lines
from nrm.runs.learned_machines import LearnedMachines
from nrm.tracking import Version


def learned(episode: int, right: bool | None) -> LearnedMachines:
    version = Version(episode, (0.0, 100.0), ((0, 1), (1, 1)), ((3, 1), (0, 0)), (0, 1), (0, 1), None, right)
    return LearnedMachines((version,), ("o0", "o1"), "looks like F a, with a = o1", "2 transitions seen (1 once)", "")


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
        "note": "",
    }


def test_no_machine_is_newer_than_its_run() -> None:
    assert "since episode 70," in learned_lines(learned(74, None), 70)[0]
    assert learned_json(learned(74, None), 70)["since_episode"] == 70


def test_a_run_without_a_machine_says_why() -> None:
    nothing = LearnedMachines((), (), "", "", "")
    assert learned_lines(nothing, 5) == ["no machine yet: no episode has shown a change of level"]
    assert learned_json(nothing, 5)["states"] is None
