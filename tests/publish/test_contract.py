"""The client against GitHub's published contract: what it asks is allowed, and it reads what GitHub answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from contract import Contract, forwarded

from devfix.publish.github.address import address
from devfix.publish.github.client import GitHubClient
from devfix.publish.github.retry import RetryPolicy

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
