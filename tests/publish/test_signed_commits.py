"""Commits that GitHub's API creates: real ones in the repository, on a branch that nobody else has moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git, write
from github_parts import Fault
from github_server import GitHub
from programs import FIRST, SECOND, TRAIN, History

BETTER = (*FIRST[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
API = ("--commits", "api")
# A rule of the repository, as GitHub enforces it: what is pushed must be signed.
SIGNED_ONLY = """#!/bin/sh
while read old new name; do
  case $new in *[!0]*) ;; *) continue ;; esac
  for commit in $(git rev-list $new --not main); do
    git cat-file commit $commit | grep -q '^gpgsig ' && continue
    echo 'error: GH013: Repository rule violations found' >&2
    exit 1
  done
done
"""


@pytest.fixture(autouse=True)
def signatures_are_demanded(hub: GitHub) -> None:
    hook = hub.bare / "hooks" / "pre-receive"
    hook.write_text(SIGNED_ONLY)
    hook.chmod(0o755)


@pytest.mark.slow
def test_a_rule_that_demands_signatures_accepts_them(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    assert "GH013" in publish.refused(report)
    (step,) = publish(report, *API)
    assert (step["action"], step["why"]) == ("opened", "")
    branch = step["branch"]
    assert set(hub.branches()) == {"main", branch}
    subjects = git(hub.bare, "log", "--format=%s", f"main..{branch}").splitlines()
    assert subjects == ["fix: move `mask` to the model's device", "fix: move `x` to the model's device"]
    who = git(hub.bare, "log", "-1", "--format=%an, %cn", branch)
    assert who == "github-actions[bot], GitHub"
    assert git(hub.bare, "show", f"{branch}:train.py") == TRAIN.decode().replace("net(x)", 'net(x.to("cuda"))').strip()


@pytest.mark.slow
def test_the_branch_stays_one_of_devfix(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    publish(report, *API)
    hub.requests.clear()
    assert [step["action"] for step in publish(report, *API)] == ["unchanged"]
    assert hub.writes() == []
    (step,) = publish(history.artifact(tmp_path / "2.json", BETTER), *API)
    assert step["action"] == "updated"
    assert len(git(hub.bare, "log", "--format=%h", f"main..{step['branch']}").splitlines()) == 1
    assert 'device="cuda"' in git(hub.bare, "show", f"{step['branch']}:train.py")
    (step,) = publish(history.artifact(tmp_path / "3.json", outcome="clean"), *API)
    assert step["action"] == "closed"


@pytest.mark.slow
def test_commits_of_others_are_never_replaced(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST), *API)
    (hub.bare / "hooks" / "pre-receive").unlink()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", step["branch"], str(hub.bare), str(clone))
    write(clone, {"mine.py": b""})
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message=mine")
    git(clone, "push", "--quiet", "origin", "HEAD")
    theirs = hub.branches()
    (step,) = publish(history.artifact(tmp_path / "2.json", BETTER), *API)
    assert step["action"] == "left" and "commits of others" in step["why"]
    assert hub.branches() == theirs


@pytest.mark.parametrize("status", [502, 500])
def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, status: int
) -> None:
    hub.faults = [Fault("POST", "/api/graphql", status, after=True)]
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST, SECOND), *API)
    assert step["action"] == "opened"
    assert len(git(hub.bare, "log", "--format=%h", f"main..{step['branch']}").splitlines()) == 2


@pytest.mark.slow
def test_an_interrupted_run_is_completed_by_the_next(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    hub.faults = [Fault("POST", "/api/graphql", 401)]
    assert "401" in publish.refused(report, *API)
    git(hub.bare, "branch", f"devfix-staging/{publish(report, '--dry-run')[0]['branch']}", "main~1")
    (step,) = publish(report, *API)
    assert step["action"] == "opened" and set(hub.branches()) == {"main", step["branch"]}


@pytest.mark.slow
def test_the_mode_of_an_executable_file_is_kept_or_nothing_is_published(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    (history.folder / "train.py").chmod(0o755)
    history.commit({}, "chore: run it")
    git(hub.bare, "fetch", "--quiet", str(history.folder), "+main:main")
    hub.keeps_modes = False
    report = history.artifact(tmp_path / "1.json", FIRST)
    said = publish.refused(report, *API)
    assert "does not keep the mode of executable files" in said
    assert hub.pulls == [] and not [name for name in hub.branches() if name.startswith("devfix")]
    hub.keeps_modes = True
    (step,) = publish(report, *API)
    assert git(hub.bare, "ls-tree", step["branch"], "train.py").startswith("100755")


@pytest.mark.slow
def test_a_message_that_github_changes_is_not_published(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hub.appended = "\n\nSigned-off-by: ada <ada@example.org>"
    assert "may add a sign-off" in publish.refused(history.artifact(tmp_path / "1.json", FIRST), *API)
    assert hub.pulls == []


@pytest.mark.slow
def test_the_repository_can_ask_for_it(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    (hub.bare / "hooks" / "pre-receive").unlink()
    history.commit({"devfix.toml": b"[publish]\ncommits = 'api'\n"}, "chore: configure", hub.url_with_token)
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    assert git(hub.bare, "log", "-1", "--format=%cn", step["branch"]) == "GitHub"


@pytest.mark.slow
@pytest.mark.parametrize("staging", ["devfix-staging/", ""])
def test_a_branch_that_moves_meanwhile_is_not_overwritten(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, staging: str
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    target = staging + publish(report, "--dry-run")[0]["branch"]
    hook = hub.bare / "hooks" / "post-receive"
    hook.write_text(f"#!/bin/sh\n[ -e moved ] && exit\ntouch moved\ngit update-ref refs/heads/{target} main~1\n")
    hook.chmod(0o755)
    if staging:
        assert "Expected branch to point to" in publish.refused(report, *API)
        assert publish(report, *API)[0]["action"] == "opened"
    else:
        (step,) = publish(report, *API)
        assert step["action"] == "left" and "moved during publishing" in step["why"]
        assert hub.branches()[target] == git(hub.bare, "rev-parse", "main~1")
