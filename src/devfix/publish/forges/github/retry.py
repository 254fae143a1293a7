"""Retries after rate limits and errors of servers and networks; what must exist once is created once."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from githubkit.exception import GitHubException, RateLimitExceeded, RequestError, RequestFailed
from githubkit.typing import RetryOption
from httpx import TransportError

from devfix.errors import UserError

ATTEMPTS = 5  # of one request
LONGEST = timedelta(minutes=20)  # of one wait; for GitHub's hourly limit, the next run is better
FIRST = 2.0  # seconds, doubled each time
SECONDARY = 60.0  # the same after a secondary rate limit that names no time: GitHub asks for a minute at least


class RetryPolicy:
    """Retry policy for githubkit; `report` is called before each wait."""

    def __init__(self, report: Callable[[str], None], first: float | None = None) -> None:
        """Wait `first` seconds after the first error of a server, and twice as long after each further one."""
        self._report, self._first = report, FIRST if first is None else first

    def __call__(self, error: GitHubException, count: int) -> RetryOption:
        """Return whether to retry, and when."""
        if count >= ATTEMPTS:
            return RetryOption(False)
        if isinstance(error, RateLimitExceeded):
            wait = max(error.retry_after, timedelta(seconds=self._first))
            if wait > LONGEST:
                return RetryOption(False)
            self._report(f"GitHub's rate limit is reached: waiting {wait.total_seconds():.0f} s")
            return RetryOption(True, wait)
        if isinstance(error, RequestFailed) and "secondary rate limit" in error.response.text.lower():
            wait = timedelta(seconds=SECONDARY * 2**count)
            self._report(f"GitHub's secondary rate limit is reached: waiting {wait.total_seconds():.0f} s")
            return RetryOption(True, wait)
        if isinstance(error, RequestFailed):
            again = error.response.status_code >= 500 or error.response.status_code == 429
        else:
            again = isinstance(error, RequestError) and isinstance(error.exc, TransportError)
        if not again:
            return RetryOption(False)
        wait = timedelta(seconds=self._first * 2**count)
        self._report(f"GitHub is not responding: waiting {wait.total_seconds():.0f} s")
        return RetryOption(True, wait)


Created = TypeVar("Created")


def create_once(create: Callable[[], Created], find: Callable[[], Created | None], policy: RetryPolicy) -> Created:
    """Return what `create` returns, or what `find` finds after an error of the server or the network.

    `create` must not retry by itself. Raises UserError as `create` does, if it was not created.
    """
    count = 0
    while True:
        try:
            return create()
        except UserError as error:
            cause = error.__cause__
            option = policy(cause, count) if isinstance(cause, GitHubException) else None
            if option is None or not option.do_retry:
                raise
            time.sleep(option.retry_after.total_seconds() if option.retry_after else 0)
        found = find()
        if found is not None:
            return found
        count += 1
