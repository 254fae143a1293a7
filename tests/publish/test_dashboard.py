"""The dashboard issue: its boxes drive the next run, whoever edits the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from github_parts import Fault
from github_reviews import add_issue
from github_server import GitHub
from programs import FIRST, SECOND, History

BOARD = ("--dashboard", "--per-fix")


def tick(hub: GitHub, what: str, number: int = 0) -> None:
    """Tick the box of an entry, as a browser does."""
    body = hub.issues[0]["body"].replace("\n", "\r\n")
    parts = body.split(f"- [ ] <!-- devfix:{what} ")
    parts[number] += f"- [x] <!-- devfix:{what} "
    left, right = parts[: number + 1], parts[number + 1 :]
    hub.issues[0]["body"] = "".join(left) + f"- [ ] <!-- devfix:{what} ".join(right)


def actions(steps: object) -> list[str]:
    return [step["action"] for step in steps]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_one_issue_lists_the_fixes(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    assert actions(publish(report, *BOARD, "--dry-run")) == ["opened", "opened", "listed"] and hub.issues == []
    steps = publish(report, *BOARD)
    assert actions(steps) == ["opened", "opened", "listed"]
    (issue,) = hub.issues
    assert steps[2]["number"] == issue["number"] and issue["title"] == "devfix dashboard"
    assert "- fix: move `x` to the model's device (#1)" in issue["body"] and "(#2)" in issue["body"]
    hub.requests.clear()
    assert actions(publish(report, *BOARD)) == ["unchanged", "unchanged"]
    assert [path for _, path in hub.writes()] == ["/api/graphql"]  # reads whose token it is
    assert actions(publish(history.artifact(tmp_path / "2.json", outcome="clean"), *BOARD))[-1] == "listed"
    assert "There is nothing to fix." in hub.issues[0]["body"]


@pytest.mark.slow
def test_an_ignored_fix_is_closed_and_stays_listed(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    publish(report, *BOARD)
    tick(hub, "ignore")
    assert actions(publish(report, *BOARD)) == ["closed", "unchanged", "listed"]
    assert [pull["state"] for pull in hub.pulls] == ["closed", "open"]
    assert "### Ignored\n\n- fix: move `x`" in hub.issues[0]["body"]
    assert actions(publish(report, *BOARD)) == ["left", "unchanged"]
    publish(history.artifact(tmp_path / "2.json", outcome="clean"), *BOARD)
    assert "### Ignored\n\n- fix: move `x`" in hub.issues[0]["body"]
    hub.issues[0]["body"] = hub.issues[0]["body"].replace("[x]", "[ ]")
    assert actions(publish(report, *BOARD)) == ["reopened", "reopened", "listed"]
    assert "### Ignored" not in hub.issues[0]["body"]


@pytest.mark.slow
def test_retry_opens_what_a_person_closed(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    publish(report, *BOARD)
    hub.close(1)
    assert actions(publish(report, *BOARD)) == ["left", "listed"]
    assert "### Without an open pull request" in hub.issues[0]["body"]
    tick(hub, "retry")
    assert actions(publish(report, *BOARD)) == ["reopened", "listed"]
    assert "[x]" not in hub.issues[0]["body"]


@pytest.mark.slow
def test_retry_builds_the_branch_again(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST), *BOARD)
    before = hub.branches()
    history.commit({"README.md": "more\n"}, "docs: more", hub.url_with_token)
    report = history.artifact(tmp_path / "2.json", FIRST)
    publish(report, *BOARD)
    assert {**hub.branches(), "main": ""} == {**before, "main": ""}  # the same change: not pushed again
    tick(hub, "retry")
    (step, _) = publish(report, *BOARD)
    assert step["action"] == "updated" and hub.branches()[step["branch"]] != before[step["branch"]]


@pytest.mark.slow
def test_an_issue_of_somebody_else_is_no_dashboard(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    publish(report, *BOARD)
    forged = hub.issues.pop()["body"].replace("[ ] <!-- devfix:ignore", "[x] <!-- devfix:ignore")
    for name in ("eve", "github-actions"):
        add_issue(hub, "devfix dashboard", forged, name)
    assert actions(publish(report, *BOARD)) == ["unchanged", "listed"]
    assert [issue["body"] for issue in hub.issues[:2]] == [forged] * 2 and len(hub.issues) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit",
    [
        lambda body: "hello\n\n" + body,
        lambda body: body.replace("fix: move", "<script>"),
        lambda body: body + "\n- [x] <!-- devfix:ignore ffffffffffff -->\n" * 5000,
        lambda body: body.replace("devfix:entries [", "devfix:entries [[["),
        lambda body: body.replace('"number": 1', '"number": 99'),
    ],
)
def test_a_dashboard_that_somebody_edited_is_written_again(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, edit: object
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    publish(report, *BOARD)
    right = hub.issues[0]["body"]
    hub.issues[0]["body"] = edit(right)  # type: ignore[operator]
    (step, *_) = publish(report, *BOARD)
    assert step["action"] == "unchanged"
    assert hub.issues[-1]["body"] == right


@pytest.mark.slow
def test_a_closed_dashboard_is_left_alone(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    publish(report, *BOARD)
    tick(hub, "ignore")
    hub.issues[0]["state"] = "closed"
    steps = publish(report, *BOARD)
    assert actions(steps) == ["unchanged", "left"] and "closed by a person" in steps[1]["why"]
    assert len(hub.issues) == 1


@pytest.mark.slow
def test_an_issue_whose_answer_was_lost_is_not_opened_twice(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.faults = [Fault("POST", "/issues$", 502, after=True)]
    publish(history.artifact(tmp_path / "1.json", FIRST), *BOARD)
    assert len(hub.issues) == 1


@pytest.mark.slow
def test_programs_share_the_dashboard(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    first = history.artifact(tmp_path / "1.json", FIRST)
    second = history.artifact(tmp_path / "2.json", SECOND, command="python other.py")
    publish(first, *BOARD)
    publish(second, *BOARD)
    tick(hub, "retry", 1)
    publish(second, *BOARD)
    body = hub.issues[0]["body"]
    assert "(#1)" in body and "(#2)" in body and body.count("[x] <!-- devfix:retry") == 1
    publish(history.artifact(tmp_path / "3.json", outcome="clean", command="python other.py"), *BOARD)
    assert "(#1)" in hub.issues[0]["body"] and "(#2)" not in hub.issues[0]["body"]
    publish(first, *BOARD)
    assert "[x]" not in hub.issues[0]["body"]
