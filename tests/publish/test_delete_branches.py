"""Branches that are deleted once their pull request is closed: those of devfix, if nobody has changed them."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git, write
from github_server import GitHub
from programs import FIRST, SECOND, History

DELETE = "--delete-branches"


@pytest.mark.slow
def test_the_branch_goes_when_the_failure_is_gone(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    publish(clean, DELETE, "--dry-run")
    assert len(hub.branches()) == 2
    assert [step["action"] for step in publish(clean, DELETE)] == ["closed"]
    assert set(hub.branches()) == {"main"}
    assert publish(clean, DELETE) == []
    (step,) = publish(tmp_path / "1.json", DELETE)
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
def test_the_branch_of_a_merged_one_goes_at_the_next_run(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    hub.shown(hub.pulls[0])
    hub.merge(1)
    report = history.artifact(tmp_path / "2.json", SECOND)
    assert [step["action"] for step in publish(report)] == ["opened"] and len(hub.branches()) == 3
    steps = publish(report, DELETE)
    assert [step["action"] for step in steps] == ["unchanged", "deleted"] and len(hub.branches()) == 2


@pytest.mark.slow
def test_what_a_person_closed_can_be_reopened(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))
    hub.shown(hub.pulls[0])
    hub.close(1)
    publish(history.artifact(tmp_path / "2.json", outcome="clean"), DELETE)
    assert len(hub.branches()) == 2


def test_a_branch_with_commits_of_others_stays(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", step["branch"], str(hub.bare), str(clone))
    write(clone, {"mine.py": b""})
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message=mine")
    git(clone, "push", "--quiet", "origin", "HEAD")
    hub.shown(hub.pulls[0])
    hub.merge(1)
    assert publish(history.artifact(tmp_path / "2.json", outcome="clean"), DELETE) == []
    assert step["branch"] in hub.branches()
