"""The pull request of a workflow run, from the event and never from the artifact."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from devfix.errors import UserError
from devfix.publish.forges.pull import Pull


def event_of(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the event for which the workflow runs. Raises UserError if there is none."""
    try:
        data = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise UserError("GITHUB_EVENT_PATH is not the event of a workflow; give a number: --pull-request N") from None
    return data if isinstance(data, dict) else {}


def pull_request(event: Mapping[str, Any], pulls_from: Callable[[str, str], Sequence[Pull]]) -> tuple[int, str] | None:
    """Return the number and the commit of the pull request of a `workflow_run` or `pull_request` event.

    `pulls_from` returns those from a branch of an owner. Return None if it was closed or has newer commits. Raises
    UserError for another event.
    """
    try:
        if "workflow_run" in event:
            # GitHub leaves `workflow_run.pull_requests` empty for forks, so search by the branch and its owner.
            run = event["workflow_run"]
            repository, branch, commit = run["head_repository"], run["head_branch"], run["head_sha"]
            pulls = pulls_from(branch, repository["owner"]["login"])
            name = repository["full_name"].lower()
            found = [pull for pull in pulls if pull.is_open and pull.repository.lower() == name and pull.head == commit]
            return (found[0].number, commit) if found else None
        return event["pull_request"]["number"], event["pull_request"]["head"]["sha"]
    except (KeyError, TypeError):
        raise UserError("the event does not belong to a pull request; give its number: --pull-request N") from None
