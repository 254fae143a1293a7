"""Escape text that comes from a program for the Markdown of forges: no mention, link, HTML or markup takes effect."""

from __future__ import annotations

import re

from markupsafe import Markup

from devfix.report.plain import one_line, plain

GAP = "\u200b"  # zero-width space: breaks up what GitHub links after Markdown is rendered, where `\` has no effect
_ACTIVE = re.compile(r"[\\`*_{}\[\]<>()#+!|~&^]")
_LINE_START = re.compile(r"^(?:[-+=:]|\d+(?=[.)]))")
# What forges link in rendered text: people, issues, requests (`!1`), commits, addresses, advisories; names of emoji.
_LINKED = re.compile(
    r"@|[#!](?=\d)|\b(?:GH|gh)(?=-\d)|:(?=//)|\b(?:www|WWW)(?=\.)|\b(?:mailto|xmpp)(?=:)|\b(?:CVE|GHSA)(?=-)|"
    r"[0-9a-f]{6}(?=[0-9a-f])|:(?=[\d+-]*[a-z_][\w+-]*:)",
    re.IGNORECASE,
)
# What services read in the raw text of messages and descriptions, also in code: commands at the start of a line, bots
# that are called, and words with which no checks are run.
_COMMANDS = re.compile(
    r"^[ \t>]*/(?=[a-z][\w-]*(?:[ \t]|$))|\bbors(?= +\w)|"
    r"\[(?=(?:skip[ -]\w+|\w+[ -]skip|no[ -]ci)\])|\bskip-checks(?=:)|\*\*\*(?=NO_CI)|"
    r"@(?=(?:claude|codex|copilot|dependabot|mergify|renovate|coderabbit|gemini|bors|github)\w*)",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"`([^`]+)`")


def prose(text: str, limit: int = 1000) -> Markup:
    """Return a text as one line of a paragraph, heading or table cell; text between backticks becomes code."""
    pieces = _CODE.split(one_line(text, limit))
    return Markup("".join(str(code(piece)) if index % 2 else _words(piece) for index, piece in enumerate(pieces)))


def code(text: str, limit: int = 300) -> Markup:
    """Return a text as code within a line; nothing in it is linked or interpreted."""
    shown = without_commands(one_line(text, limit))
    if not shown:
        return Markup("")
    if re.search(r"[|`\\<>&]", shown):  # `|` ends a table cell and a backtick ends code; entities do not
        return Markup("<code>" + re.sub(r"[^\w .,/=-]", lambda found: f"&#{ord(found[0])};", shown) + "</code>")
    return Markup(f"`{shown}`")


def fence(text: str, language: str = "", limit: int = 6000) -> Markup:
    """Return a text as a fenced block of code; of a text longer than `limit`, the head and the tail."""
    shown = without_commands(plain(text).strip("\n"))
    if len(shown) > limit:
        shown = f"{shown[: limit // 2]}\n… {len(shown) - limit} characters left out …\n{shown[-limit // 2 :]}"
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return Markup(f"{marks}{language}\n{shown}\n{marks}")


def remove_links(text: str) -> str:
    """Return a text without anything that GitHub links or closes, for titles and commit messages."""
    return _LINKED.sub(lambda found: found[0] + GAP, without_commands(text))


def without_commands(text: str) -> str:
    """Return a text without commands to services: `[skip ci]`, `/approve`, `bors r+`."""
    return _COMMANDS.sub(lambda found: found[0] + GAP, text)


def _words(text: str) -> str:
    escaped = _ACTIVE.sub(lambda found: "\\" + found[0], text.replace("$", "\0"))
    escaped = _LINE_START.sub(lambda found: "\\" + found[0] if not found[0][0].isdigit() else found[0] + GAP, escaped)
    # An entity and not a backslash: `\$` still opens mathematics on GitHub.
    return remove_links(escaped.replace("\\#", "#")).replace("#", "\\#").replace(GAP, "&#8203;").replace("\0", "&#36;")
