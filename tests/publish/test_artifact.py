"""The artifact is hostile: what is not just what devfix writes is refused, in one line, before anything is sent."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from git_repositories import git
from github_server import TOKEN, github
from programs import FIRST, TRAIN, History, written

from devfix.cli import status
from devfix.errors import UserError
from devfix.publish.proposals.allowed_files import explain_forbidden
from devfix.publish.proposals.artifact import open_artifact
from devfix.report.diff import apply, parse

DIFF = '--- a/train.py\n+++ b/train.py\n@@ -8,1 +8,1 @@\n-    print(net(x))\n+    print(net(x.to("cuda")))\n'


def changed(data: dict[str, Any], path: str, diff: str) -> dict[str, Any]:
    data = copy.deepcopy(data)
    data["fixes"][0]["edits"] = [{"path": path, "line": 1, "diff": diff}]
    return data


def retold(diff: str, path: str) -> str:
    return diff.replace("train.py", path)


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.py",
        ".GitHub/workflows/ci.py",
        "sub/.github/x.py",
        ".git/hooks/x.py",
        "git~1/config.py",
        ".gitmodules",
        ".gitattributes",
        "../outside.py",
        "a/../../outside.py",
        "/etc/passwd.py",
        "./train.py",
        "a//train.py",
        "",
        "a\\..\\b.py",
        "C:/x.py",
        "train.py\n",
        "tr\x1bain.py",
        "tr\u202eain.py",
        "setup.cfg",
        "Makefile",
        "action.yml",
        "x" * 1001 + ".py",
    ],
)
def test_paths_that_no_fix_may_have(history: History, tmp_path: Path, path: str) -> None:
    assert explain_forbidden(path)
    report = written(tmp_path / "report.json", changed(history.data(FIRST), path, retold(DIFF, path)))
    with pytest.raises(UserError) as caught:
        open_artifact(report)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["train.py", "src/pkg/ünïcode.py", "a b/c d.pyi", "x.pyw", "github/x.py"])
def test_paths_that_a_fix_may_have(path: str) -> None:
    assert explain_forbidden(path) == ""


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "--- a/train.py\n+++ b/train.py\n",
        DIFF.replace("+++ b/train.py", "+++ b/other.py"),
        DIFF.replace("--- a/train.py", "--- /dev/null"),
        DIFF + "diff --git a/.github/x b/.github/x\nnew file mode 120000\n",
        DIFF + "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-a\n+b\n",
        DIFF.replace("@@ -8,1 +8,1 @@", "@@ -8,2 +8,1 @@"),
        DIFF.replace("@@ -8,1 +8,1 @@", "@@ -8,1 +8,9999999999 @@"),
        DIFF.rstrip("\n"),
        "GIT binary patch\nliteral 0\n",
        DIFF.replace("cuda", "\ud800"),
        DIFF + "+x\n" * 600,
    ],
)
def test_diffs_that_are_none(history: History, tmp_path: Path, diff: str) -> None:
    with pytest.raises(UserError, match="fix 1"):
        open_artifact(written(tmp_path / "report.json", changed(history.data(FIRST), "train.py", diff)))


def test_too_many_lines_are_no_fix(history: History, tmp_path: Path) -> None:
    diff = "--- a/train.py\n+++ b/train.py\n@@ -0,0 +1,600 @@\n" + "+x = 1\n" * 600
    with pytest.raises(UserError, match="more than 500 lines"):
        open_artifact(written(tmp_path / "report.json", changed(history.data(FIRST), "train.py", diff)))


@pytest.mark.parametrize(
    ("diff", "before", "after"),
    [
        (DIFF, TRAIN, TRAIN.replace(b"net(x))", b'net(x.to("cuda")))')),
        ("--- a/train.py\n+++ b/train.py\n@@ -0,0 +1 @@\n+x = 1\n", b"", b"x = 1\n"),
        ("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", b"a", b"b\n"),
        ("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-a\r\n+b\r\n", b"a\r\nc", b"b\r\nc"),
        ("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-\udce9\n+b\n", b"\xe9\n", b"b\n"),
    ],
)
def test_diffs_are_applied_byte_for_byte(diff: str, before: bytes, after: bytes) -> None:
    assert apply(parse(diff, "train.py"), before) == after


@pytest.mark.parametrize("before", [b"", TRAIN.replace(b"print", b"show"), b"# one more line\n" + TRAIN])
def test_diffs_are_applied_exactly_or_not_at_all(before: bytes) -> None:
    with pytest.raises(ValueError, match="differs from the diff"):
        apply(parse(DIFF, "train.py"), before)


@pytest.mark.parametrize("kind", ["link", "folder link", "pipe", "huge", "latin", "device", "missing"])
def test_what_is_no_plain_file_is_not_read(history: History, tmp_path: Path, kind: str) -> None:
    report = tmp_path / "report.json"
    if kind == "link":
        report.symlink_to(history.artifact(tmp_path / "real.json", FIRST))
    elif kind == "folder link":
        history.artifact(tmp_path / "real" / "report.json", FIRST)
        report.symlink_to(tmp_path / "real")
    elif kind == "pipe":
        os.mkfifo(report)
    elif kind == "device":
        report = Path("/dev/zero")
    elif kind == "huge":
        report.write_text(" " * 5_000_000)
    elif kind == "latin":
        report.write_bytes(b'{"schema": "\xe9"}')
    with pytest.raises(UserError):
        open_artifact(report)


@pytest.mark.parametrize("kind", ["link", "foreign", "inner link", "deep", "pipe", "none"])
def test_a_folder_with_anything_else_in_it_is_not_taken(history: History, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "found"
    history.artifact(folder / "report.json", FIRST)
    (folder / "patches").mkdir()
    (folder / "patches" / "0001-Move-x.patch").write_text("From ")
    assert open_artifact(folder).data.outcome == "repaired"
    if kind == "link":
        (folder / "summary.md").symlink_to("/etc/passwd")
    elif kind == "foreign":
        (folder / "setup.py").touch()
    elif kind == "inner link":
        (folder / "patches" / "0002-x.patch").symlink_to("/etc/passwd")
    elif kind == "deep":
        (folder / "patches" / "more").mkdir()
    elif kind == "pipe":
        os.mkfifo(folder / "summary.md")
    else:
        (folder / "report.json").unlink()
    with pytest.raises(UserError):
        open_artifact(folder)


def test_the_commit_is_the_one_that_is_expected(history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST)
    assert open_artifact(report, history.commit_id).commit == history.commit_id
    with pytest.raises(UserError, match="is about the commit"):
        open_artifact(report, "0" * 40)


def test_what_answers_no_failure_is_refused(history: History, tmp_path: Path) -> None:
    data = history.data(FIRST)
    data["fixes"][0]["failure"] = 7
    with pytest.raises(UserError, match="refers to a failure"):
        open_artifact(written(tmp_path / "report.json", data))


def test_a_report_made_to_be_slow_is_refused_soon(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"schema": "devfix-report/1", "failures": [3] * 300_000}))
    with pytest.raises(UserError):
        open_artifact(report)


@pytest.mark.parametrize("kind", ["link", "elsewhere", "new", "other lines"])
def test_only_what_applies_to_regular_files_of_the_commit_is_pushed(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    history = History.start(tmp_path / "work", {"train.py": TRAIN, "real/train.py": TRAIN})
    (history.folder / "link.py").symlink_to("train.py")
    (history.folder / "linked").symlink_to("real")
    git(history.folder, "add", "--all")
    git(history.folder, "commit", "--quiet", "--message=links")
    path = {"link": "link.py", "elsewhere": "linked/train.py", "new": "new.py", "other lines": "train.py"}[kind]
    diff = DIFF.replace("-    print", "-    show") if kind == "other lines" else retold(DIFF, path)
    report = written(tmp_path / "report.json", changed(history.data(FIRST), path, diff))
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with github(tmp_path / "hub", history.folder) as hub:
        assert status(["publish", str(report), "--remote", hub.url]) == 2
        assert hub.writes() == [] and set(hub.branches()) == {"main"}
    assert ("does not apply" if kind == "other lines" else "no regular file") in capsys.readouterr().err
