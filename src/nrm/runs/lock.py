"""One process at a time writes in a folder."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nrm.errors import FileError, LockedError
from nrm.files import make_folder

LOCK_FILE = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold a folder; yields the lock's file descriptor.

    The operating system frees the lock when the process ends, however it ends. Worker processes that inherit the
    descriptor hold the lock too: the folder is free only when all who write in it have gone.
    """
    import fcntl  # not on Windows

    path = make_folder(folder) / LOCK_FILE
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise FileError(f"cannot write in {folder}: {error.strerror}") from None
    patience = time.monotonic() + 60.0  # for workers of a process that has died: they notice, save and leave
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                host, _, process = path.read_text(errors="replace").partition(" ")
                if not _has_died(host, process) or time.monotonic() > patience:
                    who = f"process {process} on {host}" if process else "another process"
                    raise LockedError(
                        f"{folder} is in use by {who}; wait until it ends, or choose another --out"
                    ) from None
                time.sleep(0.1)
            except OSError as error:
                raise FileError(f"cannot lock {path}: {error.strerror}") from None
        os.truncate(handle, 0)
        with suppress(OSError):  # on a full disk nobody can read who holds it, but it is held
            os.pwrite(handle, f"{platform.node()} {os.getpid()}".encode(), 0)
        yield handle
    finally:
        os.close(handle)


def holder(folder: Path) -> int | None:
    """The process of this machine that holds a folder; None where nobody does."""
    import fcntl

    with suppress(OSError, ValueError):
        host, _, process = (folder / LOCK_FILE).read_text().partition(" ")
        if host != platform.node() or _has_died(host, process):
            return None
        handle = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(process)
        finally:
            os.close(handle)
    return None


def _has_died(host: str, process: str) -> bool:
    """Whether the process that took the lock is known to be gone."""
    if host == platform.node() and process.isdigit():
        with suppress(PermissionError):
            try:
                os.kill(int(process), 0)
            except ProcessLookupError:
                return True
    return False
