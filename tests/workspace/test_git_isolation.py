"""Git runs nothing that a repository names, and what a killed devfix leaves is cleared by the next."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository, write

from devfix.errors import UserError
from devfix.workspace import Actor, GitError, Remote, Repository
from devfix.workspace.git.command import Git

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


EVERYTHING = """
import sys
from pathlib import Path
from devfix.workspace import Repository
repository = Repository.open(Path())
assert repository.content("train.py") == b"x = 1\\n" and repository.containing(["x = 1"]) == ("train.py",)
with repository.worktrees(1) as worktrees:
    worktrees.take()
"""


def make_hostile(project: Path, evidence: Path) -> Path:
    """Make a repository that names a command wherever git lets it, each of which leaves a file as evidence."""
    make_repository(project, {"train.py": "x = 1\n", ".gitattributes": "*.py filter=evil diff=evil\n"})
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
        "core.sshCommand": command,
        "core.gitProxy": command,
        "core.askPass": command,
        "core.editor": command,
        "core.alternateRefsCommand": command,
        "credential.helper": f"!touch {evidence}",
        "uploadpack.packObjectsHook": command,
        **{f"alias.{name}": f"!touch {evidence}" for name in ("cat-file", "version", "rev-parse")},
    }
    for name, value in settings.items():
        write(project, {".git/config": f"{(project / '.git' / 'config').read_text()}\n{_setting(name, value)}"})
    os.utime(project / "train.py", (1, 1))  # git must read it again to know that it has not changed
    return project


def test_nothing_that_a_repository_names_is_run(tmp_path: Path) -> None:
    evidence = tmp_path / "ran"
    repository = Repository.open(make_hostile(tmp_path / "project", evidence))
    assert repository.dirty == ()
    assert repository.content("train.py") == b"x = 1\n"
    with repository.worktrees(1) as worktrees:
        tree = worktrees.take()
        assert (tree.path / "train.py").read_bytes() == b"x = 1\n"
        assert worktrees.diff({"train.py": b"x = 1\n"}, {"train.py": b"x = 2\n"}).endswith("-x = 1\n+x = 2\n")
        worktrees.commit({"train.py": b"x = 2\n"}, "Fix")
        worktrees.publish("devfix/fix")
    assert not evidence.exists()


def test_nothing_is_run_when_devfix_starts_in_a_hostile_repository(tmp_path: Path) -> None:
    """GitPython calls git when it is imported, in the current folder."""
    evidence = tmp_path / "ran"
    project = make_hostile(tmp_path / "project", evidence)
    subprocess.run([sys.executable, "-c", EVERYTHING], cwd=project, check=True)
    assert not evidence.exists()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let every variable with which git can be pointed elsewhere point at another repository, or at a command."""
    other = make_repository(tmp_path / "other", {"other.py": "z = 3\n"})
    command = f"touch {tmp_path / 'ran'}"
    variables = {
        **{"GIT_DIR": other / ".git", "GIT_COMMON_DIR": other / ".git", "GIT_WORK_TREE": other},
        **{"GIT_INDEX_FILE": other / ".git/index", "GIT_OBJECT_DIRECTORY": other / ".git/objects"},
        **{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": command},
        **{"GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={command}'", "GIT_CONFIG": tmp_path / "nowhere"},
        **{"GIT_EXTERNAL_DIFF": command, "GIT_SSH_COMMAND": command, "GIT_ASKPASS": command, "GIT_PAGER": command},
        **{"GIT_NAMESPACE": "other", "GIT_EXEC_PATH": tmp_path / "nowhere", "GIT_SHALLOW_FILE": tmp_path / "nowhere"},
        **{"GIT_TEMPLATE_DIR": tmp_path / "nowhere", "GIT_GLOB_PATHSPECS": "1", "GIT_REPLACE_REF_BASE": "refs/x/"},
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    return other


def run_git(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.check_output(["git", *arguments], cwd=folder, env=clean, text=True).strip()


def test_the_environment_of_a_hook_points_at_no_other_repository(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    project = make_repository(tmp_path / "project", {"train.py": "x = 1\n"})
    other: Path = request.getfixturevalue("elsewhere")
    before = fingerprint(other)
    repository = Repository.open(project)
    assert (repository.root, repository.tracked_paths(), repository.dirty) == (project, {"train.py"}, ())
    assert repository.content("train.py") == b"x = 1\n"
    with repository.worktrees(1) as worktrees:
        assert (worktrees.take().path / "train.py").read_bytes() == b"x = 1\n"
        assert worktrees.diff({"train.py": b"x = 1\n"}, {"train.py": b"x = 2\n"}).endswith("-x = 1\n+x = 2\n")
        commit = worktrees.commit({"train.py": b"x = 2\n"}, "Fix")
        worktrees.publish("devfix/fix")
    assert run_git(project, "rev-parse", "devfix/fix") == commit
    with Remote.open(str(project)) as remote:
        remote.base("main", repository.commit)
        assert remote.content(repository.commit, "train.py") == b"x = 1\n"
        made = remote.commits(repository.commit, [({"train.py": b"x = 3\n"}, "Other")], Actor("Ada", "a@example.org"))
        assert remote.push("devfix/other", made, "") and remote.is_ours(made)
    assert run_git(project, "log", "-1", "--format=%an %cn %s", "devfix/other") == "Ada Ada Other"
    assert fingerprint(other) == before
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_gone_is_not_taken_for_the_current_one(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project", {"train.py": "x = 1\n"})
    repository = Repository.open(project)
    shutil.rmtree(project)
    with pytest.raises(UserError, match="no such folder"):
        repository.branch_exists("main")


def test_an_interrupted_read_gives_the_next_no_other_file(tmp_path: Path) -> None:
    """A rule that takes too long is interrupted wherever it is, so also between git's answer and its reading."""
    project = make_repository(tmp_path / "project", {"a.py": "a = 1\n", "b.py": "b = 2\n", "lib/c.py": "c = 3\n"})
    repository = Repository.open(project)
    contents = {"a.py": b"a = 1\n", "b.py": b"b = 2\n", "lib/c.py": b"c = 3\n"}
    assert repository.content("a.py") == contents["a.py"]
    for left_unread in ("a.py", "b.py", "lib", "nowhere"):
        process = repository.git.cat_file_all
        process.stdin.write(f"HEAD:{left_unread}\n".encode())
        process.stdin.flush()
        assert {path: repository.content(path) for path in contents} == contents
    process = repository.git.cat_file_all
    process.kill()
    process.proc.wait()
    assert {path: repository.content(path) for path in contents} == contents


def test_a_file_that_git_cannot_read_to_its_end_is_not_taken_for_a_shorter_one(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project", {"a.py": b"# " + os.urandom(300_000).hex().encode(), "b.py": "b\n"})
    blob = git(project, "rev-parse", "HEAD:a.py")
    stored = project / ".git" / "objects" / blob[:2] / blob[2:]
    whole = stored.read_bytes()
    stored.chmod(0o644)
    stored.write_bytes(whole[:200_000] + bytes(len(whole) - 200_000))
    repository = Repository.open(project)
    assert repository.content("b.py") == b"b\n"
    with pytest.raises(GitError):
        repository.content("a.py")
    assert repository.content("b.py") == b"b\n"


def test_many_threads_read_files(tmp_path: Path) -> None:
    contents = {f"m{number}.py": f"x = {number}\n" * (number + 1) for number in range(60)}
    repository = Repository.open(make_repository(tmp_path / "project", contents))
    with ThreadPoolExecutor(8) as pool:
        found = dict(zip(contents, pool.map(repository.content, contents), strict=True))
    assert found == {path: text.encode() for path, text in contents.items()}


def test_the_process_that_reads_files_ends_with_the_worktrees(tmp_path: Path) -> None:
    repository = Repository.open(make_repository(tmp_path / "project", {"train.py": "x = 1\n"}))
    with repository.worktrees(1):
        repository.content("train.py")
        process = repository.git.cat_file_all.proc
        assert process.poll() is None
    assert process.poll() is not None


def test_a_machine_without_git_is_told_so_in_one_line(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PATH"} | {"PATH": str(tmp_path)}
    command = [sys.executable, "-m", "devfix", "repair", str(tmp_path), "--run", "python x.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.strip().endswith("git is not on the PATH: install git 2.30 or newer")
    assert len(done.stderr.strip().splitlines()) == 1


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


def test_what_points_elsewhere_is_left_out_and_certificates_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSL_CAINFO", "/certificates.pem")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    seen = Git(tmp_path, configuration=("alias.printed=!env",)).text("printed").splitlines()
    assert "GIT_SSL_CAINFO=/certificates.pem" in seen
    assert not any(line.startswith("GIT_DIR=") for line in seen)
