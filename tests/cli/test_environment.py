"""`devfix env`, and `--install` of `devfix repair` and `devfix find`: from an address to a branch in a clone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from git_repositories import git, make_repository
from git_server import answer, read_body
from package_index import PackageIndex, sole_index

from devfix.cli import status

ROOT = Path(__file__).parents[2]
HELLO = {name: (ROOT / "corpus" / "hello" / name).read_bytes() for name in ("train.py", "model.py")}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with sole_index(tmp_path, monkeypatch) as served:
        yield served


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server from which repositories below `hosted` can be cloned; those below `private` cannot."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            open_to_all = {"": "read"} if not self.path.startswith("/private") else {}
            answer(self, tmp_path / "hosted", open_to_all, read_body(self))

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_env_prints_the_interpreter_and_what_it_has(
    index: PackageIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.add("leaf")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "leaf\n"})
    assert status(["env", str(folder), "--torch", "none", "--verbose"]) == 0
    python, summary, *rest = capsys.readouterr().out.splitlines()
    assert subprocess.check_output([python, "-c", "import leaf; print(leaf.version)"], text=True) == "1.0\n"
    assert summary.startswith("Python ") and "no torch, 1 package from requirements.txt; built in" in summary
    assert rest == ["  leaf==1.0"]
    assert status(["env", str(folder), "--torch", "none", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["python"], data["packages"], data["reused"]) == (python, ["leaf==1.0"], True)
    assert status(["env", "--clear"]) == 0
    assert capsys.readouterr().out == "1 environment removed\n" and not Path(python).exists()


def test_env_says_what_it_lacks(index: PackageIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "program", {"requirements.txt": "no-such-leaf\n"})
    assert status(["env", str(folder), "--torch", "none"]) == 1
    assert "no-such-leaf is left out: no index has it; requirements.txt:1" in capsys.readouterr().out


def test_env_has_a_line_for_a_conflict_and_all_of_it_if_asked(
    index: PackageIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.add("leaf")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "leaf>1\n"})
    assert status(["env", str(folder), "--torch", "none"]) == 2
    assert "No solution found" not in capsys.readouterr().err
    assert status(["env", str(folder), "--torch", "none", "--verbose"]) == 2
    told = capsys.readouterr()
    assert "No solution found" in told.err and "requirements.txt:1 asks for leaf>1" in told.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["repair", ".", "--torch", "cpu"], "add --install"),
        (["find", ".", "--install", "--python", "python3"], "give one of them"),
        (["env", "https://ada:secret@host.example/owner/name"], "the address holds a password"),
        (["env", "ftp://host.example/owner/name"], "ftp: not a way to a repository"),
        (["env", "https://host.example/"], "names no repository"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_repository(tmp_path / "program", {"train.py": ""})
    monkeypatch.chdir(tmp_path / "program")
    assert status(arguments) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert words in last and "secret" not in last


@pytest.mark.slow
def test_an_address_becomes_a_clone_in_the_current_folder(
    index: PackageIndex,
    hosted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    index.add("leaf")
    origin = make_repository(tmp_path / "origin", {"requirements.txt": "leaf\n"})
    git(tmp_path, "clone", "--quiet", "--bare", str(origin), str(tmp_path / "hosted" / "program.git"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert status(["env", f"{hosted}/program.git", "--torch", "none"]) == 0
    assert f"devfix: cloned into {tmp_path / 'here' / 'program'}\n" in capsys.readouterr().err
    assert git(tmp_path / "here" / "program", "rev-parse", "HEAD") == git(origin, "rev-parse", "HEAD")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["program"]
    assert status(["env", f"{hosted}/program.git", "--torch", "none"]) == 2
    assert "already there; give that folder in place of the address" in capsys.readouterr().err


def test_what_cannot_be_cloned_leaves_nothing(
    hosted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, words in (("private/program", "clone it yourself"), ("none", "cannot be cloned")):
        assert status(["env", f"{hosted}/{name}"]) == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert words in last and last.startswith("devfix: ")
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.slow
def test_from_an_address_to_a_branch_in_a_clone(
    index: PackageIndex,
    hosted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    release = index.add_torch("pytest")
    test = "import torch\nfrom model import Classifier\ndef test_model():\n"
    test += "    assert Classifier(9, 3)(torch.ones(2, 5, dtype=torch.long)).shape == (2, 3)\n"
    files = {"requirements.txt": "torch\n", "test_model.py": test, "conftest.py": "", **HELLO}
    origin = make_repository(tmp_path / "origin", files)
    git(tmp_path, "clone", "--quiet", "--bare", str(origin), str(tmp_path / "hosted" / "program"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    address = f"{hosted}/program"
    options = ["--install", "--torch", "none", "--run", "python train.py", "--world", "simulated", "--no-test"]
    assert status(["repair", address, *options, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], len(report["commits"])) == ("repaired", 2)
    assert git(tmp_path / "here" / "program", "rev-parse", report["branch"]) == report["commits"][-1]
    assert status(["env", "program", "--torch", "none", "--with", "torch>=2.6", "--format", "json"]) == 0
    environment = json.loads(capsys.readouterr().out)
    assert environment["reused"] and f"torch=={release}" in environment["packages"]
    assert Path(environment["python"]).resolve() == Path(sys.executable).resolve()
    assert status(["find", "program", "--install", "--torch", "none", "--format", "json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["path"] == "model.py"
