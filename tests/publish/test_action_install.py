"""The action's input `install`: the environment of the program is built from what the repository declares."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from git_repositories import git, make_repository
from package_index import package_index
from runner import ROOT, Runner, copy_action

FILES = {name: (ROOT / "corpus" / "hello" / name).read_bytes() for name in ("train.py", "model.py")}


@pytest.mark.slow
def test_install_builds_what_the_repository_declares(tmp_path: Path) -> None:
    requirements = "torch\nno-such-package-of-ours\n"
    repository = make_repository(tmp_path / "program", {**FILES, "requirements.txt": requirements})
    github = {"server_url": "http://127.0.0.1:9", "sha": git(repository, "rev-parse", "HEAD"), "event_name": "schedule"}
    temp = tmp_path / "runner"
    temp.mkdir()
    used = {"actions/upload-artifact": lambda given: {}}
    runner = Runner(copy_action(tmp_path / "action"), repository, temp, github, used)
    assert runner.run(mode="repair", install="true", path="nowhere")[0] != 0
    assert (temp / "devfix" / "bin" / "uv").exists()  # devfix and uv: what follows needs no other index
    with package_index(tmp_path / "index") as index:
        index.add_torch()
        runner.variables = {
            "UV_DEFAULT_INDEX": index.address,
            "UV_CACHE_DIR": str(tmp_path / "uv"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "HTTPS_PROXY": "http://127.0.0.1:9",  # nobody listens there, so that no index of CPU builds answers
            "NO_PROXY": "127.0.0.1",
            "UV_HTTP_RETRIES": "0",
        }
        code, outputs, _ = runner.run(mode="repair", install="true", run="python train.py")
    assert code == 0, runner.log
    assert (outputs["outcome"], outputs["fixes"]) == ("repaired", "2")
    assert "no-such-package-of-ours is left out: no index has it; requirements.txt:2" in runner.log
    (built,) = (tmp_path / "cache" / "devfix" / "environments").glob("*/bin/python")
    assert built.exists()
    for name in ("uv", "cache"):
        shutil.rmtree(tmp_path / name)
