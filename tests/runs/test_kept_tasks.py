"""The tasks of a run are drawn once: kept in its folder, read back equal, sampled again where they are lost."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nrm.errors import ConfigError, FileError, NrmWarning
from nrm.machines import Alphabet, TaskSet, load_pool, save_pool
from nrm.runs import RunConfig, RunFolder, choose_run, train
from nrm.runs.tasks import TASKS_FILE
from nrm.samplers import sample_tasks
from nrm.tracking import GroundingConfig

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "steps": 15}


def small_config(tasks: str = "mixture", **changes: Any) -> RunConfig:
    settings = {"env": SMALL, "tasks": {"count": 12, **changes}}
    return choose_run(None, "letter", "rm", 5, tasks=tasks, total_timesteps=500, num_envs=16, settings=settings)


def never(*_: Any, **__: Any) -> TaskSet:
    raise AssertionError("tasks were drawn")


@pytest.mark.parametrize(
    "alphabet", [Alphabet.exclusive("abcd"), Alphabet.propositional("abc")], ids=["exclusive", "propositional"]
)
def test_a_pool_comes_back_as_it_was(tmp_path: Path, alphabet: Alphabet) -> None:
    pool = sample_tasks("mixture", alphabet, 30, 0)
    assert len({machine.states for machine in pool.machines}) > 2
    save_pool(tmp_path / "pool.npz", pool, {"from": ["here"]})
    found, origin = load_pool(tmp_path / "pool.npz")
    assert (found.machines, found.names, origin) == (pool.machines, pool.names, {"from": ["here"]})


def test_what_is_no_pool_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.npz"
    with pytest.raises(FileError, match="there is no file"):
        load_pool(path)
    pool = sample_tasks("reach", Alphabet.exclusive("abc"), 4, 0)
    save_pool(path, pool, {})
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:200] + b"\x00" * 8 + whole[208:]):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="damaged"):
            load_pool(path)
    path.write_bytes(whole)
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "columns": arrays["columns"][:-1]})
    with pytest.raises(FileError, match="damaged"):
        load_pool(path)
    np.savez(path, **{**arrays, "columns": arrays["columns"] + 1})
    with pytest.raises(FileError, match="not a state"):
        load_pool(path)
    about = {**json.loads(arrays["about"].tobytes()), "version": 99}
    np.savez(path, **{**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)})
    with pytest.raises(FileError, match="version 99"):
        load_pool(path)


def test_a_run_draws_its_tasks_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = small_config()
    drawn = given.pool
    assert drawn is not None
    folder = RunFolder(tmp_path / "run")
    folder.begin(given)
    monkeypatch.setattr("nrm.runs.tasks.sample_tasks", never)
    trainer = folder.load()
    assert trainer.tasks.machines == drawn.machines
    again = pickle.loads(pickle.dumps(folder.config()))
    assert again == given
    assert again.pool.names == drawn.names


def test_lost_and_damaged_tasks_are_drawn_anew_and_said(tmp_path: Path) -> None:
    given = small_config()
    folder = RunFolder(tmp_path / "run")
    folder.begin(given)
    path = folder.path / TASKS_FILE
    whole = path.read_bytes()
    for damage in (path.unlink, lambda: path.write_bytes(whole[:100])):
        damage()
        with pytest.warns(NrmWarning, match="sampled again"):
            found = folder.config().pool
        assert found is not None
        assert given.pool is not None
        assert found.machines == given.pool.machines
        with warnings.catch_warnings():  # it was written again
            warnings.simplefilter("error")
            assert folder.config().pool is not None


def test_tasks_of_other_settings_are_not_taken(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(small_config())
    other = RunFolder(tmp_path / "other")
    other.begin(small_config(count=7))
    (folder.path / TASKS_FILE).write_bytes((other.path / TASKS_FILE).read_bytes())
    with pytest.warns(NrmWarning, match="other settings"):
        found = folder.config().pool
    assert found is not None
    assert len(found) == 12


def test_a_run_on_a_list_goes_on_with_the_list_that_it_was_begun_with(tmp_path: Path) -> None:
    listed = tmp_path / "tasks.txt"
    listed.write_text("F a\nF b\n")
    folder = RunFolder(tmp_path / "run")
    folder.begin(small_config(f"file:{listed}"))
    listed.write_text("F c\n")
    found = folder.config().pool
    assert found is not None
    assert found.names == ("F a", "F b")


def test_runs_of_one_task_keep_none(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    single = choose_run("F a", "letter", "rm", 0, total_timesteps=500, num_envs=16, settings={"env": SMALL})
    folder.begin(single)
    assert not (folder.path / TASKS_FILE).exists()
    assert folder.config().pool is None
    assert replace(folder.config()) == single


def test_the_grounder_of_many_tasks_begins_a_run_on_one(tmp_path: Path) -> None:
    many = small_config()
    many = replace(many, method="nrm", settings={**many.settings, "grounding": GroundingConfig()})
    source = RunFolder(tmp_path / "many")
    source.begin(many)
    train(source, source.load())
    settings = {"env": SMALL, "grounding": {"initial": str(source.path)}}
    single = choose_run("F a", "letter", "frozen", 0, total_timesteps=200, num_envs=4, settings=settings)
    folder = RunFolder(tmp_path / "one")
    folder.begin(single)
    old, new = source.load().model, folder.load().model
    assert old is not None
    assert new is not None
    for name, weights in old.grounder.state_dict().items():
        assert (new.grounder.state_dict()[name] == weights).all()


def test_tasks_that_are_held_out_are_never_drawn(tmp_path: Path) -> None:
    def made(tasks: str, *held_out: str) -> TaskSet | None:
        settings = {"env": SMALL, "tasks": {"count": 50, "held_out": held_out}}
        return choose_run(None, "letter", "rm", 5, tasks=tasks, total_timesteps=500, settings=settings).pool

    whole, part = made("reach"), made("reach", "F(a & F b)", "F c")
    assert whole is not None
    assert part is not None
    alphabet = whole.machines[0].alphabet
    kept_back = set(TaskSet.of(["F(a & F b)", "F c"], alphabet).machines)
    assert kept_back < set(whole.machines)
    assert not kept_back & set(part.machines)
    (tmp_path / "list.txt").write_text("F a\nF c\n")
    listed = made(f"file:{tmp_path / 'list.txt'}", "true U c")  # the same task in other words
    assert listed is not None
    assert listed.machines == TaskSet.of(["F a"], alphabet).machines
    with pytest.raises(ConfigError, match="held out"):
        made(f"file:{tmp_path / 'list.txt'}", "F a", "F c")
