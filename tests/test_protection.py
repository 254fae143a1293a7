"""Programs that may read the user's data and not write to it."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

import pytest

from devfix.process import can_protect, child_environment, run
from devfix.process.mounts import protect


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large.pt").write_text("mine")
    if not can_protect([tmp_path / "data"]):
        pytest.skip("this system lets no program have mounts of its own")
    return tmp_path / "data"


def test_what_is_protected_can_be_read_and_not_written(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link.pt").symlink_to(data / "large.pt")
    script = "cat link.pt; echo theirs > link.pt || echo refused; rm data/large.pt; touch data/new; echo out > beside"
    done = run(["sh", "-c", script], tmp_path, child_environment(), 10, read_only=[data])
    assert done.stdout == "minerefused\n"
    assert done.stderr.count("Read-only file system") == 3
    assert (data / "large.pt").read_text() == "mine" and not (data / "new").exists()
    assert (tmp_path / "beside").read_text() == "out\n"
    (data / "large.pt").write_text("still writable for us")


def test_who_is_not_root_can_too(data: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    data.chmod(0o777)
    child = os.fork()  # of a process that has everything loaded: another user may not read this interpreter
    if child == 0:
        os._exit(_protected_as_somebody(data))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == NOT_HERE:
        pytest.skip("this system has no user namespaces")
    assert code == errno.EROFS
    assert not (data / "new").exists()


NOT_HERE = 255


def _protected_as_somebody(data: Path) -> int:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(12345)
        os.setuid(12345)
        ctypes.CDLL(None).prctl(4, 1)  # dumpable again, as after an exec: else /proc/self belongs to root
    try:
        protect([str(data)])
    except OSError:
        return NOT_HERE
    try:
        (data / "new").write_text("")
    except OSError as error:
        same = os.getuid() != 0 and (data / "large.pt").read_text() == "mine"
        return error.errno or 0 if same else 1
    return 0


def test_what_cannot_be_protected_is_not_started(tmp_path: Path) -> None:
    done = run(["touch", "started"], tmp_path, child_environment(), 10, read_only=[tmp_path / "missing"])
    assert "cannot protect" in done.trouble and done.exit_code is None
    assert not (tmp_path / "started").exists()
    assert not can_protect([tmp_path / "missing"])
