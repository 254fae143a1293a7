"""The store of recorded runs: shared by processes, limited, and whole whatever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from waiting import until

from devfix.rule_testing.recording.store import Store

KEYS = [f"{number:040x}" for number in range(100, 140)]
WRITER = """
import sys
from pathlib import Path
from devfix.rule_testing.recording.store import Store
store, name = Store(Path(sys.argv[1])), sys.argv[2].encode()
for _ in range(int(sys.argv[3])):
    for number in range(100, 140):
        store.put(f"{number:040x}", name * 50_000)
"""


def writer(folder: Path, name: str, rounds: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, folder, name, str(rounds)])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_processes_that_write_the_same_records_and_are_killed_leave_whole_ones(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    endless = [writer(store.folder, name, 1_000_000) for name in "ab"]
    try:
        until(lambda: all(store.get(key) for key in KEYS))
    finally:
        for each in endless:
            each.send_signal(signal.SIGKILL)
            each.wait()
    for key in KEYS:
        assert store.get(key) in (b"a" * 50_000, b"b" * 50_000)
    assert writer(store.folder, "c", 1).wait() == 0
    assert {store.get(key) for key in KEYS} == {b"c" * 50_000}


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs", limit=1000)
    for number, key in enumerate(KEYS[:10]):
        store.put(key, bytes(100))
        os.utime(store.folder / key[:2] / key[2:], (number, number))
    left = store.folder / KEYS[0][:2] / "left-by-a-killed-process"
    left.write_bytes(bytes(100))
    os.utime(left, (0, 0))
    assert store.get(KEYS[0]) is not None, "which is a use of it"
    store.trim()
    assert [key for key in KEYS[:10] if store.get(key) is not None] == [KEYS[0], *KEYS[4:10]]
    assert len(files(store.folder)) == 7 and not left.exists()


def test_a_store_within_its_limit_and_one_that_was_only_read_are_left(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs", limit=1000)
    for key in KEYS[:10]:
        store.put(key, bytes(100))
    store.trim()
    assert len(files(store.folder)) == 10
    reader = Store(tmp_path / "runs", limit=1)
    assert reader.get(KEYS[0]) == bytes(100)
    reader.trim()
    assert len(files(store.folder)) == 10


def test_a_disk_that_takes_nothing_is_a_store_that_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "runs")
    store.put(KEYS[0], b"x")
    assert store.get(KEYS[0]) is None
    store.trim()
    store.clear()


def test_clear_removes_everything(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    store.put(KEYS[0], b"x")
    store.clear()
    assert store.get(KEYS[0]) is None and not store.folder.exists()
