"""An environment in a folder of the user's, from the command line alone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from nrm.cli.watch import _blocks
from tests.cli.conftest import Nrm
from tests.said import names

MINE = Path(__file__).parent.parent / "envs" / "own.py"
TASK = ("--task", "F(mail & F desk)")
SYMBOLS = ("--env.symbols", "mail", "desk", "floor")
QUICK = ("--total-episodes", "300", "--quiet")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of the user's, which is the current one."""
    shutil.copy(MINE, tmp_path / "mine.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("/nowhere")  # restores the path at the end
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return tmp_path


def test_train_evaluate_watch_report_and_sweep(nrm_command: Nrm, mine: Path) -> None:
    run = ("train", "--env", "mine:Corridor", "--env.label", "mine:holds", *SYMBOLS, *TASK, "--out", "runs/one")
    trained = nrm_command(*run, *QUICK, "--env.kwargs.size", "2", "--grounding.every", "40")
    assert (trained.status, trained.err) == (0, "")
    assert "nrm evaluate runs/one --trust" in trained.out
    config = json.loads((mine / "runs/one/config.json").read_text())
    assert config["env"] == "mine:Corridor"
    assert config["settings"]["env"]["label"] == "mine:holds"
    assert config["settings"]["env"]["kwargs"] == {"size": 2}

    found = json.loads(nrm_command("evaluate", "runs/one", "--trust", "--episodes", "10", "--json").out)
    assert found["success_rate"] >= 0.9
    assert found["grounding_accuracy"] is not None

    seen = nrm_command("watch", "--trust", "runs/one")
    assert seen.status == 0
    assert "true symbol mail" in seen.out
    filmed = nrm_command("watch", "--trust", "runs/one", "--out", "one.gif")
    assert "wrote one.gif" in filmed.out
    assert (mine / "one.gif").read_bytes().startswith(b"GIF8")

    resumed = nrm_command("train", "--trust", "--resume", "runs/one", "--quiet")
    assert "is already finished" in resumed.out

    reported = nrm_command("report", "--trust", "runs")
    assert (reported.status, reported.err) == (0, "")

    (mine / "grid.toml").write_text(
        'tasks = ["F(mail & F desk)"]\nenvs = ["mine:Corridor"]\nmethods = ["rm"]\nepisodes = 30\n'
        '[settings.env]\nlabel = "mine:holds"\nsymbols = ["mail", "desk", "floor"]\nkwargs = {size = 2}\n'
    )
    swept = nrm_command("sweep", "--trust", "grid.toml", "--out", "grid", "--quiet", "--processes", "1")
    assert swept.status == 0
    assert "mine:Corridor" in swept.out


def test_a_machine_file_in_place_of_a_task(nrm_command: Nrm, mine: Path) -> None:
    nrm_command("compile", TASK[1], "--symbols", "mail,desk,floor", "--out", "order.json")
    env = ("--env", "mine:Corridor", "--env.label", "mine:holds", "--method", "rm")
    trained = nrm_command("train", *env, "--task", "order.json", "--out", "run", *QUICK)
    assert trained.status == 0
    (mine / "order.json").unlink()  # the run remembers the machine
    assert nrm_command("evaluate", "--trust", "run", "--episodes", "5").status == 0
    assert nrm_command("train", "--trust", "--resume", "run", "--quiet").status == 0


def test_an_environment_with_a_task_and_one_that_says_what_holds(nrm_command: Nrm, mine: Path) -> None:
    for out, arguments in (("a", ("mine:with_task",)), ("b", ("mine:Speaking", *TASK))):
        done = nrm_command(
            "train", "--env", *arguments, "--method", "rm", "--total-episodes", "20", "--out", out, "--quiet"
        )
        assert (done.status, done.err) == (0, "")


def test_a_run_whose_module_is_gone(nrm_command: Nrm, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ("--env", "mine:Speaking", *TASK, "--method", "rm", "--out", "runs/one", "--total-episodes", "20", "--quiet")
    assert nrm_command("train", *run).status == 0
    (mine / "mine.py").unlink()
    monkeypatch.delitem(sys.modules, "mine")
    lost = nrm_command("evaluate", "--trust", "runs/one")
    assert lost.status == 2
    assert "the environment 'mine:Speaking' cannot be found: there is no module 'mine' here" in lost.err
    assert "remove" not in lost.err
    reported = nrm_command("report", "--trust", "runs")
    assert reported.status == 0
    assert "only its numbers are shown: the environment 'mine:Speaking' cannot be found" in reported.err


def test_an_environment_that_no_seed_repeats(nrm_command: Nrm, mine: Path) -> None:
    run = ("--env", "mine:Unseeded", "--env.label", "mine:holds", *SYMBOLS, *TASK, "--method", "rm", "--quiet")
    done = nrm_command("train", *run, "--out", "run", "--total-episodes", "20")
    assert done.status == 0
    assert "nrm: warning: the environment cannot be seeded: two episodes with one seed differ" in done.err
    assert nrm_command("evaluate", "--trust", "run", "--episodes", "5").status == 0
    config = mine / "run" / "config.json"
    config.write_text(config.read_text().replace('"total_episodes": 20', '"total_episodes": 40'))
    resumed = nrm_command("train", "--trust", "--resume", "run", "--quiet")
    assert resumed.status == 2
    assert "cannot be resumed" in resumed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--env", "map", "--task", "1", "--env.label", "a:b"), "'env.label'"),
        (("--env", "mine:Corridor", "--machine", "m.json", *TASK), "--task … twice"),
        (("--env", "mine:Corridor", "--task", "m.json"), "m.json"),
        (("--env", "mine:Corridor"), "no task … mine:Corridor"),
        (("--env", "mine:Corridor", *TASK, "--env.label", "mine:holds"), "symbols"),
        (
            ("--env", "mine:Corridor", "--task", "F(mail & X F dexk)", "--env.label", "mine:holds"),
            "'floor' … step 1 of episode 1 … mail, dexk",
        ),
        (
            ("--env", "mine:Corridor", "--task", "F(mail & F dexk)", "--env.label", "mine:holds", *SYMBOLS),
            "'dexk' … mail, desk, floor … 'desk'",
        ),
        (("--env", "mine:Corridor", "--task", "1"), "--env.symbols"),
        (("--env", "mine:failing", *TASK), "mine:failing … RuntimeError: the simulator is not running"),
        (("--env", "mine:Corridor", "--env.kwargs.size"), "--env.kwargs.size 8"),
        (
            ("--env", "mine:Corridor", *TASK, "--env.kwargs.colour", "red"),
            "'colour' … size, noise",
        ),
        (
            ("--env", "mine:Pieces", *TASK, "--env.label", "mine:holds", *SYMBOLS),
            "gymnasium.wrappers.FlattenObservation",
        ),
    ],
)
def test_what_cannot_be_trained_says_why(
    nrm_command: Nrm, mine: Path, arguments: tuple[str, ...], message: str
) -> None:
    refused = nrm_command("train", *arguments, "--out", "run")
    assert refused.status == 2
    assert names(refused.err, message)
    assert not (mine / "run").exists()


