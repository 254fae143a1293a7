"""The contract of the small forges can fail: with our descriptions, and with a whole one where a variable names it."""

from __future__ import annotations

import json

import pytest
from api_description import Description, read_description

MR = "/api/v4/projects/a%2Fb/merge_requests"
PULLS = "/api/v1/repos/a/b/pulls"
RIGHT = [
    ("gitlab", "GET", f"{MR}?state=opened&page=2", None),
    ("gitlab", "PUT", f"{MR}/3", {"add_labels": ["bug"], "description": "x"}),
    ("gitlab", "GET", "/api/v4/projects/a%2Fb/milestones?include_ancestors=true", None),
    ("forgejo", "PATCH", f"{PULLS}/3", {"state": "closed"}),
    ("gitea", "POST", "/api/v1/repos/a/b/labels", {"name": "bug", "color": "#fff"}),
]
WRONG = [
    ("gitlab", "GET", f"{MR}?state=open", None),
    ("gitlab", "GET", f"{MR}?page=two", None),
    ("gitlab", "GET", f"{MR}?colour=red", None),
    ("gitlab", "POST", MR, {"title": "x", "source_branch": "y"}),
    ("gitlab", "POST", MR, None),
    ("gitlab", "PUT", f"{MR}/3", {"add_labels": "bug"}),
    ("gitlab", "PUT", f"{MR}/3", {"colour": "red"}),
    ("gitlab", "PUT", f"{MR}/three", {}),
    ("gitlab", "PATCH", f"{MR}/3", {}),
    ("gitlab", "GET", "/api/v4/projects/a%2Fb/milestones?include_ancestors=True", None),
    ("gitlab", "GET", "/api/v4/nothing", None),
    ("forgejo", "GET", f"{PULLS}?head=x", None),
    ("forgejo", "PATCH", f"{PULLS}/3", {"title": 3}),
    ("gitea", "POST", "/api/v1/repos/a/b/labels", {"name": "bug"}),
]


def said(description: Description, method: str, target: str, data: object) -> list[str]:
    return description.violations(method, target, json.dumps(data).encode() if data is not None else b"")


@pytest.fixture(scope="module")
def read() -> dict[str, Description]:
    return {forge: read_description(forge) for forge in ("gitlab", "forgejo", "gitea")}


@pytest.mark.parametrize(("forge", "method", "target", "data"), RIGHT)
def test_what_is_described_is_allowed(
    read: dict[str, Description], forge: str, method: str, target: str, data: object
) -> None:
    assert said(read[forge], method, target, data) == []


@pytest.mark.parametrize(("forge", "method", "target", "data"), WRONG)
def test_what_is_not_described_is_a_violation(
    read: dict[str, Description], forge: str, method: str, target: str, data: object
) -> None:
    assert said(read[forge], method, target, data)
