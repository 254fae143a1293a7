"""The pages of installed rules."""

from __future__ import annotations

from devfix.errors import DevfixError


def page_of(rule: str) -> str:
    """Return the page of an installed rule, "" if there is none; the id comes from a report."""
    from devfix import registry

    try:
        return registry.collect().find(rule).page.read_text("utf-8")
    except (DevfixError, OSError, UnicodeDecodeError):
        return ""
