"""The client against GitHub's published contract: what it asks is allowed, and it reads what GitHub answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from contract import Contract, forwarded

from devfix.publish.forges.capabilities import Suggestion
from devfix.publish.forges.github.address import address
from devfix.publish.forges.github.client import GitHubClient
from devfix.publish.forges.github.retry import RetryPolicy

pytestmark = pytest.mark.slow  # the contract is served by a package of npm


@pytest.fixture
def forge(contract: Contract) -> Iterator[GitHubClient]:
    with forwarded(contract) as url:
        where = address("https://github.com/octocat/Hello-World", {}, url)
        yield GitHubClient(where, "ghs_token", print, RetryPolicy(print, 0.01))


def test_the_contract_can_fail(contract: Contract) -> None:
    headers = {"Content-Type": "application/json", "Authorization": "token x"}
    assert contract.violations("POST", "/repos/o/r/pulls", headers, b'{"title": 3, "base": "main"}')
    assert contract.violations("GET", "/repos/o/r/pulls?state=shut", headers, b"")
    assert contract.violations("DELETE", "/repos/o/r/pulls", headers, b"")
    assert not contract.violations("POST", "/repos/o/r/pulls", headers, b'{"head": "x", "base": "main"}')


def test_it_reads_a_list_of_pull_requests(forge: GitHubClient) -> None:
    (pull,) = forge.pulls("new-topic")  # the branch of GitHub's example
    assert (pull.number, pull.is_open, pull.repository) == (1347, True, "octocat/Hello-World")
    assert forge.own_pulls("new-topic") == [pull]
    assert forge.pulls("another") == []


def test_it_opens_and_changes_a_pull_request(forge: GitHubClient) -> None:
    pull = forge.create("fix: move `x`", "body", "devfix/x", "main", draft=True)
    assert (pull.number, pull.branch) == (1347, "new-topic")
    forge.write(1347, "body", "title")
    forge.close(1347, "body")
    assert forge.reopen(1347)
    assert forge.label(1347, ["bug"]) == ""


def test_it_comments(forge: GitHubClient) -> None:
    assert forge.say(1347, "words").startswith("https://github.com/")
    assert [comment.id for comment in forge.own_comments(1347)] == [1]
    forge.rewrite(1347, 1, "words")


def test_it_reads_and_writes_reviews(forge: GitHubClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(forge.connection), "login", "octocat")  # the contract has no GraphQL
    reviews = forge.reviews()
    assert reviews.pull(1347).branch == "new-topic"
    assert reviews.diff_lines(1347) == {"file1.txt": (range(132, 139),)}
    (review,) = reviews.own_reviews(1347)
    suggestion = Suggestion("file1.txt", 2, 3, "a\nb\n", "c\n")
    assert reviews.create(1347, "f" * 40, "body", [(suggestion, "text")], []).url.startswith("https://github.com/")
    reviews.rewrite(1347, review.id, "body")
    (comment,) = reviews.own_comments(1347)
    reviews.rewrite_comment(comment.id, "text")


def test_it_opens_issues_and_reads_comments(forge: GitHubClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(forge.connection), "login", "octocat")
    assert forge.issues().find("") is None  # the issue of GitHub's example is a pull request
    issue = forge.issues().create("title", "body", "")
    assert issue.is_open
    forge.issues().write(issue.number, "body")
    discussion = forge.discussion()
    assert discussion.unedited_text(1, "octocat") == "Me too"
    assert discussion.unedited_text(1, "eve") is None
    assert discussion.may_write("monalisa") and discussion.pull(1347) is not None
    discussion.react(1, understood=True)
