"""Create what must exist once, also when the response to the request that creates it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from githubkit.exception import GitHubException

from devfix.errors import UserError
from devfix.publish.github.retry import RetryPolicy

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
