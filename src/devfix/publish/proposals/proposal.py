"""Group fixes into proposals: the fixes, the branch and the files of each pull request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from devfix.errors import UserError
from devfix.notebooks.notebook import cell_source, named_cell, with_cell
from devfix.publish.proposals.artifact import Artifact
from devfix.publish.proposals.changed_text import objection
from devfix.report.diff import apply
from devfix.report.fingerprint import failure_id
from devfix.report.types import FixRecord

PREFIX = "devfix/"
Content = Callable[[str], bytes]
"""Returns a file at the repaired commit; raises UserError if it does not exist or may not be changed."""


@dataclass(frozen=True)
class Proposal:
    """The fixes of one pull request: their indexes in the report, the files after each, the failures they fix.

    `tests` has the regression test of a fix as a changed file. Its key has the index of that fix, and of the fix after
    which the test passes.
    """

    fixes: tuple[int, ...]
    files: tuple[Mapping[str, bytes], ...]
    failures: tuple[str, ...]
    branch: str
    patch: str
    tests: Mapping[tuple[int, int], Mapping[str, bytes]] = field(default_factory=dict)


def proposals(
    artifact: Artifact,
    content: Content,
    per_fix: bool = False,
    branch: str | None = None,
    is_free: Callable[[str], bool] = lambda path: True,
    other_base: str = "",
) -> list[Proposal]:
    """Return one proposal with every fix, or with `per_fix` one for each fix that applies without the others.

    `other_base` is the base branch where it is not the default one: the names of the branches have it.

    Raises UserError if a fix does not apply to the files of `content`, or if the path of a test is taken.
    """
    groups = list(_groups(artifact, content)) if per_fix else [tuple(range(len(artifact.changes)))]
    if branch is not None and len(groups) > 1:
        raise UserError(f"--branch {branch}: {len(groups)} pull requests need separate branches; omit --branch")
    for path, _, _ in filter(None, artifact.tests):
        if not is_free(path):
            raise UserError(f"{path}: exists at commit {artifact.commit}; the test of the report would overwrite it")
    return [_proposal(artifact, fixes, content, branch, other_base) for fixes in groups if fixes]


def _groups(artifact: Artifact, content: Content) -> Iterator[tuple[int, ...]]:
    """Yield independent fixes; one that depends on an earlier one is grouped with all that change the same files."""
    groups: list[tuple[int, ...]] = []
    for index, change in enumerate(artifact.changes):
        try:
            list(_apply_fixes(artifact, (index,), content))
            groups.append((index,))
        except ValueError:
            near = [group for group in groups if any(change.keys() & artifact.changes[fix].keys() for fix in group)]
            groups = [group for group in groups if group not in near]
            groups.append(tuple(sorted({index, *(fix for group in near for fix in group)})))
    yield from sorted(groups)


def _proposal(
    artifact: Artifact, fixes: Sequence[int], content: Content, branch: str | None, other_base: str
) -> Proposal:
    data = artifact.data
    try:
        files = tuple(_apply_fixes(artifact, fixes, content))
    except ValueError as error:
        raise UserError(f"the patch does not apply to commit {artifact.commit}: {error}") from None
    fixed = [data.fixes[fix].failure for fix in fixes]
    failures = tuple(dict.fromkeys(failure_id(data.failures[index]) for index in fixed))
    diffs = [[edit.path, edit.diff] for fix in fixes for edit in data.fixes[fix].edits]
    tests = dict(_tests(artifact, fixes))
    diffs += [[path, text.hex()] for files in tests.values() for path, text in files.items()]
    patch = hashlib.sha256(_without_lines(json.dumps(diffs)).encode("ascii")).hexdigest()[:16]
    name = branch or _branch(data.fixes[fixes[0]], failures[0], other_base)
    return Proposal(tuple(fixes), files, failures, name, patch, tests)


def _tests(artifact: Artifact, fixes: Sequence[int]) -> Iterator[tuple[tuple[int, int], Mapping[str, bytes]]]:
    """Yield the tests that are included: those for which the fix and all fixes before it are part of the proposal."""
    for fix in fixes:
        test = artifact.tests[fix] if artifact.tests else None
        if test is not None and set(range(test[2] + 1)) <= set(fixes):
            yield (fix, test[2]), {test[0]: test[1]}


def _apply_fixes(artifact: Artifact, fixes: Sequence[int], content: Content) -> Iterator[Mapping[str, bytes]]:
    """Yield the files after each fix; raise ValueError if one does not apply."""
    now: dict[str, bytes] = {}
    for fix in fixes:
        changed: dict[str, bytes] = {}
        for name, hunks in artifact.changes[fix].items():
            path, cell = named_cell(name) or (name, 0)
            before = changed[path] if path in changed else now[path] if path in now else content(path)
            try:
                part = cell_source(before, cell) if cell else before
                after = apply(hunks, part)
                changed[path] = with_cell(before, cell, after) if cell else after
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            if why := objection(part, after):
                raise UserError(f"fix {fix + 1} is not published: {name}: {why}")
        now.update(changed)
        yield changed


def _branch(fix: FixRecord, failure: str, other_base: str) -> str:
    """Return a branch name with the rule and the failure; the same failure of the same base has the same name."""
    name = f"{PREFIX}{_slug(fix.rule.rpartition('/')[2]) or 'fix'}-{failure[:8]}"
    return f"{name}-on-{_slug(other_base)}" if other_base else name


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:50].strip("-")


def _without_lines(diffs: str) -> str:
    """Remove the line numbers from diffs: an edit far above a fix does not change the fix."""
    return re.sub(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", "@@", diffs)
