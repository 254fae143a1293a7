"""Reviews, issues and people of the small GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from git_repositories import git
from github_parts import Answer, now, page_of, user

if TYPE_CHECKING:
    from github_server import GitHub

Query = dict[str, list[str]]


def show_pull(hub: GitHub, query: Query, number: int) -> Answer:
    return 200, hub.shown(hub.pulls[number - 1])


def find_files(hub: GitHub, query: Query, number: int) -> Answer:
    pull = hub.shown(hub.pulls[number - 1])
    text = git(hub.bare, "diff", f"{pull['base']['ref']}...{pull['head']['sha']}")
    rows = []
    for part in text.split("diff --git ")[1:]:
        patch = part[start:] if (start := part.find("@@ ")) >= 0 else ""
        rows.append({"filename": re.match(r"a/(.*) b/", part)[1], "status": "modified", "patch": patch})  # type: ignore[index]
    return 200, page_of(rows, query)


def find_reviews(hub: GitHub, query: Query, number: int) -> Answer:
    return 200, page_of([each for each in hub.reviews if each["pull"] == number], query)


def add_review(hub: GitHub, data: Any, number: int) -> Answer:
    review = add(hub.reviews, hub, number, data["body"])
    shown = {row["filename"]: row["patch"] for row in find_files(hub, {"per_page": ["100"]}, number)[1]}
    for each in data["comments"]:
        first, last = each.get("start_line", each["line"]), each["line"]
        hunks = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", shown.get(each["path"], ""), re.M)
        spans = [range(int(start), int(start) + int(count or 1)) for start, count in hunks]
        if not any(first in span and last in span for span in spans) or first > last:
            hub.reviews.remove(review)
            return 422, {"message": "Unprocessable Entity", "errors": ["Line must be part of the diff"]}
        comment = add(hub.review_comments, hub, number, each["body"])
        comment |= {"path": each["path"], "line": last, "start_line": first, "review": review["id"]}
    return 200, review


def add(rows: list[dict[str, Any]], hub: GitHub, number: int, body: str, author: str = "") -> dict[str, Any]:
    """Add a review, or a comment on lines, of an author; by default of the token's user."""
    where = f"{hub.url}/pull/{number}#{len(rows) + 1}"
    body = body.replace("\n", "\r\n")  # as GitHub keeps it
    rows.append(
        {"id": len(rows) + 1, "pull": number, "body": body, "html_url": where, "user": user(author or hub.login)}
    )
    return rows[-1]


def change_review(hub: GitHub, data: Any, number: int, identifier: int) -> Answer:
    hub.reviews[identifier - 1]["body"] = data["body"]
    return 200, hub.reviews[identifier - 1]


def find_review_comments(hub: GitHub, query: Query, number: int) -> Answer:
    return 200, page_of([each for each in hub.review_comments if each["pull"] == number], query)


def change_review_comment(hub: GitHub, data: Any, identifier: int) -> Answer:
    hub.review_comments[identifier - 1]["body"] = data["body"]
    return 200, hub.review_comments[identifier - 1]


def find_issues(hub: GitHub, query: Query) -> Answer:
    creator, state = query.get("creator", [""])[0], query.get("state", ["open"])[0]
    return 200, page_of(
        [each for each in hub.issues if creator in ("", each["user"]["login"]) and state in ("all", each["state"])],
        query,
    )


def open_issue(hub: GitHub, data: Any) -> Answer:
    return 201, add_issue(hub, data["title"], data["body"])


def add_issue(hub: GitHub, title: str, body: str, author: str = "") -> dict[str, Any]:
    number = 1001 + len(hub.issues)
    issue = {"number": number, "title": title, "body": body, "state": "open", "user": user(author or hub.login)}
    hub.issues.append({**issue, "html_url": f"{hub.url}/issues/{number}"})
    return hub.issues[-1]


def change_issue(hub: GitHub, data: Any, number: int) -> Answer:
    if number > 1000:
        hub.issues[number - 1001].update(data)
        return 200, hub.issues[number - 1001]
    hub.pulls[number - 1]["milestone"] = data["milestone"]
    return 200, {"number": number}


def show_comment(hub: GitHub, query: Query, identifier: int) -> Answer:
    return 200, hub.comments[identifier - 1]


def react(hub: GitHub, data: Any, identifier: int) -> Answer:
    reaction = (identifier, data["content"])
    status = 200 if reaction in hub.reactions else 201
    if status == 201:
        hub.reactions.append(reaction)
    return status, {"id": 1, "content": data["content"]}


def show_permission(hub: GitHub, query: Query, name: str) -> Answer:
    permission = hub.permissions.get(name, "read")
    return 200, {"permission": permission, "role_name": permission, "user": user(name)}


def comment_event(hub: GitHub, number: int, author: str, body: str) -> dict[str, Any]:
    """Write a comment on a pull request, and return the event that its workflow gets."""
    moment = now()
    comment = {
        "id": len(hub.comments) + 1,
        "issue": number,
        "body": body,
        "html_url": f"{hub.url}/pull/{number}#issuecomment-{len(hub.comments) + 1}",
        "user": user(author),
        "author_association": "NONE",
        "created_at": moment,
        "updated_at": moment,
    }
    hub.comments.append(comment)
    return {"action": "created", "issue": {"number": number, "pull_request": {}}, "comment": dict(comment)}


GET = [
    (r"/pulls/(\d+)", show_pull),
    (r"/pulls/(\d+)/files", find_files),
    (r"/pulls/(\d+)/reviews", find_reviews),
    (r"/pulls/(\d+)/comments", find_review_comments),
    (r"/issues", find_issues),
    (r"/issues/comments/(\d+)", show_comment),
    (r"/collaborators/([\w.-]+)/permission", show_permission),
]
POST = [
    (r"/pulls/(\d+)/reviews", add_review),
    (r"/issues", open_issue),
    (r"/issues/comments/(\d+)/reactions", react),
]
PUT = [(r"/pulls/(\d+)/reviews/(\d+)", change_review)]
PATCH = [(r"/pulls/comments/(\d+)", change_review_comment), (r"/issues/(\d+)", change_issue)]
