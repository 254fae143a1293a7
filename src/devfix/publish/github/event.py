"""Which pull request a workflow runs for, from GitHub's own event and never from the artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devfix.errors import UserError
from devfix.publish.github.client import GitHubClient


def pull_request(event: Mapping[str, Any], forge: GitHubClient) -> tuple[int, str] | None:
    """Return the number and the commit of the pull request behind an event of `workflow_run` or `pull_request`.

    None where it was closed or pushed to since. Raises UserError for another event.
    """
    try:
        if "workflow_run" in event:
            # GitHub leaves `workflow_run.pull_requests` empty for forks: the branch and its owner lead there as well.
            run = event["workflow_run"]
            repository, branch, commit = run["head_repository"], run["head_branch"], run["head_sha"]
            pulls = forge.pulls(branch, repository["owner"]["login"])
            name = repository["full_name"].lower()
            found = [pull for pull in pulls if pull.is_open and pull.repository.lower() == name and pull.head == commit]
            return (found[0].number, commit) if found else None
        return event["pull_request"]["number"], event["pull_request"]["head"]["sha"]
    except (KeyError, TypeError):
        raise UserError("this event is about no pull request: give its number, --pull-request N") from None
