"""Records tell what run folders hold, and name the folders that cannot be read."""

import shutil
from pathlib import Path

import pytest

from nrm.errors import FileError
from nrm.registry import received
from nrm.results import group_runs, read_record, read_records, results_table
from nrm.results.table import results_csv
from nrm.runs import RunFolder, choose_run, train
from tests.results.folders import BREAKAGES, configured, lose_method, run
from tests.said import names


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("two")
    run(root / "a", "rm", 0)
    run(root / "b", "rm", 1)
    return root


def test_a_record_tells_the_run(tmp_path: Path) -> None:
    run(tmp_path / "runs" / "a", variant="wide")
    (record,), problems = read_records(tmp_path)
    assert not problems
    assert (record.method, record.env, record.seed, record.variant) == ("nrm", "map", 0, "wide")
    assert record.subject == "visits"
    assert record.done
    assert len(record.returns) == 40
    assert record.last_return(10) == pytest.approx(record.returns[-10:].mean())
    assert record.settings["grounding.every"] == "20"
    assert "env.layout" not in record.settings  # the environment's title tells it
    assert record.last_accuracy("accuracy") is not None
    assert record.cpu_seconds is not None
    assert record.cpu_seconds > 0


@pytest.mark.parametrize("what", BREAKAGES)
def test_a_broken_folder_costs_only_itself(two: Path, tmp_path: Path, what: str) -> None:
    root = tmp_path / "runs"
    shutil.copytree(two, root)
    break_it, message = BREAKAGES[what]
    break_it(root / "a")
    records, problems = read_records(root)
    assert [record.seed for record in records] == ([0, 1] if what == "cell" else [1])
    assert list(problems) == [root / "a"]
    assert names(problems[root / "a"], message)


def test_a_run_whose_method_is_gone_keeps_its_numbers(two: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(two, root)
    lose_method(root / "a")
    assert "names code in a file" in read_records(root)[1][root / "a"]
    with received(trust=True):
        records, problems = read_records(root)
    assert [record.method for record in records] == ["nowhere:METHOD", "rm"]
    assert records[0].settings["own.depth"] == "3"
    assert "the method 'nowhere:METHOD' cannot be found" in problems[root / "a"]
    groups = group_runs(records).groups
    assert [(group.method, group.variant) for group in groups] == [("rm", ""), ("nowhere:METHOD", "")]
    assert "nowhere:METHOD,1,0" in results_csv(results_table(records))


def test_a_run_whose_env_is_gone_keeps_its_numbers(two: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(two, root)
    configured(env="nowhere:make")(root / "a")
    with received(trust=True):
        records, problems = read_records(root)
    assert [record.env for record in records] == ["nowhere:make", "map"]
    assert records[0].settings["env.size"] == "(4, 4)"
    assert "only its numbers are shown: the environment 'nowhere:make' cannot be found" in problems[root / "a"]
    assert "nowhere:make,,visits,rm,1,0" in results_csv(results_table(records))


def test_a_damaged_cost_costs_nothing_else(two: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(two, root)
    (root / "a" / "cost.json").write_text('{"cpu_seconds": "much"}')
    records, problems = read_records(root)
    assert [record.seed for record in records] == [0, 1]
    assert records[0].cpu_seconds is None
    assert "its cost is left out" in problems[root / "a"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no folder"):
        read_records(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is a file"):
        read_records(tmp_path / "file")


def test_a_run_without_a_count_of_seconds(two: Path, tmp_path: Path) -> None:
    shutil.copytree(two / "a", tmp_path / "a")
    (tmp_path / "a" / "cost.json").unlink()
    assert read_record(tmp_path / "a").cpu_seconds is None


def test_cost_adds_up_over_resumptions(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a")
    config = choose_run("1", "map", "rm", total_episodes=60)
    folder.begin(config)
    stops = iter([False, False, True])
    train(folder, config.build_trainer(), interrupted=lambda: next(stops))
    before = folder.cpu_seconds()
    train(folder, folder.load())
    assert folder.cpu_seconds() > before > 0


def test_a_finished_run_in_which_no_episode_ended_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "short")
    folder.begin(choose_run("1", "map", "rm", total_timesteps=80, end="limit"))
    train(folder, folder.load())
    records, problems = read_records(tmp_path)
    assert records == []
    assert "no episode has ended in its 80 steps" in problems[folder.path]
    assert f"nrm train --resume {folder.path} --total-timesteps 800" in problems[folder.path]
