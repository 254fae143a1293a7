"""Temporary folders that a later run removes if this one is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"devfix-(?:[a-z]+-)?(\d+)-\w+")  # devfix-PROCESS-…, devfix-traces-PROCESS-…


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder named after this process, remove those of killed runs, and remove the folder at the end."""
    clear_stale()
    # The name is chosen before the folder exists, so that a signal handler always knows what to remove.
    folder = temporary().resolve() / f"devfix-{os.getpid()}-{secrets.token_hex(8)}"
    lock = -1
    try:
        folder.mkdir(mode=0o700)
        # The lock, not the process id, shows whether the owner is alive: ids are reused.
        lock = os.open(folder / "unlocked", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(folder / "unlocked", folder / "lock")
        yield folder
    finally:
        try:
            _remove_in_spite_of_signals(folder)
        finally:
            if lock >= 0:
                os.close(lock)


@contextlib.contextmanager
def temporary_folder(what: str, below: Path | None = None) -> Iterator[Path]:
    """Create a folder named after its purpose and this process, and remove it at the end."""
    folder = (below or temporary()) / f"devfix-{what}-{os.getpid()}-{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _remove_in_spite_of_signals(folder)


def _remove_in_spite_of_signals(folder: Path) -> None:
    try:
        remove_for_good(folder)
    except BaseException:  # including a signal that arrives meanwhile
        remove_for_good(folder)
        raise


def remove_for_good(folder: Path) -> None:
    """Remove a folder into which a program that is ending may still write."""
    for _ in range(20):
        remove(folder)
        if not folder.exists():
            return
        time.sleep(0.05)


def clear_stale() -> None:
    """Remove the folders of devfix processes of this user that have died."""
    for folder in temporary().glob("devfix-*"):
        found = _NAME.fullmatch(folder.name)
        if found and _is_our_folder(folder) and _is_dead(folder, int(found[1])):
            remove(folder)


def temporary() -> Path:
    """Return the folder for temporary files; Python writes a file to find it, which no signal may leave."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        return Path(tempfile.gettempdir())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _is_our_folder(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _is_dead(folder: Path, process: int) -> bool:
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return not _is_alive(process)  # without a lock it was killed before creating it, or is about to create it
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove(path: Path) -> None:
    """Remove a file or a whole folder, including unreadable folders in it; links are removed, never followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with contextlib.suppress(OSError):
        shutil.rmtree(path)
        return
    # Another devfix that cleans up after the same run may have removed it.
    with contextlib.suppress(FileNotFoundError):
        path.chmod(0o700)
    for folder, names, _ in os.walk(path):
        for name in names:
            if not os.path.islink(inner := os.path.join(folder, name)):
                with contextlib.suppress(FileNotFoundError):
                    os.chmod(inner, 0o700)
    shutil.rmtree(path, ignore_errors=True)
