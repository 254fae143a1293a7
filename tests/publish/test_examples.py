"""The examples for other ways to install a program: their steps with the action run as they stand."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from git_repositories import git, make_repository
from github_server import TOKEN, GitHub
from runner import Runner, filled
from test_action import ROOT, WORKFLOWS, hub, installed, runner  # noqa: F401  # three are fixtures

TRAIN = b"""import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1000)
for step in range(parser.parse_args().steps):
    weights = torch.ones(2, device="cuda")
    inputs = torch.ones(2)
    print((weights * inputs).sum().item())
"""
EXAMPLES = ROOT / "examples" / "workflows"
PROGRAMS = {"train.py": TRAIN, "packages/vision/train.py": TRAIN, "packages/language/train.py": TRAIN}
ACTS = "example/devfix@"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {**PROGRAMS, "README.md": b"models\n", ".gitignore": b".venv\n"}
    return make_repository(tmp_path / "work" / "models", files)


def environment(folder: Path) -> None:
    """Make an environment that has the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (place,) = folder.glob("lib/python*/site-packages")
    (place / "ours.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")


def steps(file: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The name of each job, and what it gives the action, for each entry of its matrix."""
    for name, job in yaml.safe_load(file.read_text())["jobs"].items():
        given = next(step["with"] for step in job["steps"] if step.get("uses", "").startswith(ACTS))
        matrix: Mapping[str, list[str]] = job.get("strategy", {}).get("matrix", {"none": [""]})
        ((variable, values),) = matrix.items()
        conda: Mapping[str, Any] = {"conda": {"outputs": {"python": sys.executable}}}
        for value in values:
            names = {"matrix": {variable: value}, "steps": conda}
            yield name, {key.replace("-", "_"): filled(each, names) for key, each in given.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uv", "conda", "container", "self-hosted", "merge-queue", "monorepo"])
def test_the_steps_of_an_example_do_what_it_says(
    runner: Runner,  # noqa: F811
    hub: GitHub,  # noqa: F811
    repository: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if name in ("uv", "self-hosted"):
        environment(repository / ".venv")
    else:
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    done = []
    for job, given in steps(EXAMPLES / f"{name}.yml"):
        runner.github = {**runner.github, "token": TOKEN, "event_name": "schedule"}
        code, outputs, _ = runner.run(**given)
        expected = 1 if given["mode"] == "annotate" else 0
        assert code == expected, runner.log
        done.append((job, outputs["outcome"] or outputs["pull-request-action"]))
    if name == "monorepo":
        assert done == [("find", "repaired")] * 2 + [("publish", "opened")] * 2
        changed = [git(hub.bare, "diff", "--name-only", "main", pull["head"]["ref"]) for pull in hub.pulls]
        assert changed == ["packages/vision/train.py", "packages/language/train.py"]
    elif len(done) == 2:
        assert done == [("find", "repaired"), ("publish", "opened")]
    else:
        assert done == [("annotate", "repaired")] and "::error file=train.py,line=10," in runner.log


def test_no_example_has_a_digest_that_does_not_exist() -> None:
    for file in WORKFLOWS:
        images = [job.get("container", "") for job in yaml.safe_load(file.read_text())["jobs"].values()]
        assert not any("@sha256:" in str(image) for image in images)
