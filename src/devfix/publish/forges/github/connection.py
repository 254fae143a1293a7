"""A connection to GitHub's API for one repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from githubkit import GitHub, Response

from devfix.publish.forges.github.address import Address
from devfix.publish.forges.github.answers import asking, list_of
from devfix.publish.forges.github.graphql import own_login
from devfix.publish.forges.github.retry import RetryPolicy

PAGE, PAGES = 100, 10
TIMEOUT = 30.0  # seconds for one response


class Connection:
    """The API at an address: `github` retries what fails for a while, and `single` never repeats a request."""

    def __init__(self, address: Address, token: str | None, policy: RetryPolicy) -> None:
        """Connect with a token; None only reads what everybody can."""
        self.at, self.repository, self.policy = (address.owner, address.name), address.full_name, policy
        self._has_token = token is not None
        self.github, self.single = _connect(address, token, policy), _connect(address, token, None)

    @cached_property
    def login(self) -> str:
        """The name of the user to whom the token belongs, "" without a token."""
        return own_login(self.github) if self._has_token else ""

    def pages(self, what: str, request: Callable[[int], Response[Any, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a list, whose pages `request` asks for."""
        for page in range(1, PAGES + 1):
            with asking(what):
                rows = list_of(request(page))
            yield from rows
            if len(rows) < PAGE:
                return


def _connect(address: Address, token: str | None, policy: RetryPolicy | None) -> GitHub[Any]:
    # URLs are built from the arguments only: no redirect and no link of a response is followed.
    return GitHub(
        token,
        base_url=address.api,
        user_agent="devfix",
        follow_redirects=False,
        http_cache=False,
        timeout=TIMEOUT,
        auto_retry=policy or False,
    )
