"""The projects of a group or a user on GitLab, through python-gitlab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gitlab import Gitlab
from gitlab.exceptions import GitlabGetError

from devfix.errors import UserError
from devfix.fleet.planning.owner import Listed, Owner
from devfix.publish.forges.gitlab.answers import asking
from devfix.publish.forges.gitlab.session import PatientSession
from devfix.publish.forges.patience import Patience

_TIMEOUT, _PAGE = 30.0, 100  # seconds for one response; projects in it


def list_gitlab(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
    """Yield the projects of a group with those of its subgroups, or of a user."""
    server = (owner.api or owner.server).removesuffix("/api/v4")
    session = PatientSession(Patience("GitLab", notify))
    client = Gitlab(server, private_token=token, session=session, timeout=_TIMEOUT, keep_base_url=True)
    with asking(f"list the projects of {owner.name}"):
        for project in _projects(client, owner.name):
            name = project.path_with_namespace.removeprefix(f"{owner.name}/")
            is_fork = bool(getattr(project, "forked_from_project", None))
            branch = getattr(project, "default_branch", None) or ""
            yield Listed(name, project.http_url_to_repo, branch, bool(project.archived), is_fork)


def _projects(client: Gitlab, name: str) -> Iterator[Any]:
    try:
        group = client.groups.get(name, with_projects=False)
    except GitlabGetError as error:
        if error.response_code != 404:
            raise
        users = client.users.list(username=name, get_all=False)
        if not users:
            raise UserError(f"GitLab has no group and no user {name}") from error
        user: Any = next(iter(users))
        yield from user.projects.list(iterator=True, per_page=_PAGE)
    else:
        yield from group.projects.list(iterator=True, per_page=_PAGE, include_subgroups=True, with_shared=False)
