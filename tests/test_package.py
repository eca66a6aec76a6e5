"""The distributions: built, unpacked, and used without the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def test_the_wheel_works_without_the_source_tree(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "installed")
    clean = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    code = "import sys, nrm.cli; print(nrm.__file__, flush=True); nrm.cli.main(sys.argv[1:])"

    def said(*words: str) -> str:
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, env=clean, cwd=tmp_path, capture_output=True, text=True).stdout

    compiled, watched = (
        said("compile", "F a & G !b", "--symbols", "a,b,c"),
        said("watch", "letter", "--task", "F(a & F b)"),
    )
    assert all(str(tmp_path / "installed") in text for text in (compiled, watched))
    assert "accepting" in compiled
    assert "task satisfied" in watched  # the pretrained agents are in it


def test_the_wheel_has_all_files_of_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("nrm/")}
        others = {name.split("/")[0] for name in wheel.namelist()} - {"nrm"}
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/nrm"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    files = {line.removeprefix("src/") for line in tracked.stdout.split() if (ROOT / line).exists()}
    assert held == files if files else held
    assert all(name.endswith(".dist-info") for name in others)


def test_the_source_distribution_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        folders = {name.split("/")[1] for name in source.getnames() if name.count("/") >= 1}
    assert {"src", "tests", "benchmarks", "docs", "Makefile", "constraints.txt"} <= folders
