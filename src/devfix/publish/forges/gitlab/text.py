"""Texts for GitLab, which executes some lines of descriptions and comments."""

from __future__ import annotations

import re

from devfix.report.render.pull_request.markdown import GAP

# GitLab's quick actions: a line of a description or a comment that begins with `/approve`, `/merge`, `/label` and the
# like is a command of whoever sent it. GitLab removes carriage returns before it looks.
_QUICK_ACTION = re.compile(r"^([ \t\r>]*)/(?=\r*[A-Za-z][\w\r-]*(?:[ \t]|$))", re.MULTILINE)
# What GitLab links in a title beyond what GitHub links: requests, snippets, epics, milestones, labels.
_REFERENCE = re.compile(r"[!$&%~](?=[\w\"])")


def without_quick_actions(text: str) -> str:
    """Return a text in which no line is a quick action."""
    return _QUICK_ACTION.sub(lambda found: f"{found[1]}/{GAP}", text)


def without_references(title: str) -> str:
    """Return a title in which GitLab links nothing."""
    return _REFERENCE.sub(lambda found: found[0] + GAP, title)
