"""Files: written whole, as the user's mask says, and without a trace of writers that failed or were killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nrm.errors import FileError
from nrm.files import TEMPORARY, check_folder, remove_leftovers, write_bytes, write_text


def test_files_have_the_rights_that_the_mask_gives(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "x")
    finally:
        os.umask(old)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_writing_never_changes_the_mask_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(mask: int) -> int:
        raise AssertionError("the mask belongs to the whole process, other threads included")

    monkeypatch.setattr(os, "umask", refuse)
    write_text(tmp_path / "new", "x")


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "new", b"x")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_leaves_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from nrm.files import write_bytes; "
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); write_bytes(sys.argv[1], b'half')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "new")], check=False)
    (tmp_path / ".mine").write_text("x")
    (leftover,) = (path for path in tmp_path.iterdir() if path.name != ".mine")
    assert leftover.name.startswith(TEMPORARY)
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".mine"]
    remove_leftovers(tmp_path / "nowhere")


def test_writers_side_by_side_leave_one_whole_file(tmp_path: Path) -> None:
    contents = [bytes([number]) * 100_000 for number in range(6)]
    writers = [threading.Thread(target=write_bytes, args=(tmp_path / "new", content)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (tmp_path / "new").read_bytes() in contents
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "x")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_is_checked_without_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_folder(tmp_path / "a" / "b")
    monkeypatch.chdir(tmp_path)
    check_folder("a/b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/in/it"):
        with pytest.raises(FileError, match=r"cannot make the folder .*file is a file"):
            check_folder(place)
