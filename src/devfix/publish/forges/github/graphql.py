"""Requests to GitHub's GraphQL API, for what its other API lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from githubkit import GitHub
from githubkit.exception import GraphQLFailed

from devfix.errors import UserError
from devfix.publish.forges.github.answers import asking
from devfix.report.plain import one_line


def query(github: GitHub[Any], what: str, text: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of the answer to a query that does `what`. Raises UserError for an error or a refusal."""
    with asking(what):
        try:
            data = github.graphql.request(text, dict(variables))
        except GraphQLFailed as error:
            said = "; ".join(each.message for each in error.response.errors or ())
            raise UserError(f"GitHub refused to {what}: {one_line(said, 300)}") from error
        if not isinstance(data, dict):
            raise TypeError("the response is not an object")
        return data


def own_login(github: GitHub[Any]) -> str:
    """Return the name of the user to whom the token belongs; that of an app ends with `[bot]`."""
    data = query(github, "read whose token it is", "query { viewer { login } }", {})
    with asking("read whose token it is"):
        return str(data["viewer"]["login"])


def is_written_by(data: Mapping[str, Any], login: str) -> bool:
    """Return whether the user of a response has that name; only apps can have one with `[bot]`. Nobody has none."""
    if not login:
        return False
    user = data.get("user") or {}
    name = str(user.get("login", "")).lower()
    return name == login.lower() or (user.get("type") == "Bot" and name == f"{login.lower()}[bot]")
