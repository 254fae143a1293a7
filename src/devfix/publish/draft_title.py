"""Titles of drafts on forges where a prefix of the title makes a draft."""

from __future__ import annotations

import re


class DraftTitles:
    """Takes the prefix off titles that are read, and puts the same one before titles that are written."""

    def __init__(self, prefix: str, pattern: str) -> None:
        """Put `prefix` before the titles of new drafts; `pattern` matches each prefix that the forge knows."""
        self._new, self._pattern = prefix, re.compile(pattern, re.IGNORECASE)
        self._prefixes: dict[int, str] = {}

    def read(self, number: int, title: str) -> str:
        """Return the title without the prefix of a draft."""
        found = self._pattern.match(title)
        self._prefixes[number] = found[0] if found else ""
        return title[found.end() :] if found else title

    def write(self, number: int, title: str) -> str:
        """Return the title with the prefix that it had when it was read."""
        return self._prefixes.get(number, "") + title

    def new(self, title: str, draft: bool) -> str:
        """Return the title of a new pull request."""
        return self._new + title if draft else title
