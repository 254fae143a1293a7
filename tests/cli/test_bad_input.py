"""What a repair makes of odd files and odd repositories: a clear word, nothing lost, nothing left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository
from waiting import HANGS

import devfix
from devfix.errors import UserError
from devfix.model import Outcome, Report

FAULTY = """import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(2, device=device)
if True:
    y = torch.arange(2)
print((x + y).sum().item())
"""
ARANGE, FIXED = "torch.arange(2)", "torch.arange(2, device=device)"


def repair(root: Path, **options: object) -> Report:
    given = {"run": "python main.py", "world": "simulated", "timeout": HANGS, **options}
    return devfix.repair(root, **given)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert [path.name for path in scratch.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        FAULTY.replace("\n", "\r\n").encode(),
        FAULTY.replace("    ", "\t").encode(),
        b"\xef\xbb\xbf" + FAULTY.encode(),
        ("# -*- coding: latin-1 -*-\nname = 'é'\n" + FAULTY).encode("latin-1"),
        FAULTY.rstrip("\n").encode(),
        ("\x0c\n" + FAULTY).encode(),
    ],
    ids=["crlf", "tabs", "bom", "latin-1", "no-newline", "form-feed"],
)
def test_an_odd_file_is_repaired_and_keeps_its_other_bytes(tmp_path: Path, data: bytes) -> None:
    root = make_repository(tmp_path / "program", {"main.py": data})
    report = repair(root)
    assert report.outcome == "repaired"
    told = git(root, "cat-file", "-s", f"{report.branch}:main.py")
    expected = data.replace(ARANGE.encode(), FIXED.encode())
    assert int(told) == len(expected)
    assert report.repairs[0].fix is not None
    assert report.repairs[0].fix.patch.edits[0].after == expected
    assert (root / "main.py").read_bytes() == data


@pytest.mark.slow
def test_a_repository_may_have_any_name(tmp_path: Path) -> None:
    root = make_repository(tmp_path / 'an odd\n"name" \\n: #é' / "program", {"main.py": FAULTY})
    report = repair(root)
    assert report.outcome == "repaired"
    assert git(root, "cat-file", "-s", f"{report.branch}:main.py") == str(len(FAULTY.replace(ARANGE, FIXED)))


@pytest.mark.slow
def test_a_file_with_a_syntax_error_beside_the_program_is_no_matter(tmp_path: Path) -> None:
    files = {"main.py": FAULTY, "broken.py": "def (:\n", "two.py": "print 'python 2'\n"}
    report = repair(make_repository(tmp_path / "program", files))
    assert report.outcome == "repaired"


@pytest.mark.slow
def test_uncommitted_changes_are_left_out_and_said_and_kept(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": FAULTY, "other.py": "a = 1\n"})
    (root / "main.py").write_text("raise SystemExit('not committed')\n")
    (root / "other.py").write_text("a = 2\n")
    git(root, "add", "other.py")
    (root / "new.py").write_text("b = 3\n")
    before = fingerprint(root)
    report = repair(root, dry_run=True)
    assert report.outcome == "repaired"
    assert any("not committed are left out" in note and "main.py" in note for note in report.notes)
    assert fingerprint(root) == before


@pytest.mark.slow
def test_a_detached_head_gets_its_branch_and_stays_detached(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": FAULTY})
    git(root, "checkout", "--quiet", "--detach")
    commit = git(root, "rev-parse", "HEAD")
    report = repair(root)
    assert git(root, "rev-parse", f"{report.branch}~1") == commit
    assert git(root, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"


def test_a_branch_that_exists_is_refused_before_anything_runs(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": FAULTY})
    git(root, "branch", "mine")
    with pytest.raises(UserError, match="the branch exists; name another"):
        repair(root, branch="mine")


@pytest.mark.slow
def test_a_second_repair_takes_the_next_name_and_one_of_the_branch_finds_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": FAULTY})
    first, second = repair(root), repair(root)
    assert second.branch == f"{first.branch}-2"
    git(root, "checkout", "--quiet", first.branch)
    assert repair(root).outcome == "clean"


@pytest.mark.slow
def test_output_without_end_is_bounded_and_stopped(tmp_path: Path) -> None:
    program = "import torch\nwhile True:\n    print('x' * 10_000)\n"
    report = repair(make_repository(tmp_path / "program", {"main.py": program}), timeout=6)
    assert report.outcome == "error"
    assert report.last_run is not None and report.last_run.outcome is Outcome.TIMEOUT
    assert len(report.last_run.stdout) < 20_000_000


@pytest.mark.slow
def test_a_folder_of_a_repository_is_where_the_command_runs(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"deep/er/main.py": FAULTY, "main.py": "raise SystemExit(3)\n"})
    report = repair(root / "deep" / "er")
    assert report.outcome == "repaired"
    assert report.repairs[0].fix is not None
    assert report.repairs[0].fix.patch.edits[0].path == "deep/er/main.py"


@pytest.mark.slow
def test_what_git_ignores_is_used_and_never_edited(tmp_path: Path) -> None:
    files = {"main.py": "import made\n", ".gitignore": "made.py\n"}
    root = make_repository(tmp_path / "program", files)
    (root / "made.py").write_text(FAULTY)
    report = repair(root)
    assert (report.outcome, report.branch) == ("unrepaired", "")
    assert (root / "made.py").read_text() == FAULTY


@pytest.mark.parametrize("what", ["HEAD", "HEAD^{tree}", "HEAD:main.py"])
def test_a_damaged_repository_is_told_in_one_line(tmp_path: Path, what: str) -> None:
    root = make_repository(tmp_path / "program", {"main.py": FAULTY})
    name = git(root, "rev-parse", what)
    lost = root / ".git" / "objects" / name[:2] / name[2:]
    lost.chmod(0o600)
    lost.write_bytes(b"not what git wrote")
    with pytest.raises(UserError, match=r"the repository is damaged .*: `git fsck` lists what is missing$"):
        repair(root)
