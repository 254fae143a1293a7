"""The errors of GitLab as UserError."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitlab.exceptions import GitlabError
from requests import RequestException

from devfix.errors import UserError
from devfix.report.plain import one_line


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn any error of a request to do `what` into a UserError of one line."""
    try:
        yield
    except GitlabError as error:
        status = error.response_code or 0
        shown = f"{status}: {said_by(error)}" if status else said_by(error)
        raise UserError(f"GitLab refused to {what} ({shown}){_advice(status)}") from error
    except (RequestException, KeyError, TypeError, ValueError) as error:
        cause = error.__cause__ or error
        raise UserError(f"request to {what} failed: {type(cause).__name__}: {one_line(str(cause))}") from error


def _advice(status: int) -> str:
    if status == 401:
        return "; GITLAB_TOKEN is not a valid token"
    if status in (403, 404):
        return "; the token needs the scope `api`, and the role Developer in this project"
    if 300 <= status < 400:
        return "; the project is at another address: give that one"
    return ""


def said_by(error: GitlabError) -> str:
    """Return the message of the response in one line; GitLab sends texts, lists and objects of lists."""
    try:
        data = json.loads(error.response_body or b"")
        said = data.get("message") or data.get("error_description") or data.get("error") or data
    except (ValueError, AttributeError):
        said = error.error_message
    return one_line(_flat(said), 300)


def _flat(said: object) -> str:
    if isinstance(said, dict):
        return ", ".join(f"{name}: {_flat(each)}" for name, each in said.items())
    return ", ".join(map(_flat, said)) if isinstance(said, (list, tuple)) else str(said)


def refusal(act: Callable[[], object]) -> str:
    """Return what GitLab says if it refuses, else "". Raises UserError for any other failure of the request."""
    try:
        act()
    except UserError as error:
        cause = error.__cause__
        if isinstance(cause, GitlabError) and cause.response_code in (400, 403, 404, 409, 422):
            return said_by(cause)
        raise
    return ""
