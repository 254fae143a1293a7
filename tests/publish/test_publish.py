"""Pull requests over real git and a small GitHub whose every request the real contract has seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from git_repositories import git
from github_server import READER, TOKEN, Fault, GitHub
from programs import FIRST, MODEL, SECOND, TRAIN, History, steps, written

from devfix.cli import status
from devfix.publish.marker import find

Step = Mapping[str, Any]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("devfix.publish.patience.FIRST", 0.05)
    monkeypatch.setattr("devfix.workspace.network.WAITS", (0.05, 0.05))


class Publish:
    """Calls `devfix publish` as a person does, and gives back the steps."""

    def __init__(self, hub: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
        self.hub, self.capsys = hub, capsys

    def __call__(self, report: Path, *options: str) -> Sequence[Step]:
        arguments = ["publish", str(report), "--remote", self.hub.url, "--format", "json", *options]
        code = status(arguments)
        out, err = self.capsys.readouterr()
        assert code == 0, err
        return steps(out)

    def refused(self, report: Path, *options: str) -> str:
        """Return the one line that says why nothing was done."""
        code = status(["publish", str(report), "--remote", self.hub.url, *options])
        _, err = self.capsys.readouterr()
        assert code == 2, err
        return err.splitlines()[-1]


@pytest.fixture
def publish(hub: GitHub, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(hub, capsys)


def test_a_failure_becomes_one_branch_and_one_pull_request(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST, SECOND)
    (step,) = publish(report, "--label", "bug", "--label", "devfix", "--draft")
    (pull,) = hub.pulls
    assert (step["action"], step["number"], step["url"]) == ("opened", 1, pull["html_url"])
    assert pull["title"] == "fix: Move `x` to the model's device and 1 more device failure"[:72].replace("Move", "move")
    assert (pull["draft"], pull["labels"], pull["base"]["ref"]) == (True, ["bug", "devfix"], "main")
    branch = step["branch"]
    assert branch.startswith("devfix/input-not-moved-")
    subjects = git(hub.bare, "log", "--format=%s", f"main..{branch}").splitlines()
    assert subjects == ["fix: move `mask` to the model's device", "fix: move `x` to the model's device"]
    assert git(hub.bare, "show", f"{branch}:train.py") == TRAIN.decode().replace("net(x)", 'net(x.to("cuda"))').strip()
    assert "device=x.device" in git(hub.bare, "show", f"{branch}:model.py")
    assert git(hub.bare, "diff", "--stat", f"main...{branch}").splitlines()[-1].startswith(" 2 files changed")
    assert set(hub.branches()) == {"main", branch}


def test_publishing_again_changes_nothing(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST)
    publish(report, "--label", "bug")
    hub.pulls[0]["labels"].clear()  # a person took it off
    hub.requests.clear()
    (step,) = publish(report, "--label", "bug")
    assert step["action"] == "unchanged"
    assert hub.writes() == []


def test_it_is_found_again_at_a_later_commit(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    before = hub.branches()
    history.commit({"train.py": b"# longer now\n" + TRAIN}, "docs: explain", hub.url_with_token)
    moved = (FIRST[0], FIRST[1] + 1, *FIRST[2:])
    (step,) = publish(history.artifact(tmp_path / "2.json", moved))
    assert (step["action"], step["number"], len(hub.pulls)) == ("updated", 1, 1)
    assert history.commit_id in hub.pulls[0]["body"]
    after = hub.branches()
    assert after.pop("main") != before.pop("main")
    assert after == before  # the same change: nobody's checks are started again


def test_a_better_fix_goes_to_the_same_branch(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    better = (*FIRST[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
    (step,) = publish(history.artifact(tmp_path / "2.json", better))
    assert (step["action"], len(hub.pulls)) == ("updated", 1)
    content = git(hub.bare, "show", f"{step['branch']}:train.py")
    assert 'device="cuda"' in content and ".to(" not in content
    assert len(git(hub.bare, "log", "--format=%h", f"main..{step['branch']}").splitlines()) == 1


def test_it_is_closed_when_the_failure_is_gone_and_opened_again_when_it_is_back(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    (step,) = publish(clean)
    assert (step["action"], hub.pulls[0]["state"]) == ("closed", "closed")
    assert "does not fail this way any more" in hub.comments[0]["body"]
    assert list(publish(clean)) == []
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert (step["action"], step["number"], hub.pulls[0]["state"]) == ("reopened", 1, "open")
    assert len(hub.pulls) == 1


def test_what_was_closed_as_gone_and_has_no_branch_any_more_comes_back_as_a_new_one(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    git(hub.bare, "branch", "-D", step["branch"])
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.parametrize("branch_is_deleted", [False, True])
def test_what_a_person_closed_stays_closed(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, branch_is_deleted: bool
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = publish(report)
    hub.close(1)
    if branch_is_deleted:
        git(hub.bare, "branch", "-D", step["branch"])
    hub.requests.clear()
    (step,) = publish(report)
    assert (step["action"], step["number"]) == ("left", 1)
    assert "a person closed it" in step["why"]
    assert hub.writes() == []


def test_a_person_may_close_what_devfix_had_closed_and_they_opened(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    hub.pulls[0].update(closed_at="2031-01-01T00:00:00Z")  # opened and closed again, much later
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert step["action"] == "left"


def test_after_a_merge_a_failure_that_is_back_gets_a_new_pull_request(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    hub.merge(1)
    history.commit({}, "chore: nothing", hub.url_with_token)
    (step,) = publish(history.artifact(tmp_path / "2.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.parametrize("how", ["on top", "amended", "reworded"])
def test_a_branch_with_commits_of_a_person_is_theirs(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, how: str
) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", step["branch"], str(hub.bare), str(clone))
    if how == "on top":
        (clone / "train.py").write_bytes(TRAIN)
    elif how == "amended":
        (clone / "new.py").write_bytes(b"")
    git(clone, "add", "--all")
    message = git(clone, "log", "-1", "--format=%B")
    more = [] if how == "on top" else ["--amend"]
    git(clone, "commit", "--quiet", *more, "-m", message.replace("Rule:", "My rule:") if how == "reworded" else message)
    git(clone, "push", "--quiet", "--force", "origin", "HEAD")
    theirs = hub.branches()
    hub.requests.clear()
    better = (*FIRST[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
    (step,) = publish(history.artifact(tmp_path / "2.json", better))
    assert (step["action"], step["number"]) == ("left", 1)
    assert hub.branches() == theirs and hub.writes() == []
    (step,) = publish(history.artifact(tmp_path / "3.json", outcome="clean"))
    assert (step["action"], hub.pulls[0]["state"]) == ("left", "open")


def test_words_that_people_put_into_the_body_stay(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    hub.pulls[0]["body"] = "See also #7.\r\n\r\n" + hub.pulls[0]["body"] + "\r\nThanks!"
    history.commit({}, "chore: nothing", hub.url_with_token)
    (step,) = publish(history.artifact(tmp_path / "2.json", FIRST))
    body = hub.pulls[0]["body"]
    assert step["action"] == "updated" and history.commit_id in body
    assert body.startswith("See also #7.") and body.rstrip().endswith("Thanks!")
    hub.pulls[0]["body"] = "My own words.\n" + find(body).written()  # type: ignore[union-attr]
    history.commit({}, "chore: nothing more", hub.url_with_token)
    publish(history.artifact(tmp_path / "3.json", FIRST))
    assert hub.pulls[0]["body"].startswith("My own words.\n<!--")


def test_a_pull_request_for_each_fix(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    first, second = publish(report, "--per-fix")
    assert (first["action"], second["action"]) == ("opened", "opened")
    for step, file in ((first, "train.py"), (second, "model.py")):
        assert git(hub.bare, "diff", "--name-only", f"main...{step['branch']}") == file
    hub.close(1)
    again = publish(report, "--per-fix")
    assert [step["action"] for step in again] == ["left", "unchanged"]


def test_fixes_that_need_each_other_share_a_pull_request(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    longer = (*FIRST[:4], b"net(x)", b'net(\n        x.to("cuda")\n    )')
    behind = ("train.py", 13, "", "y", b"\nmain()", b"\nmain()  # y")
    (step,) = publish(history.artifact(tmp_path / "1.json", longer, behind), "--per-fix")
    assert len(git(hub.bare, "log", "--format=%h", f"main..{step['branch']}").splitlines()) == 2


def test_fixes_that_go_into_one_pull_request_close_the_other(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    publish(report, "--per-fix")
    first, second = publish(report)
    assert (first["action"], first["number"]) == ("updated", 1)
    assert (second["action"], second["number"]) == ("closed", 2)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "/pulls$", 502),
        Fault("POST", "/pulls$", 502, after=True),
        Fault("POST", "/pulls$", 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}),
        Fault("POST", "/pulls$", 403, {"retry-after": "0"}),
        Fault("POST", "/pulls$", 429),
        Fault("GET", "/pulls[?]", 503),
        Fault("POST", "git-receive-pack", 503),
        Fault("GET", "info/refs", 502),
    ],
)
def test_passing_faults_are_waited_for(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, fault: Fault
) -> None:
    hub.faults = [fault]
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    assert hub.faults == []
    assert (step["action"], len(hub.pulls)) == ("opened", 1)


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/pulls$"), ("POST", "/labels$"), ("PATCH", "/pulls/1$"), ("POST", "git-receive-pack")],
)
def test_what_was_left_half_done_is_completed(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, method: str, path: str
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    hub.faults = [Fault(method, path, 500) for _ in range(20)]
    publish.refused(report, "--label", "bug")
    hub.faults = []
    (step,) = publish(report, "--label", "bug")
    assert step["action"] in ("opened", "updated")
    assert len(hub.pulls) == 1 and hub.pulls[0]["labels"] == ["bug"]
    assert len(hub.branches()) == 2
    (step,) = publish(report, "--label", "bug")
    assert step["action"] == "unchanged"


def test_a_long_wait_is_left_to_the_next_run(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    hub.faults = [Fault("GET", "/pulls[?]", 403, {"retry-after": "3000"})]
    assert "run again in 50 minutes" in publish.refused(history.artifact(tmp_path / "1.json", FIRST))


def test_a_dry_run_changes_nothing(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", READER)
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST), "--dry-run")
    assert step["action"] == "opened"
    assert hub.writes() == [] and set(hub.branches()) == {"main"}


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


def test_another_program_with_the_same_failure_leaves_the_pull_request_to_the_first(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", SECOND))
    (step,) = publish(history.artifact(tmp_path / "2.json", SECOND, command="pytest -x"))
    assert (step["action"], step["number"], len(hub.pulls)) == ("left", 1, 1)
    assert list(publish(history.artifact(tmp_path / "3.json", outcome="clean", command="pytest -x"))) == []
    assert hub.pulls[0]["state"] == "open"


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
    hub: GitHub, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(history.folder, "remote", "add", "origin", hub.url + ".git")
    (hub.bare.parent / f"{hub.bare.name}.git").symlink_to(hub.bare)
    monkeypatch.chdir(history.folder)
    assert status(["publish", str(history.artifact(tmp_path / "1.json", FIRST)), "--format", "json"]) == 0
    assert steps(capsys.readouterr().out)[0]["action"] == "opened"


def test_json_lists_no_step_where_there_is_nothing_to_do(publish: Publish, history: History, tmp_path: Path) -> None:
    assert list(publish(history.artifact(tmp_path / "1.json", outcome="clean"))) == []


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
    assert "runs clean" in hub.comments[0]["body"] and len(hub.comments) == 3
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


def test_the_second_bug_is_where_the_test_says() -> None:
    assert MODEL.count(SECOND[4]) == 1 and TRAIN.count(FIRST[4]) == 1
