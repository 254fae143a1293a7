"""Commands in comments: carried out for people who may write, once, and with one answer at most."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from calling import Publish
from github_reviews import comment_event
from github_server import GitHub
from programs import FIRST, History

from devfix.cli import status
from devfix.publish.marker import find

Respond = Callable[[dict[str, Any]], str]


@pytest.fixture
def respond(
    hub: GitHub, quick: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Respond:
    hub.permissions = {"grace": "write", "ada": "admin", "linus": "read"}

    def call(event: dict[str, Any], *options: str) -> str:
        file = tmp_path / "event.json"
        file.write_text(json.dumps(event))
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(file))
        hub.requests.clear()
        assert status(["respond", "--remote", hub.url, *options]) == 0
        return capsys.readouterr()[0].strip()

    return call


@pytest.fixture(autouse=True)
def pull(publish: Publish, history: History, tmp_path: Path) -> None:
    publish(history.artifact(tmp_path / "1.json", FIRST))


@pytest.mark.slow
def test_ignore_closes_for_good(
    respond: Respond, publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    assert respond(comment_event(hub, 1, "grace", "/devfix ignore\r\nWe have our own.")).startswith("ignore #1")
    assert hub.pulls[0]["state"] == "closed" and hub.reactions == [(1, "+1")]
    (step,) = publish(tmp_path / "1.json")
    assert step["action"] == "left" and "closed by a person" in step["why"]


@pytest.mark.slow
def test_rebase_makes_the_next_run_build_the_branch_again(
    respond: Respond, publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    history.commit({"README.md": "more\n"}, "docs: more", hub.url_with_token)
    before = hub.branches()
    assert respond(comment_event(hub, 1, "ada", "/devfix rebase")).startswith("rebase #1")
    (step,) = publish(history.artifact(tmp_path / "2.json", FIRST))
    assert step["action"] == "updated" and hub.branches()[step["branch"]] != before[step["branch"]]
    marker = find(hub.pulls[0]["body"])
    assert marker is not None and not marker.retry
    assert publish(tmp_path / "2.json")[0]["action"] == "unchanged"


def test_explain_answers_with_one_comment(respond: Respond, hub: GitHub) -> None:
    for _ in range(3):
        respond(comment_event(hub, 1, "grace", "/devfix explain"))
    answers = [comment for comment in hub.comments if comment["user"]["login"] == hub.login]
    assert len(answers) == 1 and "`placement/input-not-moved`" in answers[0]["body"] and "####" in answers[0]["body"]


def test_an_unknown_command_gets_a_reaction(respond: Respond, hub: GitHub) -> None:
    assert "known are rebase, ignore, explain" in respond(comment_event(hub, 1, "grace", "/devfix merge"))
    assert hub.reactions == [(1, "confused")] and hub.pulls[0]["state"] == "open"


def test_a_thousand_commands_are_one(respond: Respond, hub: GitHub) -> None:
    respond(comment_event(hub, 1, "grace", "/devfix explain\n/devfix ignore\n" * 1000))
    assert hub.pulls[0]["state"] == "open" and len(hub.comments) == 2 and len(hub.reactions) == 1


@pytest.mark.parametrize("author", ["linus", "eve"])
def test_who_may_not_write_gets_no_answer(respond: Respond, hub: GitHub, author: str) -> None:
    said = respond(comment_event(hub, 1, author, "/devfix ignore"))
    assert "may not write" in said and hub.writes() == [] and hub.reactions == []


def edited(comment: dict[str, Any]) -> None:
    comment["updated_at"] = "2031-01-01T00:00:00Z"


def replaced(comment: dict[str, Any]) -> None:
    comment["body"] = "/devfix ignore\nplease"


def another(comment: dict[str, Any]) -> None:
    comment["user"] = {"login": "eve", "type": "User"}


@pytest.mark.parametrize("change", [edited, replaced, another])
def test_a_comment_that_is_not_as_it_was_written_is_left_alone(
    respond: Respond, hub: GitHub, change: Callable[[dict[str, Any]], None]
) -> None:
    event = comment_event(hub, 1, "grace", "/devfix ignore")
    change(hub.comments[0])
    assert "the comment was edited" in respond(event) and hub.writes() == []


def test_bots_editions_and_prose_cost_no_request(respond: Respond, hub: GitHub) -> None:
    event = comment_event(hub, 1, "grace", "/devfix ignore")
    assert "not when it is edited" in respond({**event, "action": "edited"}) and hub.requests == []
    assert "no command" in respond(comment_event(hub, 1, "grace", "I like /devfix ignore")) and hub.requests == []
    assert "bots" in respond(comment_event(hub, 1, hub.login, "/devfix ignore")) and hub.requests == []


def test_pull_requests_of_others_are_left_alone(respond: Respond, hub: GitHub) -> None:
    body = hub.pulls[0]["body"]
    hub.add("feature", "mine", "")
    hub.add("patch", "forged", body, user="eve", repo={"full_name": "eve/model"})  # type: ignore[arg-type]
    for number in (2, 3):
        assert "not one of devfix" in respond(comment_event(hub, number, "grace", "/devfix ignore"))
    assert hub.writes() == [] and all(pull["state"] == "open" for pull in hub.pulls)


def test_a_closed_pull_request_is_not_changed(respond: Respond, hub: GitHub) -> None:
    hub.close(1)
    assert "is closed" in respond(comment_event(hub, 1, "grace", "/devfix rebase"))
    assert hub.reactions == [(1, "confused")]


def test_an_event_of_another_kind_is_an_error(
    hub: GitHub, quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "event.json").write_text("{}")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    assert status(["respond", "--remote", hub.url]) == 2
    assert "issue_comment" in capsys.readouterr()[1]
