"""Format a title in the style of the repository's commit subjects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from devfix.report.plain import one_line
from devfix.report.render.pull_request.markdown import remove_links

LENGTH = 72
_MERGE = re.compile(r"Merge |Revert |Bump |\[pre-commit")
_CONVENTIONAL = re.compile(r"(feat|fix|chore|docs|refactor|test|tests|ci|build|perf|style|revert)(\([^)]*\))?!?: (.+)")
_BRACKET = re.compile(r"(\[[^\]]{1,20}\]:?) (.+)")
_SHORTCODE = re.compile(r"(:\w+:) ?(.+)")
_SIGN = re.compile("([\u2190-\u2bff\U0001f300-\U0001faff]\ufe0f?) ?(.+)")


def title(subject: str, recent: Sequence[str]) -> str:
    """Return the subject in the style of most `recent` ones: with "fix: ", "[fix]" or an emoji, upper or lower case.

    Of recent subjects only their form is used, never their words, but for the bracket that the repository gives fixes.
    """
    own = [line for line in recent if not _MERGE.match(line)]
    prefix, rests = _prefix(own)
    words = one_line(subject, 300).rstrip(".")
    small = sum(rest[:1].islower() for rest in rests) * 2 > len(rests)
    first = words[:1].lower() if small and not words[1:2].isupper() else words[:1].upper()
    return prefix + remove_links(one_line(first + words[1:], LENGTH - len(prefix)))


def _prefix(recent: Sequence[str]) -> tuple[str, list[str]]:
    """Return the most common prefix for a fix, and the rest of each subject that has such a prefix."""
    for pattern, prefix in _FORMS:
        found = [match for line in recent if (match := pattern.match(line))]
        if len(recent) >= 3 and len(found) * 2 > len(recent):
            return prefix(found), [match[match.lastindex or 0] for match in found]
    return "", list(recent)


def _bracket(found: Sequence[re.Match[str]]) -> str:
    used = Counter(match[1] for match in found if re.search("fix|bug", match[1], re.IGNORECASE))
    return f"{remove_links(one_line(used.most_common(1)[0][0], 22))} " if used else ""


_FORMS: tuple[tuple[re.Pattern[str], Callable[[Sequence[re.Match[str]]], str]], ...] = (
    (_CONVENTIONAL, lambda found: "fix: "),
    (_BRACKET, _bracket),
    (_SHORTCODE, lambda found: ":bug: "),
    (_SIGN, lambda found: "\U0001f41b "),
)
