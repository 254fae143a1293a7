"""Fixes as suggestions in the review of a pull request of the same repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git
from github_parts import Fault
from github_reviews import add
from github_server import GitHub
from programs import FIRST, SECOND, TRAIN, History

FEATURE = TRAIN.replace(b"    print(net(x))", b"    y = 1\n    print(net(x))")
MOVED = (FIRST[0], FIRST[1] + 1, *FIRST[2:])
OPTIONS = ("--pull-request", "1", "--suggest")


@pytest.fixture(autouse=True)
def feature(hub: GitHub, history: History) -> None:
    """A pull request of a person, which changes a line near a bug."""
    git(history.folder, "checkout", "--quiet", "-b", "feature")
    push(hub, history, FEATURE, "feat: print")
    hub.add("feature", "Print", "")


def push(hub: GitHub, history: History, train: bytes, message: str) -> None:
    history.commit({"train.py": train}, message)
    git(history.folder, "push", "--quiet", "--force", hub.url_with_token, "HEAD:refs/heads/feature")


def test_a_fix_becomes_a_suggestion_on_its_lines(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    before = hub.branches()
    (step,) = publish(history.artifact(tmp_path / "1.json", MOVED, SECOND), *OPTIONS)
    assert (step["action"], step["number"]) == ("suggested", 1)
    (review,), (comment,) = hub.reviews, hub.review_comments
    assert (comment["path"], comment["line"]) == ("train.py", 9)
    assert '```suggestion\r\n    print(net(x.to("cuda")))\r\n```' in comment["body"]
    assert "1 suggestion on lines of this pull request" in review["body"]
    assert "`model.py:5`" in review["body"] and "+    mask = torch.arange(2, device=x.device)" in review["body"]
    assert hub.branches() == before


@pytest.mark.slow
def test_a_second_run_writes_nothing_and_another_fix_replaces_the_first(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", MOVED)
    publish(report, *OPTIONS)
    hub.requests.clear()
    assert [step["action"] for step in publish(report, *OPTIONS)] == ["unchanged"]
    assert [
        path for method, path in hub.requests if method != "GET" and "graphql" not in path and "git" not in path
    ] == []
    better = (*MOVED[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
    (step,) = publish(history.artifact(tmp_path / "2.json", better), *OPTIONS)
    assert step["action"] == "suggested" and len(hub.reviews) == len(hub.review_comments) == 2
    assert "outdated" in hub.review_comments[0]["body"] and "```" not in hub.review_comments[0]["body"]
    assert hub.reviews[0]["body"].startswith("A newer review")
    assert [step["action"] for step in publish(tmp_path / "2.json", *OPTIONS)] == ["unchanged"]


@pytest.mark.slow
def test_it_is_outdated_once_the_failure_is_gone(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", MOVED), *OPTIONS)
    push(hub, history, FEATURE.replace(b"net(x)", b'net(x.to("cuda"))'), "fix: move it")
    (step,) = publish(history.artifact(tmp_path / "2.json", outcome="clean"), *OPTIONS)
    assert step["action"] == "updated" and "found no device failures" in hub.reviews[0]["body"]
    assert "outdated" in hub.review_comments[0]["body"]
    (step,) = publish(tmp_path / "2.json", *OPTIONS)
    assert step["action"] == "unchanged"


def test_what_is_not_in_the_diff_is_told_in_the_body(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", SECOND), *OPTIONS)
    assert hub.review_comments == [] and "0 suggestions" in hub.reviews[0]["body"]
    assert [step["action"] for step in publish(tmp_path / "1.json", *OPTIONS)] == ["unchanged"]


@pytest.mark.parametrize("status", [502, 429])
def test_a_review_whose_answer_was_lost_is_not_written_twice(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, status: int
) -> None:
    hub.faults = [Fault("POST", "/reviews$", status, after=True)]
    (step,) = publish(history.artifact(tmp_path / "1.json", MOVED), *OPTIONS)
    assert step["action"] == "suggested" and len(hub.reviews) == 1


def test_a_review_that_was_not_written_is_written(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.faults = [Fault("POST", "/reviews$", 502)]
    publish(history.artifact(tmp_path / "1.json", MOVED), *OPTIONS)
    assert len(hub.reviews) == 1


@pytest.mark.slow
def test_marks_of_another_user_are_nothing(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", MOVED)
    publish(report, *OPTIONS)
    review, comment = hub.reviews[0]["body"], hub.review_comments[0]["body"]
    hub.reviews.clear()
    hub.review_comments.clear()
    add(hub.reviews, hub, 1, review.replace("\r", ""), "eve")
    add(hub.review_comments, hub, 1, comment.replace("\r", ""), "github-actions")["line"] = 9
    (step,) = publish(report, *OPTIONS)
    assert step["action"] == "suggested" and len(hub.reviews) == len(hub.review_comments) == 2
    assert hub.reviews[0]["body"] == review and hub.review_comments[0]["body"] == comment


def test_code_cannot_leave_its_block(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    quoted = (*MOVED[:5], b'net("""````\n    @ada\n```suggestion\n    rm\n```""" and x)')
    (step,) = publish(history.artifact(tmp_path / "1.json", quoted), *OPTIONS)
    body = hub.review_comments[0]["body"].replace("\r\n", "\n")
    assert step["action"] == "suggested" and body.count("`````") == 2 and "`````suggestion\n    print(" in body


def test_a_fork_gets_none(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    hub.pulls[0]["head"] |= {"user": "eve", "repo": {"full_name": "eve/model"}, "sha": history.commit_id}
    (step,) = publish(history.artifact(tmp_path / "1.json", MOVED), *OPTIONS)
    assert step["action"] == "left" and "from a fork" in step["why"] and hub.reviews == []


def test_newer_commits_are_waited_for(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, commit = history.artifact(tmp_path / "1.json", MOVED), history.commit_id
    push(hub, history, FEATURE + b"# more\n", "feat: more")
    (step,) = publish(report, *OPTIONS)
    assert step["action"] == "left" and "newer commits" in step["why"] and hub.reviews == []
    event = {"pull_request": {"number": 1, "head": {"sha": commit}}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    (step,) = publish(report, "--pull-request", "event", "--suggest")
    assert step["action"] == "left"


def test_a_dry_run_writes_nothing(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", MOVED), *OPTIONS, "--dry-run")
    assert step["action"] == "suggested" and hub.reviews == []


def test_it_needs_a_pull_request(publish: Publish, history: History, tmp_path: Path) -> None:
    assert "--pull-request" in publish.refused(history.artifact(tmp_path / "1.json", MOVED), "--suggest")
