"""The action's input `install`: the environment of the program is built from what the repository declares."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from git_repositories import git, make_repository, write
from package_index import PackageIndex, package_index
from runner import ROOT, Runner, copy_action

pytestmark = pytest.mark.slow
FILES = {name: (ROOT / "corpus" / "hello" / name).read_bytes() for name in ("train.py", "model.py")}
REQUIREMENTS = {"requirements.txt": "torch\nno-such-package-of-ours\n"}
LEFT_OUT = "no-such-package-of-ours is left out: no index has it; requirements.txt:2"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a runner in which the action installs devfix and uv, from a copy of this repository."""
    temp = tmp_path_factory.mktemp("runner")
    copy_action(temp / "action")
    return temp


def runner_for(installed: Path, repository: Path, event: str) -> Runner:
    """Return a runner that has installed devfix and uv, so that what follows needs no other index."""
    github = {"server_url": "http://127.0.0.1:9", "sha": git(repository, "rev-parse", "HEAD"), "event_name": event}
    used = {"actions/upload-artifact": lambda given: {}}
    runner = Runner(installed / "action", repository, installed, github, used)
    uv = installed / "devfix" / "bin" / "uv"
    if not uv.exists():
        assert runner.run(mode="repair", install="true", path="nowhere")[0] != 0
    assert uv.exists()
    return runner


@contextmanager
def sole_index_of(runner: Runner, folder: Path) -> Iterator[PackageIndex]:
    """Serve the index that uv alone asks; caches lie below `folder`, and are removed with what was built."""
    with package_index(folder / "index") as index:
        runner.variables = {
            "UV_DEFAULT_INDEX": index.address,
            "UV_CACHE_DIR": str(folder / "uv"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HTTPS_PROXY": "http://127.0.0.1:9",  # nobody listens there, so that no index of CPU builds answers
            "NO_PROXY": "127.0.0.1",
            "UV_HTTP_RETRIES": "0",
            "DEVFIX_NATIVE": "0",  # the compiler of the hot paths works on in the cache when devfix has ended
        }
        yield index
    assert list((folder / "cache" / "devfix" / "environments").glob("*/bin/python"))
    for name in ("uv", "cache"):
        shutil.rmtree(folder / name)


def test_install_builds_what_the_repository_declares(installed: Path, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "program", {**FILES, **REQUIREMENTS})
    runner = runner_for(installed, repository, "schedule")
    with sole_index_of(runner, tmp_path) as index:
        index.add_torch()
        code, outputs, _ = runner.run(mode="repair", install="true", run="python train.py")
    assert code == 0, runner.log
    assert (outputs["outcome"], outputs["fixes"]) == ("repaired", "2")
    assert LEFT_OUT in runner.log


def test_find_runs_tests_in_what_install_builds(installed: Path, tmp_path: Path) -> None:
    """In a pull request it is built for the base, whose findings are known, and for the merge."""
    library = "import torch\n\ndef {0}(x):\n    return x + torch.ones(len(x))\n"
    tests = "import torch\nfrom {0} import {0}\n\ndef test_{0}():\n    {0}(torch.ones(2))\n"
    files = {"old.py": library.format("old"), "tests/test_old.py": tests.format("old")}
    files |= {"pytest.ini": "[pytest]\npythonpath = .\n", **REQUIREMENTS}
    repository = make_repository(tmp_path / "program", files)
    main = git(repository, "rev-parse", "--abbrev-ref", "HEAD")
    git(repository, "checkout", "--quiet", "-b", "feature")
    write(repository, {"new.py": f"import leaf\n{library.format('new')}", "tests/test_new.py": tests.format("new")})
    write(repository, {"requirements.txt": f"{REQUIREMENTS['requirements.txt']}leaf\n"})
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=feature")
    git(repository, "checkout", "--quiet", "--detach", main)
    git(repository, "merge", "--quiet", "--no-ff", "--message=merge", "feature")
    runner = runner_for(installed, repository, "pull_request")
    with sole_index_of(runner, tmp_path) as index:
        index.add_torch("pytest")
        index.add("leaf")
        code, outputs, summary = runner.run(mode="find", install="true")
    assert (code, outputs["outcome"]) == (1, "found"), runner.log
    assert "::error file=new.py,line=5," in runner.log
    assert "file=old.py" not in runner.log and "1 new finding, 1 known" in summary
    assert runner.log.count(LEFT_OUT) == 2
