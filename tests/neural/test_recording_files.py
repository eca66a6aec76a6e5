"""Recordings as tables and as Minari data sets."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm.errors import EpisodeError, EpisodeFileError, MissingExtraError
from nrm.neural.episode_file import RecordedEpisodes
from nrm.neural.recording_files import csv_rows, load_episodes

TABLE = """recording,time,x,y,verdict,symbol
r1,0,1.5,2,,a
r2,0,3,4,false,b
r1,1,5,6,TRUE,b
r2,2.5,7,8e0,0,b
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_columns_as_test_logs_call_them(tmp_path: Path) -> None:
    text = "case_id,t,temperature,passed\n1,0,20.5,pass\n2,0,30,fail\n1,1,21,\n"
    found = load_episodes(written(tmp_path / "log.csv", text))
    assert found.observations.tolist() == [[20.5], [21], [30]]  # neither the time nor the verdict is a feature
    assert found.verdicts is not None
    assert found.verdicts.tolist() == [True, False]


def check_table(found: RecordedEpisodes) -> None:
    assert found.names == ("r1", "r2")
    assert found.feature_names == ("x", "y")
    assert found.lengths.tolist() == [2, 2]
    assert found.observations.tolist() == [[1.5, 2], [5, 6], [3, 4], [7, 8]]
    assert found.verdicts is not None
    assert found.verdicts.tolist() == [True, False]
    assert found.rewards is None
    assert found.symbol_names == ("a", "b")
    assert found.symbols is not None
    assert found.symbols.tolist() == [0, 1, 1, 1]


def test_csv_in_long_form(tmp_path: Path) -> None:
    check_table(load_episodes(written(tmp_path / "table.csv", f"\ufeff{TABLE}")))
    rows = list(csv_rows(iter(TABLE.splitlines(keepends=True)), "standard input", 1))
    assert [row.recordings for row in rows] == [["r1"], ["r2"], ["r1"], ["r2"]]
    assert [row.places for row in rows] == [(2,), (3,), (4,), (5,)]


def test_parquet_in_long_form(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "recording": ["r1", "r2", "r1", "r2"],
        "time": [0.0, 0.0, 1.0, 2.5],
        "x": [1.5, 3, 5, 7],
        "y": np.array([2, 4, 6, 8], dtype=np.int16),
        "verdict": [None, False, True, False],
        "symbol": ["a", "b", "b", "b"],
    }
    path = tmp_path / "table.parquet"
    parquet.write_table(arrow.table(columns), path)
    check_table(load_episodes(path))
    others = {"recording": arrow.array(columns["recording"]).dictionary_encode(), "verdict": [np.nan, 0.0, 1.0, 0.0]}
    parquet.write_table(arrow.table(columns | others), path)
    check_table(load_episodes(path))
    parquet.write_table(arrow.table(columns | {"x": [1.0, None, 2.0, 3.0]}), path)
    with pytest.raises(EpisodeFileError, match="row 2, column 'x'"):
        load_episodes(path)
    for bad in (written(tmp_path / "bad.parquet", "no"), tmp_path / "none.parquet"):
        with pytest.raises(EpisodeFileError, match=str(bad)):
            load_episodes(bad)


