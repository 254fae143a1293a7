"""Commits that GitHub creates and signs, for repositories whose rules demand signatures."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from typing import Any

from githubkit import GitHub

from devfix.errors import UserError
from devfix.publish.forges.github.answers import asking
from devfix.publish.forges.github.graphql import query
from devfix.workspace import CommitChanges, FileChange, Remote

STAGING = "devfix-staging/"
"""Where commits are created, one after the other, before the branch is set to the last."""
LARGEST = 20_000_000  # bytes of the changed files of a commit
_REGULAR = {"000000", "100644", "100755"}  # the first stands for a file that does not exist
_MUTATION = "mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"


class SignedCommits:
    """Creates commits through GitHub's API, which signs them as their author's web commits."""

    def __init__(self, github: GitHub[Any], repository: str, remote: Remote) -> None:
        """Commit to the repository of that full name; `remote` has the commits that are to be created there."""
        self._github, self._repository, self._remote = github, repository, remote

    def push(self, branch: str, base: str, tip: str, expected: str) -> str:
        """Create the commits from `base` to `tip` again, and set a branch to the last if it is still at `expected`.

        Return the last one's id, "" if the branch moved. Raises UserError for what the API cannot express.
        """
        commits = list(self._remote.commit_changes(base, tip))
        for commit in commits:
            _check(commit.files)
        staging = STAGING + branch
        earlier = self._remote.branches(staging).get(staging, "")
        if earlier != base and not self._remote.push(staging, base, earlier):
            return ""
        head = base
        try:
            for commit in commits:
                head = self._create(staging, head, commit)
            return head if self._remote.push(branch, head, expected) else ""
        finally:
            with contextlib.suppress(UserError):  # the next run uses the branch again
                left = self._remote.branches(staging).get(staging)
                if left:
                    self._remote.delete(staging, left)

    def _create(self, branch: str, parent: str, commit: CommitChanges) -> str:
        """Create one commit on top of `parent`, and return its id. Raises UserError if it is not the one asked for."""
        try:
            found = self._request(branch, parent, commit)
        except UserError:
            # It may have been created, and the response lost.
            found = self._remote.branches(branch).get(branch, "")
            if found in ("", parent) or not self._remote.created_by(found, commit.tree, parent):
                raise
            return found
        if not self._remote.created_by(found, commit.tree, parent):
            raise UserError(
                "GitHub's API created another commit than devfix verified: it does not keep the mode of executable "
                "files, and may add a sign-off; publish without --commits api"
            )
        return found

    def _request(self, branch: str, parent: str, commit: CommitChanges) -> str:
        headline, _, body = self._remote.seal(commit, parent).partition("\n\n")
        added = [file for file in commit.files if file.content is not None]
        removed = [{"path": file.path} for file in commit.files if file.content is None]
        given: Mapping[str, Any] = {
            "branch": {"repositoryNameWithOwner": self._repository, "branchName": branch},
            "expectedHeadOid": parent,
            "message": {"headline": headline, "body": body.rstrip("\n")},
            "fileChanges": {
                "additions": [
                    {"path": file.path, "contents": base64.b64encode(file.content or b"").decode()} for file in added
                ],
                "deletions": removed,
            },
        }
        data = query(self._github, f"commit to {branch}", _MUTATION, {"input": given})
        with asking(f"commit to {branch}"):
            return str(data["createCommitOnBranch"]["commit"]["oid"])


def _check(files: tuple[FileChange, ...]) -> None:
    """Raise UserError for a change that the API cannot express."""
    for file in files:
        if not {file.old_mode, file.mode} <= _REGULAR:
            raise UserError(
                f"{file.path}: GitHub's API cannot commit links and submodules; publish without --commits api"
            )
        if file.mode == "100755" != file.old_mode or (file.old_mode == "100755" and file.mode == "100644"):
            raise UserError(f"{file.path}: GitHub's API cannot set the mode of a file; publish without --commits api")
    if sum(len(file.content or b"") for file in files) > LARGEST:
        raise UserError(
            f"the changed files of a commit have more than {LARGEST // 1_000_000} MB, too much for GitHub's API; "
            "publish without --commits api"
        )
