"""The component for GitLab CI/CD: held against GitLab's schema, and its jobs run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forge_server
import pytest
import yaml
from api_description import Description
from conftest import described
from forge_server import TOKEN
from git_repositories import git, make_repository
from gitlab_server import GitLab

ROOT = Path(__file__).parents[2]
COMPONENT = ROOT / "templates" / "repair" / "template.yml"
BIN = Path(sys.executable).parent
HELLO = {name: (ROOT / "corpus" / "hello" / name).read_bytes() for name in ("train.py", "model.py")}
GIVEN = {"devfix": "https://example.org/devfix", "revision": "0" * 40, "install": "true"}


def parts() -> tuple[dict[str, Any], str]:
    """Return the inputs of the component, and the text of its jobs."""
    head, body = COMPONENT.read_text().split("\n---\n")
    return yaml.safe_load(head)["spec"]["inputs"], body


def jobs(**given: str) -> dict[str, Any]:
    """Return the jobs with inputs filled in, as GitLab does before it reads the text as YAML."""
    inputs, body = parts()
    values = {name: each.get("default") for name, each in inputs.items()} | GIVEN | given
    filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: str(values[found[1]]), body)
    data: dict[str, Any] = yaml.safe_load(filled)
    return data


def test_it_keeps_to_the_schema_of_gitlab(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yml"
    file.write_text(yaml.safe_dump(jobs()))
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", file]
    subprocess.run(command, check=True)


def test_every_input_is_described_and_used() -> None:
    inputs, body = parts()
    assert set(re.findall(r"inputs\.([\w-]+)", body)) == set(inputs)
    assert all(each["description"] for each in inputs.values())
    assert {name for name, each in inputs.items() if "default" not in each} == {"devfix", "revision"}
    assert re.fullmatch(inputs["revision"]["regex"], "0" * 40) and not re.fullmatch(inputs["revision"]["regex"], "main")


def test_inputs_reach_scripts_by_the_environment() -> None:
    for job in jobs(**dict.fromkeys(parts()[0], "INPUT")).values():
        for line in job["script"]:
            assert "INPUT" not in line  # as text, never as script
            subprocess.run(["sh", "-n"], input=line, text=True, check=True)


def test_quotes_in_an_input_are_text() -> None:
    words = """python train.py --name "a b" 'c' # d: e"""
    repair, publish = jobs(run=words, install=words, labels='a "b"').values()
    assert repair["variables"]["DEVFIX_RUN"] == words and repair["before_script"][1].strip() == words
    assert publish["variables"]["DEVFIX_LABELS"] == 'a "b"' and jobs()["devfix"]["variables"]["DEVFIX_RUN"] == ""


def test_the_job_with_the_token_has_no_checkout_and_no_merge_request() -> None:
    repair, publish = jobs().values()
    assert "environment" not in repair and publish["environment"] == {"name": "devfix", "action": "access"}
    assert publish["variables"]["GIT_STRATEGY"] == "none"
    assert publish["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    assert all("--require-hashes" in line for line in publish["script"])


def test_the_lock_has_what_gitlab_needs() -> None:
    lock = (ROOT / ".gitlab" / "publish-requirements.txt").read_text()
    assert "\npython-gitlab==" in lock and "githubkit" not in lock and "torch" not in lock


def run(job: Mapping[str, Any], checkout: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the scripts of a job as GitLab's runner does: in one shell that ends with the first failure."""
    script = "\n".join([*job.get("before_script", ()), *job["script"]])
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    ci = {"CI": "true", "GITLAB_CI": "true", "CI_PROJECT_DIR": str(checkout)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    whole = {**kept, **ci, **environment, **{name: str(value) for name, value in job["variables"].items()}}
    return subprocess.run(command, cwd=checkout, env=whole, capture_output=True, text=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which devfix is installed."""
    (tmp_path / "home" / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "home" / "venv" / "bin" / "devfix").symlink_to(BIN / "devfix")
    return tmp_path / "home"


@pytest.mark.slow
def test_its_jobs_open_a_merge_request(home: Path, tmp_path: Path, descriptions: dict[str, Description]) -> None:
    project = make_repository(tmp_path / "work" / "model", HELLO)
    gitlab = GitLab(tmp_path / "forge", described("gitlab", descriptions))
    with forge_server.served(gitlab, project):
        known = {"DEVFIX_HOME": str(home), "CI_COMMIT_SHA": git(project, "rev-parse", "HEAD")}
        known |= {"CI_PROJECT_URL": gitlab.url, "CI_SERVER_URL": gitlab.server, "CI_PROJECT_PATH": gitlab.path}
        repair, publish = jobs(run="python train.py", python=sys.executable, labels="gpu, two words").values()
        done = run(repair, project, {**known, "GITLAB_TOKEN": TOKEN})
        assert done.returncode == 2 and "could read GITLAB_TOKEN" in done.stderr
        done = run(repair, project, known)
        assert done.returncode == 0, done.stdout + done.stderr
        entries = json.loads((project / "devfix-codequality.json").read_text())
        assert [entry["location"]["path"] for entry in entries] == ["model.py", "model.py"]
        empty = tmp_path / "empty"
        empty.mkdir()
        shutil.copytree(project / "devfix-found", empty / "devfix-found")
        done = run(publish, empty, {**known, "GITLAB_TOKEN": TOKEN})
        assert done.returncode == 0, done.stdout + done.stderr
        (pull,) = gitlab.pulls
        assert pull["labels"] == ["gpu", "two words"] and pull["title"] in done.stdout
        assert run(publish, empty, {**known, "GITLAB_TOKEN": TOKEN}).stdout.startswith("unchanged")
    assert gitlab.violations == [] and gitlab.executed == []


@pytest.mark.slow
def test_a_wrong_command_fails_the_job(home: Path, tmp_path: Path) -> None:
    project = make_repository(tmp_path / "work" / "model", HELLO)
    repair, _ = jobs(run="python trian.py", python=sys.executable).values()
    done = run(repair, project, {"DEVFIX_HOME": str(home)})
    assert done.returncode != 0
