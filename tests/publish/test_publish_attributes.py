"""Reviewers, assignees and a milestone of pull requests, how many may be open, and settings of the repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from calling import Publish
from github_server import Fault, GitHub
from programs import FIRST, SECOND, History

from devfix.publish.action import PublishAction, summarize

PEOPLE = ("--reviewer", "grace", "--reviewer", "example/compilers", "--assignee", "ada", "--milestone", "1.0")
SETTINGS = b"""
[tool.devfix.publish]
labels = ["devices"]
reviewers = ["grace"]
assignees = ["ada"]
milestone = "1.0"
branch = "fixes"
draft = true
max-open = 1
"""


@pytest.mark.slow
def test_a_new_pull_request_is_given_its_people_once(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.open_milestones = {"0.9": 3, "1.0": 4}
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = publish(report, *PEOPLE)
    (pull,) = hub.pulls
    assert (step["action"], step["why"]) == ("opened", "")
    assert (pull["reviewers"], pull["assignees"], pull["milestone"]) == (["grace", "compilers"], ["ada"], 4)
    hub.requests.clear()
    assert [step["action"] for step in publish(report, *PEOPLE)] == ["unchanged"]
    assert hub.writes() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "why"),
    [
        (("--reviewer", "stranger"), "without its reviewers: Reviews may only be requested from collaborators."),
        (("--assignee", "stranger"), "without assignees: stranger cannot be assigned here"),
        (("--milestone", "2.0"), "without its milestone: no open milestone is called '2.0'"),
    ],
)
def test_what_github_refuses_is_a_note(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, option: tuple[str, str], why: str
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = publish(report, *option)
    assert (step["action"], step["why"]) == ("opened", why)
    assert [step["action"] for step in publish(report, *option)] == ["unchanged"]


@pytest.mark.slow
def test_an_interrupted_run_is_completed_by_the_next(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    hub.faults = [Fault("POST", "/assignees$", 401)]
    assert "assign pull request #1" in publish.refused(report, *PEOPLE[:6])
    assert publish(report, *PEOPLE[:6])[0]["number"] == 1
    assert hub.pulls[0]["assignees"] == ["ada"]


@pytest.mark.slow
def test_no_more_pull_requests_are_open_than_may_be(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    assert publish(report, "--per-fix", "--max-open", "2", "--dry-run")[1]["action"] == "opened"
    steps = publish(report, "--per-fix", "--max-open", "1")
    assert [step["action"] for step in steps] == ["opened", "left"] and len(hub.pulls) == 1
    assert steps[1]["why"] == "1 pull requests of devfix are open, and 1 may be (--max-open)"
    assert [step["action"] for step in publish(report, "--per-fix", "--max-open", "1")] == ["unchanged", "left"]
    hub.merge(1)
    assert publish(report, "--per-fix", "--max-open", "1")[0]["action"] == "opened"


@pytest.mark.slow
def test_the_repository_has_settings_which_options_override(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.open_milestones = {"1.0": 4}
    history.commit({"pyproject.toml": SETTINGS}, "Configure devfix", hub.url_with_token)
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST), "--label", "bug")
    (pull,) = hub.pulls
    assert (step["branch"], pull["draft"], pull["labels"]) == ("fixes", True, ["bug"])
    assert (pull["reviewers"], pull["assignees"], pull["milestone"]) == (["grace"], ["ada"], 4)


def test_a_wrong_setting_is_one_line(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    history.commit({"devfix.toml": b"[publish]\nlabel = 'bug'\n"}, "Configure devfix", hub.url_with_token)
    said = publish.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert "devfix.toml at " in said and "unknown key 'label'; did you mean 'labels'?" in said
    assert hub.pulls == []


def test_the_summary_links_pull_requests(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    publish(history.artifact(tmp_path / "1.json", FIRST), "--summary", str(summary))
    publish(history.artifact(tmp_path / "2.json", outcome="clean"), "--summary", str(summary))
    opened, closed = (line for line in summary.read_text().splitlines() if line.startswith("- "))
    assert opened.startswith("- Opened `devfix/") and closed.endswith("(the failure is fixed)")


def test_a_link_of_a_summary_cannot_be_forged() -> None:
    step = PublishAction("opened", "devfix/a", 1, "https://github.com/ada/model/pull/1", "Move `x` <b> #3")
    assert "- Opened [#1](https://github.com/ada/model/pull/1): Move `x` " in summarize([step])
    assert "(https://e.vil/)" not in summarize([replace(step, url="https://github.com/)[x](https://e.vil/)")])
    assert "<b>" not in summarize([step])
