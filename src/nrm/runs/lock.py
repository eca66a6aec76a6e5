"""One process at a time writes in a folder."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nrm.errors import FileError, LockedError
from nrm.files import make_folder

LOCK_FILE = ".lock"
PATIENCE = 60.0
"""Seconds to wait for the workers of a process that has died: they notice, save and leave."""


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold a folder; yields the lock's file descriptor.

    The operating system frees the lock when the process ends, however it ends. Worker processes that inherit the
    descriptor hold the lock too: the folder is free only when all who write in it have gone.
    """
    import fcntl  # not on Windows

    path = make_folder(folder) / LOCK_FILE
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(f"cannot write in {folder}: {error.strerror}") from None
    try:
        waited = 0.0
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                owner = _owner(path)
                if not _has_died(owner) or waited >= PATIENCE:
                    who = f"process {owner['pid']} on {owner['host']}" if owner else "another process"
                    raise LockedError(
                        f"{folder} is in use by {who}; wait until it ends, or choose another --out"
                    ) from None
                time.sleep(0.1)
                waited += 0.1
            except OSError as error:
                raise FileError(f"cannot lock {path}: {error.strerror}") from None
        os.truncate(handle, 0)
        os.pwrite(handle, json.dumps({"pid": os.getpid(), "host": platform.node()}).encode(), 0)
        yield handle
    finally:
        os.close(handle)


def _owner(path: Path) -> dict[str, object]:
    try:
        owner = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) and {"pid", "host"} <= set(owner) else {}


def _has_died(owner: dict[str, object]) -> bool:
    """Whether the process that took the lock is known to be gone."""
    pid = owner.get("pid")
    if not isinstance(pid, int) or owner.get("host") != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
