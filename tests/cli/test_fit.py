"""`nrm fit`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import envs

import nrm
from nrm.errors import LearningError
from nrm.neural import FitConfig, load_model, record_episodes, save_episodes
from tests.cli.conftest import Nrm
from tests.said import names


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random episodes of task 3 in the map environment, with true symbols."""
    machine = nrm.compile(nrm.logic.paper_task(3).formula(envs.SYMBOLS), envs.SYMBOLS)
    recorded = envs.record_many(machine, 80, 0)
    return save_episodes(
        tmp_path_factory.mktemp("fit") / "episodes.npz",
        record_episodes(
            [envs.as_map(episode.cells) for episode in recorded],
            [episode.rewards for episode in recorded],
            [episode.symbols for episode in recorded],
            envs.SYMBOLS,
        ),
    )


def test_grounding_is_learned_diagnosed_and_saved(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    outcome = nrm_command("fit", str(episodes), "--task", "3", "--out", str(tmp_path))
    assert outcome.status == 0, outcome.err
    assert "restart 0:" in outcome.out
    assert "100.0% up to equivalence" in " ".join(outcome.out.split())
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["diagnosis"]["accuracy_modulo_shortcuts"] == 1
    assert record["explained"] is True
    assert record["summary"]["fit"].endswith("yes")
    assert "note" not in record["summary"]
    model = load_model(tmp_path / "model.pt")
    assert model.machine.alphabet.symbols == envs.SYMBOLS


def test_the_task_may_be_a_machine_file(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    machine = nrm.compile(nrm.logic.paper_task(3).formula(envs.SYMBOLS), envs.SYMBOLS)
    nrm.save_machine(machine, tmp_path / "task.json")
    outcome = nrm_command("fit", str(episodes), "--task", str(tmp_path / "task.json"), "--out", str(tmp_path / "fit"))
    assert outcome.status == 0, outcome.err
    assert "100.0% up to equivalence" in " ".join(outcome.out.split())


def test_a_reward_machine_file_takes_its_symbols_from_the_episodes(
    nrm_command: Nrm, episodes: Path, tmp_path: Path
) -> None:
    a, b = envs.SYMBOLS[:2]
    path = tmp_path / "t.txt"
    edges = (f"(0, 1, '{a}', ConstantRewardFunction(50))", f"(1, 2, '{b}', ConstantRewardFunction(50))")
    path.write_text("\n".join(["0", "[2]", *edges, f"(0, 0, '!{a}', ConstantRewardFunction(0))"]) + "\n")
    command = ("fit", str(episodes), "--task", str(path), "--epochs", "60", "--restarts", "4")
    refused = nrm_command(*command, "--out", str(tmp_path / "first"))
    assert refused.status != 0
    assert "fall" in refused.err
    path.write_text(path.read_text() + f"(1, 1, '!{b}', ConstantRewardFunction(0))\n")
    outcome = nrm_command(*command, "--out", str(tmp_path / "second"))
    assert "up to equivalence" in outcome.out, outcome.err


def test_a_machine_is_learned_from_true_symbols(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    outcome = nrm_command(
        "fit",
        str(episodes),
        "--learn",
        "machine",
        "--task",
        "3",
        "--max-states",
        "6",
        "--out",
        str(tmp_path),
        "--quiet",
    )
    assert outcome.status == 0, outcome.err
    assert "restart 0:" not in outcome.out
    assert "the machine is equivalent" in outcome.out
    assert nrm.load_machine(tmp_path / "machine.json").states == 3


def test_a_machine_is_learned_from_symbols_that_are_sometimes_wrong(nrm_command: Nrm, tmp_path: Path) -> None:
    machine = nrm.compile(nrm.logic.paper_task(3).formula(envs.SYMBOLS), envs.SYMBOLS)
    recorded, generator = envs.record_many(machine, 80, 0), np.random.default_rng(0)
    told = [
        np.where(generator.random(len(one.symbols)) < 0.03, (one.symbols + 1) % len(envs.SYMBOLS), one.symbols)
        for one in recorded
    ]
    seen = [envs.as_map(one.cells) for one in recorded]
    file = save_episodes(
        tmp_path / "e.npz", record_episodes(seen, [one.rewards for one in recorded], told, envs.SYMBOLS)
    )
    arguments = ("fit", str(file), "--learn", "machine", "--task", "3", "--out", str(tmp_path / "fit"))
    assert nrm_command(*arguments).status == 2
    outcome = nrm_command(*arguments, "--label_noise", "0.03")
    assert "the machine is equivalent" in " ".join(outcome.out.split()), outcome.out + outcome.err


def test_both_are_learned_without_a_task(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    outcome = nrm_command("fit", str(episodes), "--learn", "both", "--max-states", "6", "--out", str(tmp_path))
    assert outcome.status == 0, outcome.err
    assert "3 states" in outcome.out
    said = " ".join(outcome.out.split())
    # The pickaxe lies at (1, 1) and lava at (3, 3), which coordinates from -1 to 1 call so.
    assert "(-0.333333, -0.333333) (truly pickaxe 100%)" in said
    assert "(1, 1) (truly lava 100%)" in said
    assert (tmp_path / "machine.json").exists()


def test_a_task_that_the_told_symbols_contradict_is_named(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    wrong = nrm_command(
        "fit", str(episodes), "--learn", "machine", "--task", "F(lava & F pickaxe)", "--out", str(tmp_path)
    )
    assert "contradict" in " ".join((wrong.out + wrong.err).split())


def test_symbols_are_matched_by_name(nrm_command: Nrm, tmp_path: Path) -> None:
    # `F a` with one number a step: a where it is positive. The file lists its symbols in another order than the task.
    walks = [np.array(walk) for walk in ([-1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, -1.0])]
    letters = [np.where(walk > 0, 1, 0) for walk in walks]
    rewards = [np.diff(100.0 * np.maximum.accumulate(walk > 0), prepend=0) for walk in walks]
    path = str(save_episodes(tmp_path / "walks.npz", record_episodes(walks, rewards, letters, ("b", "a"))))
    found = nrm_command("fit", path, "--task", "F a", "--symbols", "a,b", "--out", str(tmp_path / "one"))
    assert found.status == 0, found.err
    assert "100.0% exact" in " ".join(found.out.split())
    other = nrm_command("fit", path, "--task", "F x", "--symbols", "x,y", "--out", str(tmp_path / "two"))
    assert other.status == 2
    assert "unknown symbol 'b'" in other.err
    few = ("--restarts", "1", "--epochs", "5", "--out", str(tmp_path / "three"))
    wrong = nrm_command("fit", path, "--task", "F b", "--symbols", "a,b", *few)
    assert "not the task of the log" in " ".join(wrong.out.split())


def test_what_cannot_be_saved_is_refused_before_learning(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    command = ("fit", str(episodes), "--task", "3", "--epochs", "1", "--restarts", "1", "--out")
    (tmp_path / "old").mkdir()
    for name in ("record.json", "machine.json"):
        (tmp_path / "old" / name).write_text("precious")
    refused = nrm_command(*command, str(tmp_path / "old"))
    assert refused.status == 2
    assert "record.json and machine.json" in refused.err
    assert "restart" not in refused.out
    assert (tmp_path / "old" / "record.json").read_text() == "precious"
    (tmp_path / "file").write_text("x")
    for place, message in (
        (tmp_path / "file", "cannot make the folder"),
        (tmp_path / "file" / "in", "cannot make the folder"),
    ):
        blocked = nrm_command(*command, str(place))
        assert blocked.status == 2
        assert names(blocked.err, message)
        assert "restart" not in blocked.out


def test_a_negative_answer_has_status_1(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    outcome = nrm_command(
        "fit",
        str(episodes),
        "--task",
        "3",
        "--epochs",
        "1",
        "--restarts",
        "1",
        "--out",
        str(tmp_path / "new" / "folder"),
    )
    assert outcome.status == 1
    said = " ".join(outcome.out.split())
    assert "no restart explains all rewards" in said
    assert "more --restarts" in said
    assert "--maximisation" not in said  # a table of observations has no M-step that could be another


def test_symbols_that_the_rewards_dispute_are_named(nrm_command: Nrm, tmp_path: Path) -> None:
    # A number that never comes again, about 0 (none), 1 (a) or 2 (b): too few epochs to learn it.
    generator = np.random.default_rng(0)
    machine = nrm.compile("F(a & F b)", "none a b")
    letters = generator.integers(3, size=(60, 6))
    seen = [row + generator.uniform(-0.3, 0.3, 6) for row in letters]
    traces = [[machine.alphabet.symbols[letter] for letter in row] for row in letters]
    paid = [np.array(machine.run(trace).rewards) for trace in traces]
    path = str(save_episodes(tmp_path / "log.npz", record_episodes(seen, paid, symbol_names=machine.alphabet.symbols)))
    command = ("fit", path, "--task", "F(a & F b)", "--restarts", "1", "--epochs")
    outcome = nrm_command(*command, "20", "--out", str(tmp_path / "few"))
    said = " ".join(outcome.out.split())
    assert outcome.status == 1, outcome.err
    assert "20 epochs, epoch limit reached" in said
    assert re.search(r"call \d+ steps? (none|a|b) that the grounder calls (none|a|b)", said)
    assert "--epochs 80, --maximisation posterior" in said
    assert nrm_command(*command, "400", "--out", str(tmp_path / "many")).status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "FILE … nrm fit"),
        (["nowhere.npz", "--task", "1"], "nowhere.npz"),
        (["EPISODES"], "needs a task"),
        (["EPISODES", "--learn", "machine", "--grounder", "mlp"], "drop --grounder"),
        (["EPISODES", "--learn", "both", "--symbols", "a,b"], "--symbols … task"),
        (["EPISODES", "--learn", "machine", "--symbols", "a,b"], "--symbols … task"),
        (["EPISODES", "--task", "9"], "'9'"),
        (["EPISODES", "--task", "4"], "potentials"),
        (["EPISODES", "--task", "F zebra"], "zebra"),
        (["EPISODES", "--task", "3", "--txt", "terminal"], "--txt"),
        (["EPISODES", "--task", "3", "--epochs", "0"], "--epochs … 0"),
        (
            ["EPISODES", "--task", "3", "--learn", "both", "--max-states", "0"],
            "--max-states … 0",
        ),
        (
            ["EPISODES", "--learn", "machine", "--label_noise", "0.6"],
            "--label-noise … 0.5 … 0.6",
        ),
        (["EPISODES", "--task", "3", "--label_noise", "0.1"], "noise … machine"),
        (["EPISODES", "--task", "3", "--grounder", "cnn"], "(8, 8, channels) … (2,)"),
        (["EPISODES", "--task", "3", "--grounder", "mpl"], "'mpl' … 'mlp'"),
        (["EPISODES", "--task", "3", "--grounder", "nowhere:Net"], "'nowhere'"),
    ],
)
def test_bad_input_is_refused(
    nrm_command: Nrm, episodes: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    filled = [str(episodes) if argument == "EPISODES" else argument for argument in arguments]
    outcome = nrm_command("fit", *filled, "--out", str(tmp_path / "deep" / "folder"))
    assert outcome.status == 2
    assert names(outcome.err, message)
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []  # a failed fit leaves no folder


def test_every_setting_of_learning_is_an_option(
    nrm_command: Nrm, episodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def fake(model: object, episodes: object, learn: str, config: FitConfig, progress: object) -> None:
        given.append(config)
        raise LearningError("enough")

    monkeypatch.setattr("nrm.cli.fitting.fit", fake)
    options = ["--epochs", "7", "--held-out", "0.3", "--seed", "5"]
    assert nrm_command("fit", str(episodes), "--task", "3", "--out", str(tmp_path / "out"), *options).status == 2
    assert given == [FitConfig(epochs=7, held_out=0.3, seed=5)]


def test_the_command_line_is_read_without_pytorch() -> None:
    code = "import sys, nrm.cli; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_grounder_of_ones_own_is_named_by_its_module(
    nrm_command: Nrm, episodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_networks.py").write_text(
        "from nrm.neural import MlpGrounder\n\nclass Wide(MlpGrounder):\n    label = 'wider'\n"
    )
    command = ("fit", str(episodes), "--task", "3", "--epochs", "5", "--restarts", "1", "--out", "out")
    outcome = nrm_command(*command, "--grounder", "my_networks:Wide")
    assert outcome.status == 1, outcome.err
    assert type(load_model("out/model.pt", trust=True).grounder).__name__ == "Wide"


def test_a_task_that_contradicts_the_episodes_is_named(nrm_command: Nrm, tmp_path: Path) -> None:
    path = save_episodes(tmp_path / "odd.npz", record_episodes([np.zeros((3, 2))], [np.array([50.0, 50.0, -50.0])]))
    outcome = nrm_command("fit", str(path), "--task", "1", "--out", str(tmp_path))
    assert outcome.status == 2
    assert "episode 0, step 2" in outcome.err
    assert "potential 50 cannot follow" in outcome.err


def test_symbols_of_the_file_must_fit_the_task(nrm_command: Nrm, tmp_path: Path) -> None:
    recorded = record_episodes([np.zeros((2, 2))], [np.zeros(2)], [np.array([0, 7])])
    path = save_episodes(tmp_path / "more.npz", recorded)
    outcome = nrm_command("fit", str(path), "--task", "1", "--epochs", "1", "--restarts", "1", "--out", str(tmp_path))
    assert outcome.status == 2
    assert "7" in outcome.err
    plain = save_episodes(tmp_path / "plain.npz", record_episodes([np.zeros((2, 2))], [np.zeros(2)]))
    outcome = nrm_command("fit", str(plain), "--learn", "machine", "--out", str(tmp_path))
    assert "'symbols'" in outcome.err


def test_training_begins_with_the_fitted_grounder(nrm_command: Nrm, episodes: Path, tmp_path: Path) -> None:
    fitted, run = str(tmp_path / "fit"), str(tmp_path / "run")
    assert nrm_command("fit", str(episodes), "--task", "3", "--out", fitted, "--quiet").status == 0
    begun = ("train", "--task", "3", "--grounding.initial", fitted, "--total-episodes", "8", "--quiet")
    outcome = nrm_command(*begun, "--method", "frozen", "--out", run)
    assert outcome.status == 0, outcome.err
    taken, kept = nrm.load_model(tmp_path / "fit" / "model.pt").grounder, nrm.load_run(run).grounder
    seen = torch.tensor([[0.0, 0.0], [1.0, 3.0]])
    assert torch.equal(taken(seen), kept(seen))
    outcome = nrm_command(*begun, "--env", "image", "--out", str(tmp_path / "other"))
    assert (outcome.status, "(64, 64, 3)" in outcome.err) == (2, True)
    outcome = nrm_command("train", "--task", "3", "--grounding.initial", str(tmp_path), "--out", str(tmp_path / "none"))
    assert outcome.status == 2


def test_verdicts_on_noise_are_not_learned(nrm_command: Nrm, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    path = save_episodes(
        tmp_path / "noise.npz",
        record_episodes([generator.normal(size=(4, 2)) for _ in range(200)], verdicts=[n % 2 == 0 for n in range(200)]),
    )
    fit = ("fit", str(path), "--task", "F a", "--symbols", "a,b", "--restarts", "1", "--epochs", "50")
    outcome = nrm_command(*fit, "--out", str(tmp_path / "fit"))
    assert outcome.status == 1
    assert names(outcome.err, "do the features show")


def test_recordings_with_verdicts_in_a_table(nrm_command: Nrm, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rule, places = nrm.compile("F a", ["a", "b"]), {"a": -1.0, "b": 1.0}
    lines = ["recording,time,x,y,verdict,symbol"]
    for number in range(60):
        trace = generator.choice(["a", "b", "b", "b"], size=4).tolist()
        seen = [(places[symbol] + generator.normal(0, 0.1), generator.normal()) for symbol in trace]
        verdict = rule.accepts(trace)
        lines += [f"r{number},{t},{x:.3f},{y:.3f},{verdict},{trace[t]}" for t, (x, y) in enumerate(seen)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    fit = ("fit", str(tmp_path / "table.csv"), "--task", "F a", "--restarts", "2", "--out", str(tmp_path / "fit"))
    outcome = nrm_command(*fit)
    assert outcome.status == 0, outcome.err
    record = json.loads((tmp_path / "fit" / "record.json").read_text())
    assert record["diagnosis"]["accuracy"] > 0.95
    assert record["summary"]["judged"].startswith("100.0% of held-out verdicts right")
    assert nrm_command("monitor", str(tmp_path / "fit"), str(tmp_path / "table.csv"), "--show", "ends").status == 1
