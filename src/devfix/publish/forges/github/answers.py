"""The responses of GitHub, its pull requests, and its errors as UserError."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from githubkit import Response
from githubkit.exception import GitHubException, RateLimitExceeded, RequestFailed

from devfix.errors import UserError
from devfix.publish.forges.pull import Pull
from devfix.publish.marker import find
from devfix.report.plain import one_line


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn any error of a request to do `what` into a UserError of one line."""
    try:
        yield
    except RateLimitExceeded as error:
        minutes = error.retry_after.total_seconds() / 60
        raise UserError(f"GitHub's rate limit is reached; run again in {minutes:.0f} minutes to continue") from error
    except RequestFailed as error:
        said, status = said_by(error), error.response.status_code
        raise UserError(f"GitHub refused to {what} ({status}: {said}){_advice(status, said)}") from error
    except (GitHubException, KeyError, TypeError, ValueError) as error:
        cause = error.__cause__ or error
        raise UserError(f"request to {what} failed: {type(cause).__name__}: {one_line(str(cause))}") from error


def _advice(status: int, said: str) -> str:
    if "not permitted to create" in said:
        return "; allow it under Settings, Actions, General: Allow GitHub Actions to create and approve pull requests"
    if status == 401:
        return "; GITHUB_TOKEN is not a valid token"
    if status in (403, 404):
        return "; the token needs `contents: write` and `pull-requests: write` on this repository"
    return ""


def said_by(error: RequestFailed) -> str:
    """Return the message of the response in one line."""
    try:
        data = error.response.json()
        details = [
            each.get("message") or each.get("code", "") for each in data.get("errors", ()) if isinstance(each, dict)
        ]
        return one_line(" ".join([str(data.get("message", "")), *map(str, details)]), 300)
    except (ValueError, AttributeError):
        return one_line(error.response.text, 100)


def record_of(response: Response[Any, Any]) -> Mapping[str, Any]:
    """Return the object in a response; raise TypeError if it is something else."""
    data = response.json()
    if not isinstance(data, dict):
        raise TypeError("the response is not an object")
    return data


def list_of(response: Response[Any, Any]) -> list[Mapping[str, Any]]:
    """Return the list in a response; raise TypeError if it is something else."""
    data = response.json()
    if not isinstance(data, list):
        raise TypeError("the response is not a list")
    return data


def pull_from(data: Mapping[str, Any]) -> Pull:
    """Return a pull request from a response; raise KeyError or TypeError if it is invalid."""
    repository = data["head"].get("repo") or {}  # a fork that was deleted has none
    return Pull(
        number=data["number"],
        url=data["html_url"],
        branch=data["head"]["ref"],
        base=data["base"]["ref"],
        head=data["head"]["sha"],
        title=data["title"],
        body=data.get("body") or "",
        closed_at="" if data["state"] == "open" else data.get("closed_at") or "unknown",
        merged=bool(data.get("merged_at")),
        repository=repository.get("full_name", ""),
        marker=find(data.get("body")),
    )