LATE = ("--env", "mine:Corridor", "--env.kwargs.size", "24", *SYMBOLS, *TASK, "--quiet", "--out", "run")


def test_a_run_that_fails_before_anything_is_trained_leaves_the_way_free(nrm_command: Nrm, mine: Path) -> None:
    failed = nrm_command("train", *LATE, "--env.label", "mine:late_label", "--total-episodes", "9")
    assert failed.status == 2
    assert "'flor' at step 27 of episode 1; did you mean 'floor'?" in failed.err
    assert "--env.symbols; for several at once" in failed.err
    assert not (mine / "run").exists()
    assert nrm_command("train", *LATE, "--env.label", "mine:holds", "--total-episodes", "9").status == 0


def test_a_grid_with_a_label_that_is_corrected(nrm_command: Nrm, mine: Path) -> None:
    grid = (
        'tasks = ["F(mail & F desk)"]\nenvs = ["mine:Corridor"]\nmethods = ["rm"]\nepisodes = 9\n'
        '[settings.env]\nlabel = "mine:late_label"\nsymbols = ["mail", "desk", "floor"]\nkwargs = {size = 24}\n'
    )
    (mine / "grid.toml").write_text(grid)
    assert nrm_command("sweep", "--trust", "grid.toml", "--out", "out", "--processes", "1").status != 0
    said = (mine / "out" / "failed.md").read_text()
    assert "'flor'" in said
    assert "settings.env.symbols" in said
    assert not list((mine / "out" / "runs").iterdir())


