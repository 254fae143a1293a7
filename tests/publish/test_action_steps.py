"""Single steps of the action: what they are given, and how they answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from calling import Publish
from github_reviews import comment_event
from github_server import TOKEN, GitHub
from programs import FIRST, History, written
from runner import Runner, filled
from test_action import ROOT, installed  # noqa: F401  # a fixture

STEPS = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


def named(name: str) -> dict[str, Any]:
    (step,) = (step for step in STEPS if step["name"] == name)
    return dict(step)


@pytest.mark.parametrize(("event", "token"), [("workflow_run", TOKEN), ("schedule", ""), ("push", "")])
def test_the_artifact_of_the_same_run_is_downloaded_without_a_token(event: str, token: str) -> None:
    given = named("Download the report")["with"]["github-token"]
    assert filled(given, {"github": {"event_name": event}, "inputs": {"token": TOKEN}}) == token


@pytest.mark.parametrize(
    ("server", "version"), [("https://github.com", "v4"), ("https://ada.ghe.com", "v4"), ("https://git.ada.org", "v3")]
)
def test_a_server_of_ones_own_has_older_artifacts(server: str, version: str, tmp_path: Path) -> None:
    script = named("Install devfix in its own environment")["run"]
    output = tmp_path / "output"
    choice = script[script.index('case "$GITHUB_SERVER_URL"') :]
    environment = {"GITHUB_SERVER_URL": server, "GITHUB_OUTPUT": str(output), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-ec", choice], env=environment, check=True)
    assert output.read_text() == f"artifacts={version}\n"


@pytest.fixture
def runner(installed: Path, tmp_path: Path, history: History, hub: GitHub, quick: None) -> Runner:  # noqa: F811
    server = f"http://127.0.0.1:{hub.port}"
    github = {
        "token": TOKEN,
        "server_url": server,
        "api_url": f"{server}/api/v3",
        "repository": "ada/model",
        "sha": history.commit_id,
        "event_name": "schedule",
        "run_id": "1",
    }

    def download(given: object) -> dict[str, str]:
        history.artifact(installed / "devfix-artifact" / "report.json", FIRST)
        return {}

    return Runner(installed / "action", history.folder, installed, github, {"actions/download-artifact": download})


@pytest.mark.slow
def test_templates_are_relative_to_the_workspace(runner: Runner, hub: GitHub, history: History) -> None:
    own = history.folder / "ci" / "pull_request.md.jinja"
    own.parent.mkdir()
    own.write_text("Ours: {{ report.command }}\n")
    code, outputs, _ = runner.run(mode="publish", templates="ci", commits="api", dashboard="true")
    assert (code, outputs["pull-request-action"]) == (0, "opened"), runner.log
    assert "Ours: python train.py" in hub.pulls[0]["body"] and len(hub.issues) == 1


@pytest.mark.slow
def test_a_comment_gives_a_command(runner: Runner, hub: GitHub, publish: Publish, history: History) -> None:
    publish(history.artifact(runner.temp / "report.json", FIRST))
    hub.permissions = {"grace": "write"}
    event = runner.temp / "event.json"
    event.write_text(json.dumps(comment_event(hub, 1, "grace", "/devfix ignore\n$(touch pwned)")))
    runner.github = {**runner.github, "event_name": "issue_comment", "event_path": str(event)}
    code, outputs, _ = runner.run(mode="respond")
    assert (code, outputs["pull-request-action"], outputs["pull-request-number"]) == (0, "ignore", "1"), runner.log
    assert hub.pulls[0]["state"] == "closed" and TOKEN not in runner.log


@pytest.mark.slow
def test_a_pull_request_gets_suggestions(runner: Runner, hub: GitHub, history: History) -> None:
    hub.add("main", "Print", "")
    event = runner.temp / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 1, "head": {"sha": history.commit_id}}}))
    runner.github = {**runner.github, "event_name": "pull_request", "event_path": str(event)}
    code, outputs, summary = runner.run(mode="suggest")
    assert (code, outputs["pull-request-action"]) == (0, "suggested"), runner.log
    assert len(hub.reviews) == 1 and "- Suggested " in summary


def test_a_number_of_another_type_is_one_line(publish: Publish, history: History, tmp_path: Path) -> None:
    data = history.data(FIRST)
    data["fixes"][0]["failure"] = 0.0
    said = publish.refused(written(tmp_path / "1.json", data))
    assert "failure" in said and "Traceback" not in said
