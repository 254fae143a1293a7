"""The list of the processes that a process has started, looked at again and again as they come and go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from devfix.probe.prefork import process_tree

SCRIPT = """
import os, subprocess, sys, time
sys.path.append(sys.argv[1])
from process_tree import SUBREAPER, ProcessTree, control, sweep

def wait_for(what):
    while not what():
        time.sleep(0.01)

control(SUBREAPER, 1)
tree = ProcessTree()
assert tree.descendants() == set()
parent = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; read line"], stdin=-1, stdout=-1)
child = int(parent.stdout.readline())
wait_for(lambda: tree.descendants() == {parent.pid, child})
parent.stdin.close()
parent.wait()
assert tree.descendants() == {child}, "an orphan is inherited"
late = subprocess.Popen(["sleep", "600"], start_new_session=True)
wait_for(lambda: tree.descendants() == {child, late.pid})
assert tree.descendants() == ProcessTree().descendants()
ended = {}
assert sweep(late.pid, ended) == 0 and set(ended) == {child, late.pid} and tree.descendants() == set()
print("seen")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_lists_what_is_started_and_inherited() -> None:
    folder = Path(process_tree.__file__).parent
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True)
    assert done.stdout == "seen\n", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_reads_each_other_process_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    opened = open

    def note(path: str, mode: str) -> object:
        read.append(path)
        return opened(path, mode)

    monkeypatch.setattr(process_tree, "open", note, raising=False)
    tree = process_tree.ProcessTree()
    tree.descendants()
    first = len(read)
    tree.descendants()
    assert first >= 2 and len(read) - first < first
