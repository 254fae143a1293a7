"""The texts of a review with suggestions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from devfix.publish.forges.capabilities import Suggestion
from devfix.publish.suggestions.placing import Change
from devfix.report.render.pull_request.markdown import code, fence, prose, remove_links
from devfix.report.types import FixRecord

_SUGGESTION = re.compile(r"<!-- devfix:suggestion ([0-9a-f]{12}-[0-9a-f]{16}) -->\s*\Z")
_SUPERSEDED = "A newer review has the suggestions of devfix"
_OUTDATED = "This suggestion is outdated: devfix does not find it necessary any more, or suggests something else."
_SHOWN = 20  # changes outside of the diff that a review shows


def marks(suggestions: Iterable[Suggestion], program: str) -> dict[str, Suggestion]:
    """Return suggestions by marks that stay the same wherever in the file their lines are."""
    found: dict[str, Suggestion] = {}
    for each in suggestions:
        same = 0
        while (mark := _mark(each, program, same)) in found:
            same += 1
        found[mark] = each
    return found


def _mark(suggestion: Suggestion, program: str, same: int) -> str:
    parts = "\0".join((suggestion.path, suggestion.old, suggestion.text, str(same)))
    return f"{program}-{hashlib.sha256(parts.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def comment_text(suggestion: Suggestion, fixes: Sequence[FixRecord], mark: str) -> str:
    """Return the comment on the lines of a suggestion: why, the block that replaces them, and its mark."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", suggestion.text)), default=0))
    reasons = [f"**{prose(fix.title)}**: {prose(fix.reason)}" for fix in fixes]
    block = f"{ticks}suggestion\n{suggestion.text}{ticks}"
    return "\n\n".join([*reasons, block, f"<!-- devfix:suggestion {mark} -->"])


def mark_of(text: str) -> str:
    """Return the mark at the end of a comment, "" if it is not the comment of a suggestion."""
    found = _SUGGESTION.search(text.replace("\r\n", "\n"))
    return found[1] if found else ""


def outdated_text(mark: str) -> str:
    """Return the text that replaces a suggestion which must not be applied any more."""
    return f"{_OUTDATED}\n\n<!-- devfix:suggestion {mark} -->"


def is_outdated(text: str) -> bool:
    """Return whether the comment has that text already."""
    return text.startswith(_OUTDATED)


def superseded_text(url: str, program: str) -> str:
    """Return the body that replaces that of a review when there is a newer one."""
    return f"{_SUPERSEDED}: {remove_links(url) if not url.startswith('https://') else url}\n\n{review_mark(program)}"


def is_superseded(text: str) -> bool:
    """Return whether the review has that body already."""
    return text.startswith(_SUPERSEDED)


def nothing_text(commit: str, program: str) -> str:
    """Return the body of a review when there is nothing to suggest any more."""
    return f"**devfix** found no device failures at {code(commit[:12])}.\n\n{review_mark(program)}"


def review_mark(program: str) -> str:
    """Return the mark at the end of a review of a program."""
    return f"<!-- devfix:review {program} -->"


def review_text(commit: str, suggested: int, outside: Sequence[Change], tests: int, program: str) -> str:
    """Return the body of a review: how many suggestions there are, and the changes that are outside of the diff."""
    lines = [
        f"**devfix** verified a repair of the device failures at {code(commit[:12])}: "
        f"{suggested} suggestion{'' if suggested == 1 else 's'} on lines of this pull request."
    ]
    if suggested > 1:
        lines.append("Apply all of them: the repair was verified as a whole.")
    if outside:
        lines.append("These changes belong to it too. They are not on lines that the pull request changes:")
        lines += [f"{code(f'{change.path}:{change.first}')}\n\n{_diff(change)}" for change in outside[:_SHOWN]]
    if len(outside) > _SHOWN:
        lines.append(f"{len(outside) - _SHOWN} more changes are in the report.")
    if tests:
        lines.append("The report has a regression test too, as a new file, which a suggestion cannot add.")
    return "\n\n".join([*lines, review_mark(program)])


def _diff(change: Change) -> str:
    rows = [("-", line) for line in change.old] + [("+", line) for line in change.new]
    text = "".join(f"{mark}{line.decode('utf-8', 'replace').rstrip()}\n" for mark, line in rows)
    return str(fence(text, "diff", 2000))
