"""Resolve references of remote repositories to commits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from devfix.errors import UserError
from devfix.process.tempdirs import temporary
from devfix.workspace.git.clone import hide_user, reason
from devfix.workspace.git.command import Git, GitError
from devfix.workspace.git.network import patiently, settings

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def resolve(address: str, reference: str, token: str | None) -> str:
    """Return the commit of a branch, a tag or a commit id at an address; "" stands for the default branch.

    The token is sent to that address alone. Raises UserError if the remote does not answer, or has none such.
    """
    if _COMMIT.fullmatch(reference):
        return reference
    shown = hide_user(address)
    if reference.startswith("-") or any(each in reference for each in "*?[ \n"):
        raise UserError(f"{shown}: {reference!r} is not the name of a branch or a tag")
    names = [f"refs/heads/{reference}", f"refs/tags/{reference}", f"refs/tags/{reference}^{{}}", reference]
    wanted = names if reference else ["HEAD"]
    try:
        network = settings(address, token)
        git = Git(temporary()).also(**network)
        listed = patiently(lambda: git.text("ls-remote", "--", address, *wanted), shown, "is there a token for it?")
    except UserError as error:
        raise UserError(f"{shown}: {str(error).removeprefix(f'{address}: ').removeprefix(f'{shown}: ')}") from error
    except GitError as error:
        raise UserError(f"{shown}: cannot be read ({reason(error)})") from error
    return _choose(listed, wanted) or _absent(shown, reference)


def _choose(listed: str, wanted: list[str]) -> str:
    found: Mapping[str, str] = {name: commit for commit, _, name in (row.partition("\t") for row in listed.split("\n"))}
    if wanted == ["HEAD"]:
        return found.get("HEAD", "")
    branch, tag, peeled, full = wanted  # a tag with a message has an object of its own, and `^{}` is its commit
    return found.get(branch) or found.get(peeled) or found.get(tag) or found.get(full, "")


def _absent(shown: str, reference: str) -> str:
    what = f"has no branch or tag {reference!r}" if reference else "has no commit"
    raise UserError(f"{shown}: {what}")
