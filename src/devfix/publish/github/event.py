"""The pull request of a workflow run, from the event and never from the artifact."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from devfix.errors import UserError
from devfix.publish.pull import Pull


def read_event(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the event of the workflow that runs. Raises UserError if there is none."""
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        raise UserError(
            "--pull-request event: GITHUB_EVENT_PATH is not the event of a workflow; give a number"
        ) from None
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
