"""Programs that may read the user's data and not write to it."""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
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


def test_what_is_protected_stays_as_it_is(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link.pt").symlink_to(data / "large.pt")
    script = (
        "cat link.pt; echo theirs > link.pt; cat link.pt; touch data/new; rm data/large.pt; echo out > beside; ls data"
    )
    done = run(["sh", "-c", script], tmp_path, child_environment(), 10, read_only=[data])
    if "Read-only" in done.stderr:  # a system that can lay nothing over a folder
        assert done.stdout == "mineminelarge.pt\n" and done.stderr.count("Read-only file system") == 3
    else:
        assert done.stdout == "minetheirs\nnew\n" and not done.stderr
    assert (data / "large.pt").read_text() == "mine" and not (data / "new").exists()
    assert (tmp_path / "beside").exists()
    (data / "large.pt").write_text("still writable for us")
    assert not list(Path(tempfile.gettempdir()).glob(f"devfix-written-{os.getpid()}-*"))


def test_a_file_alone_and_a_folder_with_an_odd_name(data: Path, tmp_path: Path) -> None:
    odd = data.rename(tmp_path / "a,b:c")
    for path in (odd, odd / "large.pt"):
        done = run(["sh", "-c", 'echo theirs > "a,b:c/large.pt"'], tmp_path, child_environment(), 10, read_only=[path])
        assert "Read-only file system" in done.stderr
    assert (odd / "large.pt").read_text() == "mine"


def test_who_is_not_root_can_too(data: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o777)
    data.chmod(0o777)
    child = os.fork()  # of a process that has everything loaded: another user may not read this interpreter
    if child == 0:
        os._exit(_protected_as_somebody(data))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == NOT_HERE:
        pytest.skip("this system has no user namespaces")
    assert code in (WRITTEN_ELSEWHERE, errno.EROFS)
    assert not (data / "new").exists()


NOT_HERE, WRITTEN_ELSEWHERE = 255, 254


def _protected_as_somebody(data: Path) -> int:
    (data.parent / "written").mkdir(mode=0o777)
    (data.parent / "written").chmod(0o777)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(12345)
        os.setuid(12345)
        ctypes.CDLL(None).prctl(4, 1)  # dumpable again, as after an exec: else /proc/self belongs to root
    try:
        protect([str(data)], str(data.parent / "written"))
    except OSError:
        return NOT_HERE
    try:
        (data / "new").write_text("")
    except OSError as error:
        same = os.getuid() != 0 and (data / "large.pt").read_text() == "mine"
        return error.errno or 0 if same else 1
    return WRITTEN_ELSEWHERE


def test_what_cannot_be_protected_is_not_started(tmp_path: Path) -> None:
    done = run(["touch", "started"], tmp_path, child_environment(), 10, read_only=[tmp_path / "missing"])
    assert "cannot protect" in done.internal_error and done.exit_code is None
    assert not (tmp_path / "started").exists()
    assert not can_protect([tmp_path / "missing"])