def test_an_environment_that_promises_pictures_and_draws_none(nrm_command: Nrm, mine: Path) -> None:
    env = ("--env", "mine:Undrawn", "--env.label", "mine:holds", *SYMBOLS, "--method", "rm", "--total-episodes", "9")
    assert nrm_command("train", *env, *TASK, "--quiet", "--out", "runs/one").status == 0
    seen = nrm_command("watch", "--trust", "runs/one")
    assert seen.status == 0
    assert "observation [" in seen.out
    told = "nrm: warning: mine:Undrawn says that it renders as 'rgb_array', but its render() draws nothing"
    assert seen.err.count(told) == 1
    filmed = nrm_command("watch", "--trust", "runs/one", "--out", "one.gif")
    assert (filmed.status, "mine:Undrawn renders no images" in filmed.err) == (2, True)
    reported = nrm_command("report", "--trust", "runs")
    assert (reported.status, reported.err.count(told)) == (0, 1)
    assert "no episode was played" not in (mine / "runs/index.html").read_text()


def test_blocks_of_a_picture() -> None:
    picture = np.zeros((4, 2, 3), dtype=np.uint8)
    picture[0, 0] = (255, 0, 0)
    picture[3, 1] = (0, 0, 255)
    text = _blocks(picture)
    assert text.plain == "▀▀\n▀▀\n"
    styles = [str(span.style) for span in text.spans]
    assert styles[0] == "#ff0000 on #000000"
    assert styles[3] == "#000000 on #0000ff"
    assert _blocks(np.zeros((200, 100, 3), dtype=np.uint8)).plain.count("\n") == 64


def test_a_grounder_from_another_run(nrm_command: Nrm, mine: Path) -> None:
    env = ("--env", "mine:Speaking", "--quiet", "--total-episodes", "20")
    assert nrm_command("train", *env, "--task", "F mail", "--out", "one").status == 0
    again = ("train", *env, *TASK, "--grounding.initial", "one", "--out")
    assert nrm_command(*again, "two", "--method", "frozen").status == 0
    config = json.loads((mine / "two" / "config.json").read_text())
    assert (config["method"], config["settings"]["grounding"]["initial"]) == ("frozen", "one")
    for method in ("rm", "pure-learning"):
        assert "'grounding'" in nrm_command(*again, "three", "--method", method).err
    assert "holds no run" in nrm_command("train", *env, *TASK, "--grounding.initial", "nowhere", "--out", "four").err


def test_continuous_actions_are_learned_with_ppo_whatever_makes_them_so(nrm_command: Nrm, mine: Path) -> None:
    env = ("--env", "mine:Listed", "--env.label", "mine:holds", *SYMBOLS, *TASK, "--method", "rm", "--quiet")
    for out, more, algorithm in (("a", (), "a2c"), ("b", ("--env.kwargs.continuous", "true"), "ppo")):
        done = nrm_command("train", *env, *more, "--total-episodes", "20", "--out", out)
        assert (done.status, done.err) == (0, "")
        config = json.loads((mine / out / "config.json").read_text())
        assert config["algorithm"] == algorithm
        assert ("norm_adv" in config["settings"]["algorithm"]) == (algorithm == "ppo")
        assert nrm_command("evaluate", "--trust", out, "--episodes", "5").status == 0
    changed = nrm_command(
        "train",
        *env,
        *more,
        "--total-episodes",
        "20",
        "--out",
        "c",
        "--num-envs",
        "4",
        "--algorithm.update-epochs",
        "1",
    )
    assert changed.status == 0
    assert json.loads((mine / "c" / "config.json").read_text())["settings"]["algorithm"]["update_epochs"] == 1
    assert "--algorithm.update-epochs" in nrm_command("train", "--env", "mine:Listed", *more, "--help-all").out
    assert "--algorithm.update-epochs" not in nrm_command("train", "--env", "mine:Listed", "--help-all").out
    assert "--algorithm.num-steps" in nrm_command("train", "--env", "mine:failing", "--help-all").out


def test_an_environment_without_an_end_is_trained_to_the_end(
    nrm_command: Nrm, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nrm.envs.gym.config.MAX_STEPS", 20)
    run = ("--env", "mine:Endless", "--env.label", "mine:holds", *SYMBOLS, "--task", "F(mail & F desk) & F mail")
    done = nrm_command(
        "train", *run, "--end", "limit", "--method", "rm", "--total-episodes", "30", "--quiet", "--out", "run"
    )
    assert done.status == 0
    assert done.err.count("mine:Endless has no TimeLimit; an episode was truncated after 20 steps") == 1
    assert "--env.steps 200" in done.err
