"""The documented workflows: what is to be replaced in them can be, and this repository's own runs as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from git_repositories import git, make_repository
from github_server import TOKEN, GitHub
from packaging.requirements import Requirement
from programs import FIRST, History
from runner import Runner
from test_action import HELLO, ROOT, WORKFLOWS, hub, installed, runner  # noqa: F401  # three are fixtures

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OURS = ROOT / ".github" / "workflows" / "devfix.yml"
PLACEHOLDER = "example/devfix@" + 40 * "0"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A fork: the program lies in a folder of the repository that has the action."""
    files = {f"corpus/hello/{name}": data for name, data in HELLO.items()}
    return make_repository(tmp_path / "work" / "devfix", files)


def uses(file: Path) -> list[dict[str, Any]]:
    """The steps of a workflow that use another action, in order."""
    jobs = yaml.safe_load(file.read_text())["jobs"].values()
    return [step for job in jobs for step in job["steps"] if "uses" in step]


@pytest.mark.slow
def test_the_own_workflow_opens_a_pull_request_in_a_fork(runner: Runner, hub: GitHub) -> None:  # noqa: F811
    find, publish = [step["with"] for step in uses(OURS) if step["uses"] == "./"]
    code, outputs, _ = runner.run(**_named(find), python=sys.executable)
    assert (code, outputs["outcome"], outputs["failures"]) == (0, "repaired", "2"), runner.log
    runner.github = {**runner.github, "token": TOKEN, "event_name": "workflow_dispatch"}
    code, outputs, _ = runner.run(**_named(publish))
    assert (code, outputs["pull-request-action"]) == (0, "opened"), runner.log
    assert hub.pulls[0]["draft"] is True
    changed = git(hub.bare, "diff", "--name-only", "main", hub.pulls[0]["head"]["ref"]).split()
    assert changed == ["corpus/hello/model.py", "corpus/hello/train.py"]


def _named(inputs: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in inputs.items()}


def test_the_own_workflow_needs_nothing_replaced_and_keeps_the_token_from_the_program() -> None:
    workflow = yaml.safe_load(OURS.read_text())
    assert workflow["permissions"] == {} and "example/" not in OURS.read_text() and "secrets." not in OURS.read_text()
    assert workflow["jobs"]["find"]["permissions"] == {"contents": "read"}
    checkouts = [step for step in uses(OURS) if "checkout@" in step["uses"]]
    assert len(checkouts) == 2 and all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: f"{file.parents[1].name}-{file.name}")
def test_the_documented_command_replaces_what_is_to_be_replaced(file: Path, tmp_path: Path) -> None:
    (command,) = re.findall(
        r"^ *(sed -i .*)$", (ROOT / "docs" / "how-to" / "github-action.md").read_text(), re.MULTILINE
    )
    clone = make_repository(tmp_path / "devfix", {"a.py": "x = 1\n"})
    copied = tmp_path / ".github" / "workflows" / "devfix.yml"
    copied.parent.mkdir(parents=True)
    copied.write_text(file.read_text())
    script = command.replace("~", str(tmp_path))
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, check=True)
    ours = f"ada/devfix@{git(clone, 'rev-parse', 'HEAD')}"
    assert copied.read_text() == file.read_text().replace(PLACEHOLDER, ours)
    assert "example/" not in copied.read_text()


def test_no_page_sends_anybody_to_an_index_that_does_not_have_devfix() -> None:
    wrong = re.compile(r"pip install (?:--\S+ )*['\"]?devfix\b")
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    texts = {name: (ROOT / name).read_text("utf-8", "replace") for name in listed if (ROOT / name).is_file()}
    assert not [name for name, text in texts.items() if wrong.search(text)]


@pytest.mark.parametrize(
    ("forge", "package", "extra"),
    [("github", "githubkit", "publish"), ("gitlab", "gitlab", "gitlab"), ("forgejo", "httpx", "forgejo")],
)
def test_who_lacks_what_publishing_takes_is_told_what_an_index_has(
    forge: str, package: str, extra: str, history: History, tmp_path: Path
) -> None:
    words = ["publish", str(history.artifact(tmp_path / "found", FIRST)), "--dry-run", "--forge", forge]
    words += ["--remote", "https://forge.example.org/ada/model"]
    hidden = f"import sys; sys.modules[{package!r}] = None\nfrom devfix.cli import main; main({words})"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    told = re.search(rf"publishing needs {package}: pip install (.*)", done.stderr)
    assert told is not None, done.stderr
    names = {Requirement(word).name for word in shlex.split(told[1])}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][extra]
    assert names == {Requirement(line).name for line in declared}
