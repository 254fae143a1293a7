"""Pull requests over real git and a small GitHub whose every request the real contract has seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git
from github_server import GitHub
from programs import FIRST, MODEL, SECOND, TRAIN, History

from devfix.publish.marker import find


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_better_fix_goes_to_the_same_branch(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    better = (*FIRST[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
    (step,) = publish(history.artifact(tmp_path / "2.json", better))
    assert (step["action"], len(hub.pulls)) == ("updated", 1)
    content = git(hub.bare, "show", f"{step['branch']}:train.py")
    assert 'device="cuda"' in content and ".to(" not in content
    assert len(git(hub.bare, "log", "--format=%h", f"main..{step['branch']}").splitlines()) == 1


@pytest.mark.slow
def test_it_is_closed_when_the_failure_is_gone_and_opened_again_when_it_is_back(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    (step,) = publish(clean)
    assert (step["action"], hub.pulls[0]["state"]) == ("closed", "closed")
    assert "no longer fails this way" in hub.comments[0]["body"]
    assert list(publish(clean)) == []
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert (step["action"], step["number"], hub.pulls[0]["state"]) == ("reopened", 1, "open")
    assert len(hub.pulls) == 1


@pytest.mark.slow
def test_what_was_closed_as_gone_and_has_no_branch_any_more_comes_back_as_a_new_one(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    git(hub.bare, "branch", "-D", step["branch"])
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
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
    assert "closed by a person" in step["why"]
    assert hub.writes() == []


@pytest.mark.slow
def test_a_person_may_close_what_devfix_had_closed_and_they_opened(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    hub.pulls[0].update(closed_at="2031-01-01T00:00:00Z")  # opened and closed again, much later
    (step,) = publish(history.artifact(tmp_path / "3.json", FIRST))
    assert step["action"] == "left"


@pytest.mark.slow
def test_after_a_merge_a_failure_that_is_back_gets_a_new_pull_request(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    hub.merge(1)
    history.commit({}, "chore: nothing", hub.url_with_token)
    (step,) = publish(history.artifact(tmp_path / "2.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
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


@pytest.mark.slow
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
    hub.pulls[0]["body"] = "My own words.\n" + find(body).to_comment()  # type: ignore[union-attr]
    history.commit({}, "chore: nothing more", hub.url_with_token)
    publish(history.artifact(tmp_path / "3.json", FIRST))
    assert hub.pulls[0]["body"].startswith("My own words.\n<!--")


@pytest.mark.slow
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


@pytest.mark.slow
def test_fixes_that_go_into_one_pull_request_close_the_other(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    publish(report, "--per-fix")
    first, second = publish(report)
    assert (first["action"], first["number"]) == ("updated", 1)
    assert (second["action"], second["number"]) == ("closed", 2)


def test_the_second_bug_is_where_the_test_says() -> None:
    assert MODEL.count(SECOND[4]) == 1 and TRAIN.count(FIRST[4]) == 1


@pytest.mark.slow
def test_another_base_has_pull_requests_of_its_own(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    git(hub.bare, "branch", "release/1.x", "main")
    report = history.artifact(tmp_path / "1.json", FIRST)
    (first,) = publish(report)
    (second,) = publish(report, "--base", "release/1.x")
    assert [(step["action"], step["number"]) for step in (first, second)] == [("opened", 1), ("opened", 2)]
    assert second["branch"] == f"{first['branch']}-on-release-1-x"
    assert [pull["base"]["ref"] for pull in hub.pulls] == ["main", "release/1.x"]
    publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    assert [pull["state"] for pull in hub.pulls] == ["closed", "open"]
    another = history.artifact(tmp_path / "3.json", SECOND)
    (step,) = publish(another, "--base", "main", "--branch", second["branch"])
    assert step["action"] == "left" and "has this branch, with the base release/1.x" in step["why"]


@pytest.mark.slow
def test_a_chosen_branch_is_closed_when_the_failure_is_gone(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST), "--branch", "gpu-fixes")
    (step,) = publish(history.artifact(tmp_path / "2.json", outcome="clean"), "--branch", "gpu-fixes")
    assert (step["action"], step["branch"], hub.pulls[0]["state"]) == ("closed", "gpu-fixes", "closed")


@pytest.mark.slow
def test_a_command_that_was_edited_continues_its_pull_request(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    source = ("--source", "nightly.yml")
    publish(history.artifact(tmp_path / "1.json", FIRST), *source)
    longer = history.artifact(tmp_path / "2.json", FIRST, command="python train.py --steps 2")
    (step,) = publish(longer, "--source", "another.yml")
    assert step["action"] == "left" and "found by another command" in step["why"]
    (step,) = publish(longer, *source)
    assert (step["action"], len(hub.pulls)) == ("updated", 1)
    (step,) = publish(history.artifact(tmp_path / "3.json", outcome="clean"), *source)
    assert (step["action"], hub.pulls[0]["state"]) == ("closed", "closed")


@pytest.mark.slow
def test_a_label_that_cannot_be_created_is_a_note(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.known_labels = {"bug"}
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = publish(report, "--label", "devfix")
    assert (step["action"], step["number"]) == ("opened", 1)
    assert "without its labels: Resource not accessible" in step["why"] and "issues: write" in step["why"]
    (step,) = publish(report, "--label", "devfix")
    assert step["action"] == "unchanged"


@pytest.mark.slow
def test_a_title_follows_the_fix_until_a_person_writes_another(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    (step,) = publish(history.artifact(tmp_path / "2.json", FIRST, SECOND))
    assert "and 1 more device failure" in hub.pulls[0]["title"] == step["title"]
    hub.pulls[0]["title"] = "Mine"
    publish(history.artifact(tmp_path / "3.json", FIRST))
    assert hub.pulls[0]["title"] == "Mine"


@pytest.mark.slow
def test_more_than_a_hundred_pull_requests_are_seen(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    for number in range(120):
        hub.add(f"feature-{number}", "a feature", "")
    (step,) = publish(history.artifact(tmp_path / "2.json", outcome="clean"))
    assert (step["action"], step["number"]) == ("closed", 1)


def test_the_rule_that_refuses_a_push_is_named(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    hook = hub.bare / "hooks" / "pre-receive"
    hook.write_text(
        "#!/bin/sh\necho 'error: GH013: Repository rule violations found' >&2\necho '- Sign commits' >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    said = publish.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert "GH013: Repository rule violations found - Sign commits" in said
