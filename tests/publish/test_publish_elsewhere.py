"""What is nobody else's to decide, and what belongs to somebody else: tokens, forks, other programs, comments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git
from github_server import READER, GitHub
from programs import FIRST, SECOND, History, steps, written

from devfix.cli import status


def test_a_dry_run_changes_nothing(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", READER)
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST), "--dry-run")
    assert step["action"] == "opened"
    assert hub.writes() == [] and set(hub.branches()) == {"main"}


def test_the_base_is_never_pushed_to(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    git(hub.bare, "update-ref", "refs/heads/main", hub.branches()[step["branch"]])  # merged, by moving it forward
    before = hub.branches()
    report = history.artifact(tmp_path / "2.json", SECOND)
    assert "--branch main" in publish.refused(report, "--branch", "main")
    assert hub.branches() == before


@pytest.mark.parametrize("name", ["-f", "a..b", "x y", "devfix/.lock", "refs/heads/main:refs/heads/main"])
def test_a_name_that_is_none_for_a_branch_pushes_nothing(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, name: str
) -> None:
    publish.refused(history.artifact(tmp_path / "1.json", FIRST), f"--branch={name}")
    assert set(hub.branches()) == {"main"}


def test_a_token_that_may_only_read_is_refused_in_one_line(
    publish: Publish, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", READER)
    said = publish.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert "contents: write" in said and READER not in said


def test_a_commit_that_the_base_does_not_have_is_refused(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    # As with forks on GitHub: the objects are there under the address, but on no branch that counts.
    git(history.folder, "checkout", "--quiet", "-b", "fork")
    history.commit({".github/workflows/ci.yml": b"on: push # evil\n"}, "evil")
    git(history.folder, "push", "--quiet", hub.url_with_token, "HEAD:refs/pull/9/head")
    assert "is not on the branch main" in publish.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert set(hub.branches()) == {"main"}


@pytest.mark.slow
def test_an_old_commit_of_a_long_history_is_found(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    old = history.commit_id
    for number in range(60):
        history.commit({}, f"chore: {number}")
    git(history.folder, "push", "--quiet", hub.url_with_token, "HEAD:refs/heads/main")
    (step,) = publish(report)
    assert git(hub.bare, "rev-parse", f"{step['branch']}~1") == old


@pytest.mark.slow
def test_another_program_with_the_same_failure_leaves_the_pull_request_to_the_first(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", SECOND))
    (step,) = publish(history.artifact(tmp_path / "2.json", SECOND, command="pytest -x"))
    assert (step["action"], step["number"], len(hub.pulls)) == ("left", 1, 1)
    assert list(publish(history.artifact(tmp_path / "3.json", outcome="clean", command="pytest -x"))) == []
    assert hub.pulls[0]["state"] == "open"


@pytest.mark.slow
def test_a_fork_cannot_pose_as_a_pull_request_of_ours(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    (step,) = publish(history.artifact(tmp_path / "0.json", FIRST), "--dry-run")
    hub.add(step["branch"], "mine", "", repo={"full_name": "mallory/model"})  # type: ignore[arg-type]
    hub.close(1)
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


def test_drafts_that_a_repository_does_not_have(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.drafts = False
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST), "--draft")
    assert (step["action"], hub.pulls[0]["draft"]) == ("opened", False)


def test_nothing_is_concluded_from_a_run_that_did_not_end(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    assert list(publish(history.artifact(tmp_path / "2.json", outcome="unrepaired"))) == []
    assert hub.pulls[0]["state"] == "open"


def test_a_remote_of_the_repository_at_hand(
    quick: None,
    hub: GitHub,
    history: History,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    git(history.folder, "remote", "add", "origin", hub.url + ".git")
    (hub.bare.parent / f"{hub.bare.name}.git").symlink_to(hub.bare)
    monkeypatch.chdir(history.folder)
    assert status(["publish", str(history.artifact(tmp_path / "1.json", FIRST)), "--format", "json"]) == 0
    assert steps(capsys.readouterr().out)[0]["action"] == "opened"


def test_json_lists_no_step_where_there_is_nothing_to_do(publish: Publish, history: History, tmp_path: Path) -> None:
    assert list(publish(history.artifact(tmp_path / "1.json", outcome="clean"))) == []


@pytest.mark.slow
def test_a_comment_is_written_once_and_then_again(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    assert [step["action"] for step in publish(report, "--pull-request", "5")] == ["commented"]
    assert [step["action"] for step in publish(report, "--pull-request", "5")] == ["unchanged"]
    hub.add_comment({"body": hub.comments[0]["body"]}, 6, kind="User")  # a stranger's, with our sign in it
    assert [step["action"] for step in publish(report, "--pull-request", "6")] == ["commented"]
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    assert [step["action"] for step in publish(clean, "--pull-request", "5")] == ["updated"]
    assert "runs without device failures" in hub.comments[0]["body"] and len(hub.comments) == 3
    assert set(hub.branches()) == {"main"}


def test_a_workflow_finds_the_pull_request_of_a_fork_by_its_event(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    fork = {"user": "eve", "repo": {"full_name": "eve/model"}, "sha": history.commit_id}
    hub.add("patch-1", "my feature", "", **fork)  # type: ignore[arg-type]
    head = {"full_name": "eve/model", "owner": {"login": "eve"}}
    event = {"workflow_run": {"head_repository": head, "head_branch": "patch-1", "head_sha": history.commit_id}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    (step,) = publish(report, "--pull-request", "event")
    assert (step["action"], step["number"]) == ("commented", 1)
    lie = written(tmp_path / "2.json", {**history.data(FIRST), "commit": "0" * 40})
    assert "is about the commit" in publish.refused(lie, "--pull-request", "event")
    hub.pulls[0]["head"]["sha"] = "1" * 40
    (step,) = publish(report, "--pull-request", "event")
    assert step["action"] == "left"
