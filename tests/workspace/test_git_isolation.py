"""Git runs nothing that a repository names, and what a killed devfix leaves is cleared by the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from git_repositories import fingerprint, make_repository, write

from devfix.workspace import Repository

STAYS = """
import sys, time
from pathlib import Path
from devfix.workspace import Repository
with Repository.open(Path(sys.argv[1])).worktrees(1) as worktrees:
    worktrees.take()
    worktrees.commit({"train.py": b""}, "Fix")
    print("ready", flush=True)
    time.sleep(6000)
"""
HOOKS = ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "pre-auto-gc")


def test_nothing_that_a_repository_names_is_run(tmp_path: Path) -> None:
    project = make_repository(
        tmp_path / "project", {"train.py": "x = 1\n", ".gitattributes": "*.py filter=evil diff=evil\n"}
    )
    evidence = tmp_path / "ran"
    command = f"touch {evidence}; cat"
    for hook in HOOKS:
        write(project, {f".git/hooks/{hook}": f"#!/bin/sh\ntouch {evidence}\n"})
        (project / ".git" / "hooks" / hook).chmod(0o755)
    settings = {
        "core.fsmonitor": f"touch {evidence}",
        "core.hooksPath": str(project / ".git" / "hooks"),
        "core.pager": command,
        "pager.status": command,
        "diff.external": command,
        "diff.evil.textconv": command,
        "diff.evil.command": command,
        "filter.evil.clean": command,
        "filter.evil.smudge": command,
        "filter.evil.required": "true",
        "commit.gpgSign": "true",
        "gpg.program": command,
        "alias.status": f"!touch {evidence}",
        "gc.auto": "1",
    }
    for name, value in settings.items():
        write(project, {".git/config": f"{(project / '.git' / 'config').read_text()}\n{_setting(name, value)}"})
    os.utime(project / "train.py", (1, 1))  # git must read it again to know that it has not changed
    repository = Repository.open(project)
    assert repository.dirty == ()
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take()
        assert (tree.path / "train.py").read_bytes() == b"x = 1\n"
        assert worktrees.diff({"train.py": b"x = 1\n"}, {"train.py": b"x = 2\n"}).endswith("-x = 1\n+x = 2\n")
        worktrees.commit({"train.py": b"x = 2\n"}, "Fix")
        worktrees.publish("devfix/fix")
    assert not evidence.exists()


def _setting(name: str, value: str) -> str:
    section, _, rest = name.partition(".")
    inner, _, key = rest.rpartition(".")
    head = f'[{section} "{inner}"]' if inner else f"[{section}]"
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{head}\n\t{key} = "{quoted}"\n'


def test_a_killed_run_leaves_the_user_untouched_and_the_next_clears_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_repository(tmp_path / "project", {"train.py": "x = 1\n"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = fingerprint(project)
    killed = subprocess.Popen([sys.executable, "-c", STAYS, str(project)], stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None and killed.stdout.readline() == "ready\n"
    (left,) = scratch.iterdir()
    with Repository.open(project).worktrees(1):
        assert left.exists(), "the folder of a living devfix must stay"
    traces = scratch / f"devfix-traces-{killed.pid}-abc"
    traces.mkdir()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    assert fingerprint(project) == before
    with Repository.open(project).worktrees(1) as worktrees:
        assert worktrees.scratch.is_dir()
        assert not left.exists() and not traces.exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_twenty_thousand_files_stay_cheap(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project", {f"p{n // 100}/m{n}.py": f"x = {n}\n" for n in range(20_000)})
    began = sum(os.times()[:4])
    with Repository.open(project).worktrees(1) as worktrees:
        tree = worktrees.take()
        tree.write({"p0/m0.py": b"x = 'changed'\n"})
        worktrees.give(tree)
        worktrees.take()
        worktrees.commit({"p0/m0.py": b"x = 'changed'\n"}, "Fix")
    # Of processors, git's included; it takes half a second, and minutes where the files are parsed.
    assert sum(os.times()[:4]) - began < 15
