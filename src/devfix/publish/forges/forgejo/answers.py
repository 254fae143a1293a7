"""Requests to Forgejo and Gitea, their responses, and their errors as UserError."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from devfix import __version__
from devfix.errors import UserError
from devfix.publish.forges.patience import Patience
from devfix.report.plain import one_line

TIMEOUT = 30.0  # seconds for one response


class Requests:
    """Sends requests below one URL, and again after errors of servers and networks; it follows no redirect."""

    def __init__(self, api: str, token: str | None, patience: Patience) -> None:
        """Send the token with each request."""
        headers = {"User-Agent": f"devfix/{__version__}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"token {token}"
        self._client = httpx.Client(headers=headers, timeout=TIMEOUT, follow_redirects=False)
        self._api, self._patience = api, patience

    def __call__(self, method: str, path: str, data: object = None, **query: str | int) -> httpx.Response:
        """Return the response. Raises httpx.HTTPError if it is no success."""
        attempt = 1
        while True:
            try:
                response = self._client.request(method, self._api + path, params=query, json=data)
            except httpx.TransportError:
                if not self._patience.wait(attempt, None, {}):
                    raise
            else:
                if response.is_success:
                    return response
                if not self._patience.wait(attempt, response.status_code, response.headers):
                    message = f"status {response.status_code}"
                    raise httpx.HTTPStatusError(message, request=response.request, response=response)
            attempt += 1


@contextmanager
def asking(forge: str, what: str) -> Iterator[None]:
    """Turn any error of a request to do `what` into a UserError of one line."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        raise UserError(f"{forge} refused to {what} ({status}: {said_by(error)}){_advice(forge, status)}") from error
    except (httpx.HTTPError, httpx.InvalidURL, KeyError, TypeError, ValueError) as error:
        cause = error.__cause__ or error
        raise UserError(f"request to {what} failed: {type(cause).__name__}: {one_line(str(cause))}") from error


def _advice(forge: str, status: int) -> str:
    if status == 401:
        return f"; {forge.upper()}_TOKEN is not a valid token"
    if status in (403, 404):
        return "; the token needs the scopes `write:repository` and `write:issue`, its user the right to write here"
    if 300 <= status < 400:
        return "; the repository is at another address: give that one"
    return ""


def said_by(error: httpx.HTTPStatusError) -> str:
    """Return the message of the response in one line."""
    try:
        return one_line(str(error.response.json()["message"]), 300)
    except (ValueError, KeyError, TypeError):
        return one_line(error.response.text, 100)


def refusal(act: Callable[[], object]) -> str:
    """Return what the forge says if it refuses, else "". Raises UserError for any other failure of the request."""
    try:
        act()
    except UserError as error:
        cause = error.__cause__
        if isinstance(cause, httpx.HTTPStatusError) and cause.response.status_code in (400, 403, 404, 409, 412, 422):
            return said_by(cause)
        raise
    return ""


def record_of(response: httpx.Response) -> Mapping[str, Any]:
    """Return the object in a response; raise TypeError if it is something else."""
    data = response.json()
    if not isinstance(data, dict):
        raise TypeError("the response is not an object")
    return data


def list_of(response: httpx.Response) -> list[Mapping[str, Any]]:
    """Return the list in a response; raise TypeError if it is something else."""
    data = response.json()
    if not isinstance(data, list):
        raise TypeError("the response is not a list")
    return data