def test_parquet_and_minari_need_their_extras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"\[parquet\]"):
        load_episodes(written(tmp_path / "table.parquet", ""))
    with pytest.raises(MissingExtraError, match=r"\[minari\]"):
        load_episodes("minari:some/thing-v0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("recording,x,reward\n", "no rows"),
        ("recordin,x,reward\nr,1,0\n", "did you mean 'recordin'"),
        ("recording,x,x\nr,1,0\n", "'x' twice"),
        ("recording,case,x\nr,1,0\n", "'recording' and 'case' twice"),
        ("recording,x,reward,verdict\nr,1,0,1\n", "both rewards and verdicts"),
        ("recording,reward\nr,0\n", "no features"),
        ("recording,x,reward\nr,1,0\nr,1\n", "line 3: 2 cells"),
        ("recording,x,reward\nr,1,0\nr,abc,0\n", "line 3, column 'x': 'abc'"),
        ("recording,x,reward\nr,1,0\nr,,0\n", "line 3, column 'x': ''"),
        ("recording,x,reward\nr,nan,0\n", "line 2, column 'x': 'nan'"),
        ("recording,x,reward\nr,1e300,0\n", "line 2, column 'x': '1e300'"),
        ("recording,x,reward\nr,1,inf\n", "line 2, column 'reward': 'inf'"),
        ("recording,x,verdict\nr,1,perhaps\n", "line 2, column 'verdict': 'perhaps'"),
        ("recording,x,verdict\nr,1,1\nr,1,0\n", "line 3: recording 'r' has two verdicts"),
        ("recording,x,verdict\nr,1,1\ns,1,\n", "line 3: recording 's' has no verdict"),
        ("recording,x,symbol,reward\nr,1,,0\n", "line 2, column 'symbol'"),
        ("recording,time,x,reward\nr,2,1,0\ns,1,1,0\nr,1,1,0\n", "line 4: recording 'r' goes back in time"),
        ("recording,x,reward\nr," + "1" * 200_000 + ",0\n", "line 2: it is no CSV"),
        ('recording,x,reward\nr,"1,0\n', "it is no CSV"),
    ],
)
def test_bad_tables_are_refused_with_their_place(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path / "table.csv", text)
    with pytest.raises(EpisodeFileError) as caught:
        load_episodes(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"recording,x\n\xff\xfe\n")
    for path in (tmp_path / "none.csv", tmp_path / "bytes.csv"):
        with pytest.raises(EpisodeFileError, match=str(path)):
            load_episodes(path)


def test_verdicts_become_evidence_and_survive_saving(tmp_path: Path) -> None:
    machine = nrm.compile("F a", ["a", "b"])
    found = load_episodes(written(tmp_path / "table.csv", TABLE))
    again = load_episodes(nrm.save_episodes(tmp_path / "table.npz", found))
    check_table(again)
    for buffer in (found.buffer(machine), again.buffer()):
        assert buffer.evidence is not None
        assert buffer.evidence[buffer[0].levels[-1]].tolist() == [0, 1]
        assert buffer.evidence[buffer[1].levels].tolist() == [[1, 1], [1, 0]]


def test_observations_without_rewards_or_verdicts_teach_nothing(tmp_path: Path) -> None:
    found = load_episodes(written(tmp_path / "table.csv", "recording,x\nr,1\n"))
    with pytest.raises((EpisodeFileError, EpisodeError), match=r"rewards.*verdicts"):
        found.buffer(nrm.compile("F a", ["a", "b"]))


def test_large_tables_are_read_in_parts() -> None:
    def lines() -> Iterator[str]:
        yield "recording,x,y,verdict\n"
        for number in range(120_000):
            yield f"r{number // 1000},{number},0.5,1\n"

    tracemalloc.start()
    rows = sum(len(part.places) for part in csv_rows(lines(), "lines"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 120_000
    assert most < 60e6


@pytest.fixture
def minari_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small local data set: four walks along a line."""
    minari = pytest.importorskip("minari")
    pytest.importorskip("pyarrow")
    spaces = pytest.importorskip("gymnasium.spaces")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    episodes = [
        minari.data_collector.EpisodeBuffer(
            id=number,
            seed=number,
            observations=np.arange(2 * (number + 3), dtype=np.float32).reshape(number + 3, 2),
            actions=np.zeros(number + 2, dtype=np.int64),
            rewards=np.eye(number + 2)[-1] * 100,
            terminations=np.eye(number + 2, dtype=bool)[-1],
            truncations=np.zeros(number + 2, dtype=bool),
        )
        for number in range(4)
    ]
    minari.create_dataset_from_buffers(
        "walks/line-v0",
        episodes,
        observation_space=spaces.Box(-np.inf, np.inf, (2,), np.float32),
        action_space=spaces.Discrete(2),
        data_format="arrow",
    )
    return "minari:walks/line-v0"


@pytest.mark.filterwarnings("ignore")
def test_minari_data_sets_are_read(minari_data: str) -> None:
    found = load_episodes(minari_data)
    assert found.lengths.tolist() == [2, 3, 4, 5]
    assert found.observations[:2].tolist() == [[2, 3], [4, 5]]
    assert found.rewards is not None
    assert found.rewards[:2].tolist() == [0, 100]
    with pytest.raises(EpisodeFileError, match=r"walks/lime-v0.*'walks/line-v0'"):
        load_episodes("minari:walks/lime-v0")
    with pytest.raises(EpisodeFileError, match="nonsense"):
        load_episodes("minari:nonsense")
