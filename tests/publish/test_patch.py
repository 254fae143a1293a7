"""`devfix publish --format patch`: what `git am` makes of it is what a push would have made, and nothing more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from git_repositories import git
from programs import FIRST, SECOND, TRAIN, History, written

from devfix.cli import status
from devfix.publish.patch import mail_safe

EVIL = """diff --git a/.github/workflows/ci.yml b/.github/workflows/ci.yml
--- a/.github/workflows/ci.yml
+++ b/.github/workflows/ci.yml
@@ -1 +1 @@
-on: push
+on: issue_comment
"""


@pytest.fixture
def here(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's repository, with a shallow history and no branch checked out, as in a job."""
    clone = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{history.folder}", str(clone))
    git(clone, "checkout", "--quiet", "--detach")
    git(clone, "remote", "remove", "origin")
    git(clone, "config", "user.name", "Ada")
    git(clone, "config", "user.email", "ada@localhost")
    monkeypatch.chdir(clone)
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ACTIONS", "CI"):
        monkeypatch.delenv(name, raising=False)
    return clone


def folders(parent: Path) -> list[Path]:
    return sorted(each for each in parent.iterdir() if each.is_dir())


def applied(clone: Path, folder: Path) -> list[str]:
    """Apply the patches of a folder as a person does; return the files that differ from the commit before."""
    before = git(clone, "rev-parse", "HEAD")
    patches = sorted(folder.glob("*.patch"))
    done = subprocess.run(
        ["git", "am", "--keep-cr", "--keep-non-patch", *patches], cwd=clone, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return git(clone, "diff", "--name-only", before).splitlines()


def test_git_am_makes_what_a_push_would_have_made(here: Path, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    out = tmp_path / "out"
    assert status(["publish", str(report), "--format", "patch", "--output", str(out)]) == 0
    (folder,) = folders(out)
    names = [file.name for file in sorted(folder.iterdir())]
    assert names[-1] == "pull-request.md" and [name[:5] for name in names[:-1]] == ["0001-", "0002-"]
    text = (folder / "pull-request.md").read_text()
    assert text.startswith("# move `x` to the model's device and 1 more device failure\n\n")
    assert "python train.py" in text
    assert applied(here, folder) == ["model.py", "train.py"]
    assert (here / "train.py").read_bytes() == TRAIN.replace(b"net(x)", b'net(x.to("cuda"))')
    subjects = git(here, "log", "-2", "--format=%s %an").splitlines()
    assert subjects[0].startswith("move `mask`") and subjects[0].endswith("Ada")
    assert git(history.folder, "status", "--porcelain") == ""


def test_windows_lines_and_other_encodings_survive(here: Path, tmp_path: Path) -> None:
    for name, content in (("u", "utf-8"), ("l", "latin-1")):
        folder = tmp_path / name
        head = f"# -*- coding: {content} -*-\r\n# caf\xe9\r\n".encode(content)
        history = History.start(folder, {"train.py": head + TRAIN.replace(b"\n", b"\r\n")})
        bug = (FIRST[0], FIRST[1] + 2, *FIRST[2:])
        report = history.artifact(tmp_path / f"{name}.json", bug)
        clone, out = tmp_path / f"{name}-clone", tmp_path / f"{name}-out"
        git(tmp_path, "clone", "--quiet", str(folder), str(clone))
        git(clone, "config", "user.name", "Ada")
        git(clone, "config", "user.email", "ada@localhost")
        options = ("--remote", str(folder), "--format", "patch", "--output", str(out))
        assert status(["publish", str(report), *options]) == 0
        (folder,) = folders(out)
        assert applied(clone, folder) == ["train.py"]
        wanted = history.content("train.py").replace(b"net(x)", b'net(x.to("cuda"))')
        assert (clone / "train.py").read_bytes() == wanted


def test_a_subject_keeps_its_bracket(here: Path, tmp_path: Path) -> None:
    history = History.start(tmp_path / "bracketed", {"train.py": TRAIN})
    for number in range(8):
        history.commit({}, f"[bugfix] a change, take {number}")
    report = history.artifact(tmp_path / "1.json", FIRST)
    options = ("--remote", str(history.folder), "--format", "patch", "--output", str(tmp_path / "out"))
    assert status(["publish", str(report), *options]) == 0
    (folder,) = folders(tmp_path / "out")
    git(history.folder, "config", "user.email", "ada@localhost")
    assert applied(history.folder, folder) == ["train.py"]
    assert git(history.folder, "log", "-1", "--format=%s") == "[bugfix] move `x` to the model's device"


@pytest.mark.parametrize("before", ["", "words ", "From: Eve <eve@localhost>\n\n"])
def test_a_message_cannot_carry_a_patch(here: Path, history: History, tmp_path: Path, before: str) -> None:
    # The template stands for whatever brings the lines to their places: it prints them as they are.
    templates = tmp_path / "templates"
    templates.mkdir()
    mail = "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: Eve <eve@localhost>\n"
    evil = f"{before}\n---\n{EVIL}\n{mail}Subject: more\n\n---\n{EVIL}"
    (templates / "commit.txt.jinja").write_text("{{ subject }}\n\n" + evil)
    report = history.artifact(tmp_path / "1.json", FIRST)
    out = tmp_path / "out"
    options = ("--format", "patch", "--output", str(out), "--templates", str(templates))
    assert status(["publish", str(report), *options]) == 0
    (folder,) = folders(out)
    assert applied(here, folder) == ["train.py"]
    assert git(here, "log", "-1", "--format=%an %s").startswith("Ada move `x`")
    assert git(here, "rev-list", "--count", f"{history.commit_id}..HEAD") == "1"
    assert (here / ".github/workflows/ci.yml").read_bytes() == b"on: push\n"


def test_an_ordinary_message_stays_as_it_is() -> None:
    message = "fix: move `x`\n\nA reason.\n\nRule: placement/input-not-moved (safe)\n- a list\n"
    assert mail_safe(message) == message


@pytest.mark.slow
def test_again_it_replaces_its_own_files_and_no_others(
    here: Path, history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    command = ["publish", str(report), "--format", "patch", "--per-fix"]
    assert status([*command, "--dry-run"]) == 0 and not (here / "devfix-patches").exists()
    assert status(command) == 0 and status(command) == 0
    first, second = folders(here / "devfix-patches")
    assert len(list(first.glob("*.patch"))) == len(list(second.glob("*.patch"))) == 1
    (first / "mine.txt").write_text("mine")
    assert status(command) == 2
    assert "has mine.txt, which devfix did not write" in capsys.readouterr().err
    assert (first / "mine.txt").read_text() == "mine" and list(first.glob("*.patch"))


@pytest.mark.parametrize("name", ["..", "devfix/..", "."])
def test_a_branch_of_the_settings_names_no_other_folder(
    here: Path, history: History, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    history.commit({"devfix.toml": f'[publish]\nbranch = "{name}"\n'}, "Configure devfix")
    report = history.artifact(tmp_path / "1.json", FIRST)
    options = ("--remote", str(history.folder), "--format", "patch", "--output", str(tmp_path / "out" / "inner"))
    assert status(["publish", str(report), *options]) == 2
    assert "not a valid branch name" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_secret_is_written_nowhere(
    here: Path, history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leak = (*FIRST[:4], b"net(x)", b'net(x, token="hf_' + b"a1B2" * 9 + b'")')
    report = history.artifact(tmp_path / "1.json", leak)
    assert status(["publish", str(report), "--format", "patch"]) == 2
    assert "Hugging Face token" in capsys.readouterr().err and not (here / "devfix-patches").exists()


def test_a_commit_that_is_not_there_is_one_line(
    here: Path, history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = written(tmp_path / "1.json", {**history.data(FIRST), "commit": "0" * 40})
    assert status(["publish", str(report), "--format", "patch"]) == 2
    assert f"no commit {'0' * 40}" in capsys.readouterr().err.splitlines()[-1]
    assert status(["publish", str(report), "--output", "x"]) == 2
    assert "only --format patch" in capsys.readouterr().err
