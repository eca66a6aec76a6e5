"""`nrm shortcuts`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nrm
from tests.cli.conftest import Nrm

FIVE = ("--symbols", "a,b,c,d,e")


@pytest.mark.parametrize("task", nrm.logic.PAPER_TASKS, ids=lambda task: task.name)
def test_json_is_what_scripts_rely_on(nrm_command: Nrm, task: nrm.logic.PaperTask) -> None:
    data = json.loads(nrm_command("shortcuts", "--task", str(task.number), "--json").out)
    assert data["count"] == str(task.shortcuts)
    assert len(data["labels_needed"]) == [4, 4, 3, 2, 3, 3, 2, 2][task.number - 1]
    assert sorted(symbol for symbols in data["classes"] for symbol in symbols) == list("abcde")
    assert list(data["symbols"]) == list("abcde")


def test_parity_of_many_propositions(nrm_command: Nrm) -> None:
    names = [f"p{number}" for number in range(24)]
    parity = f"F({' ^ '.join(names)})"
    told = nrm_command("shortcuts", parity)
    assert told.status == 0
    assert "treats alike, (a guard too long to write out)" in " ".join(told.out.split())
    assert '["(a guard too long to write out)", ' in nrm_command("shortcuts", parity, "--json").out
    refused = nrm_command("shortcuts", parity, "--list", "2")
    assert (refused.status, refused.out) == (2, "")
    assert "--list is for at most" in refused.err


def test_json_of_one_task_whole(nrm_command: Nrm) -> None:
    data = json.loads(nrm_command("shortcuts", "F a & F b", *FIVE, "--json", "--list", "2").out)
    assert data["symmetries"] == 2
    assert data["class_internal"] == data["by_symmetry"] == 27
    assert data["classes"] == [["a"], ["b"], ["c", "d", "e"]]
    assert data["symbols"]["a"] == {"groundable": False, "confusable_with": ["b"], "by_symmetry": ["b"]}
    assert data["symbols"]["c"]["confusable_with"] == ["d", "e"]
    assert data["generators"] == [[[["a"], ["b"]], [["b"], ["a"]]]]
    assert data["potential"] == {"reward": "distinct", "count": "27", "symmetries": 1}
    assert data["maps"][0] == {symbol: symbol for symbol in "abcde"}
    assert len(data["maps"]) == 2


def test_the_report(nrm_command: Nrm) -> None:
    outcome = nrm_command("shortcuts", "F a & F b", *FIVE, "--list", "3")
    assert outcome.status == 0
    said = " ".join(outcome.out.split())
    assert "Of the 3,125 ways to read the 5 symbols, 54 earn the very same rewards on every string" in said
    assert "27 of them confuse at most what the task treats alike, {c, d, e}: harmless" in said
    assert "27 are mirror images, by the 2 symmetries that (a b) generate" in said
    assert "Label a, c, d, e (4 of 5 symbols; no smaller set will do)" in said
    assert "the reward scheme “distinct”, which leaves no mirror image, and 27 ways to read the symbols" in said
    assert "--and FORMULA" in said
    assert "identity" in outcome.out
    assert "… and 51 more" in outcome.out


def test_several_tasks(nrm_command: Nrm) -> None:
    further = ("--and", "F(a & F b) & G !c & G !d")
    outcome = nrm_command("shortcuts", "F a & F b & F c", *FIVE, *further)
    assert "only the true one" in outcome.out
    assert "Label" not in outcome.out
    data = json.loads(nrm_command("shortcuts", "F a & F b & F c", *FIVE, *further, "--and", "F e", "--json").out)
    assert (data["count"], data["groundable"], data["labels_needed"]) == ("1", True, [])
    assert len(data["tasks"]) == 3


def test_propositions_that_the_task_does_not_use(nrm_command: Nrm) -> None:
    out = nrm_command("shortcuts", "F a", "--propositions", "a,b").out
    assert "not used by the task" in out
    assert "treated alike" not in out
    symbols = json.loads(nrm_command("shortcuts", "F a", "--propositions", "a,b", "--json").out)["symbols"]
    assert (symbols["a"]["used"], symbols["b"]["used"]) == (True, False)


def test_a_single_symbol(nrm_command: Nrm) -> None:
    out = nrm_command("shortcuts", "F a", "--symbols", "a").out
    assert "nothing to confuse it with" in out
    assert "teach nothing" not in out
    assert "Label" not in out


def test_further_tasks_have_the_first_ones_rewards(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text('formula = "F a"\nsymbols = ["a", "b", "c", "d"]\nreward = "distinct"\n')

    def count(*arguments: str) -> int:
        return int(json.loads(nrm_command("shortcuts", *arguments, "--and", "F b & F c", "--json").out)["count"])

    four = ("--symbols", "a,b,c,d")
    assert count("F a", *four) == count("--task", str(path), "--reward", "distance") == 2
    assert count("F a", *four, "--reward", "distinct") == count("--task", str(path)) == 1
    path.write_text('formula = "F a"\nsymbols = ["a", "b"]\nlevels = [0, 7]\n')
    assert "name a reward scheme (--reward)" in nrm_command("shortcuts", "--task", str(path), "--and", "F b").err


def test_a_machine_file_does_not_tell_its_scheme(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    nrm.save_machine(nrm.compile("F a", "a,b"), path)
    further = ("shortcuts", "--task", str(path), "--and", "F b")
    assert "further tasks: distance (choose with --reward)" in nrm_command(*further).out
    assert json.loads(nrm_command(*further, "--json").out)["further_reward"] == "distance"
    assert "further tasks" not in nrm_command(*further, "--reward", "acceptance").out
    assert "further tasks" not in nrm_command("shortcuts", "--task", str(path)).out


def test_propositions(nrm_command: Nrm) -> None:
    data = json.loads(nrm_command("shortcuts", "F a & F b", "--json").out)
    assert (data["kind"], data["count"], data["renamings"]) == ("propositional", "2", "2")
    assert "2 of them rename propositions" in nrm_command("shortcuts", "F a & F b").out


def test_a_thousand_symbols_stay_readable(nrm_command: Nrm) -> None:
    names = ",".join(f"s{number}" for number in range(1000))
    outcome = nrm_command("shortcuts", "F s0 & F s1", "--symbols", names, "--list", "10")
    assert outcome.status == 0
    assert len(outcome.out) < 4000
    assert "2.712 × 10^2,993 (2,994 digits)" in outcome.out
    data = json.loads(nrm_command("shortcuts", "F s0 & F s1", "--symbols", names, "--json").out)
    assert int(data["count"]) == 2 * 998**998
    assert data["symbols"]["s5"]["confusable_with"][:4] == ["s2", "s3", "s4", "s6"]
    assert len(data["symbols"]["s5"]["confusable_with"]) == 200
    assert data["symbols"]["s5"]["confusable_count"] == 997
    assert "confusable_count" not in data["symbols"]["s0"]
    assert len(data["labels_needed"]) == 999


def test_many_classes_stay_readable(nrm_command: Nrm) -> None:
    names = [f"s{number}" for number in range(45)]
    outcome = nrm_command(
        "shortcuts", " | ".join(f"({'X ' * i}{n})" for i, n in enumerate(names)), "--symbols", ",".join(names)
    )
    assert outcome.status == 0
    assert "more classes" in outcome.out


def test_numbers_of_many_digits(nrm_command: Nrm) -> None:
    names = ",".join(f"s{number}" for number in range(1500))
    data = json.loads(nrm_command("shortcuts", "F s0 & F s1 & F s2", "--symbols", names, "--json").out)
    assert len(data["count"]) > 4300
    assert data["class_internal"].isdigit()
    assert data["symmetries"] == 6


@pytest.mark.parametrize("formula", ["a & !a", "a | !a"])
def test_a_task_that_says_nothing(nrm_command: Nrm, formula: str) -> None:
    outcome = nrm_command("shortcuts", formula, "--symbols", "a,b")
    assert outcome.status == 0
    assert "teach nothing about them" in " ".join(outcome.out.split())


def test_machine_files(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    nrm.save_machine(nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS), path)
    assert json.loads(nrm_command("shortcuts", "--task", str(path), "--json").out)["count"] == "54"
    broken = json.loads(nrm_command("shortcuts", "--task", str(path), "--reward", "distinct", "--json").out)
    assert broken["count"] == "27"
    more = json.loads(nrm_command("shortcuts", "--task", str(path), "--and", "F a", "--json").out)
    assert more["count"] == "27"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("F a", *FIVE, "--and", "F z"), "--and 'F z': unknown symbol 'z'"),
        (("F a", *FIVE, "--and", "F ("), "nrm: error:"),
        (("F a", "--task", "m.json"), "--task is given twice"),
        (("--task", "absent.json"), "absent.json"),
        ((), "no task is given"),
        (("F a", *FIVE, "--list", "-1"), "--list takes a number of maps, not -1"),
        (("F a", *FIVE, "--reward", "0,1", "--and", "F b"), "name a reward scheme"),
        (("F a", *FIVE, "--reward", "dist"), "unknown reward scheme"),
    ],
)
def test_bad_input_is_told(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    outcome = nrm_command("shortcuts", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err
