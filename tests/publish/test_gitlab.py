"""What only GitLab does: it executes lines of texts, has groups in groups, and leaves out what a token may not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_description import Description
from calling import Publish
from conftest import described
from forge_server import TOKEN, served
from github_server import Fault
from gitlab_server import GitLab
from programs import FIRST, History, written

from devfix.cli import status
from devfix.publish.forges.gitlab.text import without_quick_actions, without_references
from devfix.report.render.pull_request.markdown import GAP, remove_links

ACTIONS = ("/approve", "/merge", "/label ~evil", "/assign @eve", "> /close", "  /APPROVE", "/app\rrove")


@pytest.fixture
def gitlab(
    tmp_path: Path,
    history: History,
    descriptions: dict[str, Description],
    monkeypatch: pytest.MonkeyPatch,
    quick: None,
) -> Iterator[GitLab]:
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    state = GitLab(tmp_path / "forge", described("gitlab", descriptions))
    with served(state, history.folder):
        yield state
    assert state.violations == []


@pytest.fixture
def there(gitlab: GitLab, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(gitlab, capsys, "--forge", "gitlab")


def test_the_server_executes_quick_actions(gitlab: GitLab) -> None:
    assert gitlab.carry_out("words\n/approve\n") and gitlab.executed == ["approve"]
    gitlab.carry_out("/app\rrove\nnot /merge\n/usr/bin/python\n")
    assert gitlab.executed == ["approve", "approve"]


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS)
def test_no_line_of_a_text_is_executed(
    there: Publish, gitlab: GitLab, history: History, tmp_path: Path, action: str
) -> None:
    evil = f"words\n{action}\n"
    templates = tmp_path / "templates"
    templates.mkdir()
    for name in ("pull_request", "comment", "gone"):
        (templates / f"{name}.md.jinja").write_text(f"{evil}{{{{ report.command }}}}\n{action}")
    data = history.data(FIRST, command=f"python train.py\n{action}")
    data["failures"][0]["message"] = data["fixes"][0]["reason"] = data["fixes"][0]["title"] = evil
    report = written(tmp_path / "1.json", data)
    clean = history.artifact(tmp_path / "2.json", outcome="clean", command=f"python train.py\n{action}")
    for options in ((), ("--templates", str(templates))):
        gitlab.pulls.clear()
        there(report, *options)
        assert [step["action"] for step in there(report, *options)] == ["unchanged"]
        there(report, "--pull-request", "1", *options)
        there(clean, *options)
        assert gitlab.pulls[0]["state"] == "closed"
    assert gitlab.executed == []


def test_a_description_of_a_person_stays_as_it_is() -> None:
    text = "See /usr/bin/python:\n/usr/bin/python\n    / x\n/ 2\n"
    assert without_quick_actions(text) == text
    safe = without_quick_actions("/approve")
    assert safe == f"/{GAP}approve" and without_quick_actions(safe) == safe
    assert remove_links("see !12, but !x") == f"see !{GAP}12, but !x"
    assert without_references('see !1, %2 and ~"a" but 5 % 3') == f'see !{GAP}1, %{GAP}2 and ~{GAP}"a" but 5 % 3'


def test_the_forge_is_known_by_the_job(
    there: Publish, gitlab: GitLab, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("CI_SERVER_URL", gitlab.server)
    report = history.artifact(tmp_path / "1.json", FIRST)
    assert status(["publish", str(report), "--remote", gitlab.url]) == 0
    there.capsys.readouterr()
    (pull,) = gitlab.pulls
    assert "Close this merge request" in pull["body"]
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "1")
    monkeypatch.setenv("CI_COMMIT_SHA", "1" * 40)
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", history.commit_id)
    (step,) = there(report, "--pull-request", "event")
    assert (step["action"], step["number"]) == ("commented", 1)
    monkeypatch.delenv("GITLAB_TOKEN")
    monkeypatch.setenv("CI_JOB_TOKEN", "glcbt-0123456789")
    assert "CI_JOB_TOKEN may not open merge requests" in there.refused(report)


def test_what_gitlab_says_is_one_line(there: Publish, gitlab: GitLab, history: History, tmp_path: Path) -> None:
    gitlab.faults = [Fault("GET", "/merge_requests[?]", 404, message="404 Project Not Found")]
    said = there.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert "GitLab refused to list merge requests (404: 404 Project Not Found); the token needs the scope `api`" in said


@pytest.mark.slow
def test_the_answer_may_be_nonsense(there: Publish, gitlab: GitLab, history: History, tmp_path: Path) -> None:
    gitlab.add("feature", "x", "")
    gitlab.pulls[0]["title"] = None
    gitlab.shown = lambda pull: {"iid": "one"}  # type: ignore[method-assign]
    said = there.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert "request to list merge requests failed" in said
    assert gitlab.writes() == []
