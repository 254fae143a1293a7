"""The body of the dashboard: an entry with check boxes for each failure, and a record of what they are about."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from devfix.publish.publish_options import Choices
from devfix.report.render.pull_request.markdown import prose


class EntryState(str, Enum):
    """The state of the fix of a failure."""

    open = "open"
    left = "left"
    ignored = "ignored"


@dataclass(frozen=True)
class Entry:
    """The fix of a failure: `key` identifies the failure, `program` what was run and `source` what publishes it.

    `number` is its pull request, 0 if it has none; `reason` says why nothing was done, if so.
    """

    key: str
    title: str
    program: str
    source: str = ""
    number: int = 0
    state: EntryState = EntryState.open
    reason: str = ""


TITLE = "devfix dashboard"
MARK = "<!-- devfix:dashboard -->"
ENTRIES = 100  # at most; the last ones that are not ignored are left out
_LIMIT = 60_000  # characters that are read, and written
_BOX = re.compile(r"^ *[-*] \[([ xX])\] <!-- devfix:(retry|ignore) ([0-9a-f]{12}) -->", re.MULTILINE)
_RECORD = re.compile(r"<!-- devfix:entries (\[.{0,60000}?\]) -->\s*\Z", re.DOTALL)
_HEAD = """This issue lists the device failures that devfix has a fix for. It is rewritten by each run, so that only the
check boxes are read from it: a ticked **retry** makes the next run build the branch again, or open a pull request that
somebody closed; a ticked **ignore** closes the pull request and keeps it closed until the box is cleared."""
_SECTIONS = {
    EntryState.open: "Pull requests",
    EntryState.left: "Without an open pull request",
    EntryState.ignored: "Ignored",
}


def write(entries: Sequence[Entry], retry: Collection[str] = ()) -> str:
    """Return the body that shows the entries, with the boxes of ignored ones ticked, and of those yet to `retry`."""
    entries = _first(entries, ENTRIES)
    while len(text := _body(entries, retry)) > _LIMIT and entries:
        entries = _first(entries, len(entries) - 1)
    return text


def _body(entries: Sequence[Entry], retry: Collection[str]) -> str:
    parts = [MARK, _HEAD]
    for state, heading in _SECTIONS.items():
        rows = [_row(entry, entry.key in retry) for entry in entries if entry.state is state]
        if rows:
            parts += [f"### {heading}", "\n".join(rows)]
    if not entries:
        parts.append("There is nothing to fix.")
    return "\n\n".join([*parts, _record(entries)]) + "\n"


def choices(body: str) -> Choices:
    """Return what is ticked in a body. Somebody may have edited it: any text may stand around the boxes."""
    ticked: dict[str, set[str]] = {"retry": set(), "ignore": set()}
    for found in _BOX.finditer(body[:_LIMIT].replace("\r\n", "\n")):
        if found[1] != " ":
            ticked[found[2]].add(found[3])
    return Choices(frozenset(ticked["retry"] - ticked["ignore"]), frozenset(ticked["ignore"]))


def entries(body: str) -> list[Entry]:
    """Return the entries that a body records; none if its record was changed so that it cannot be read."""
    found = _RECORD.search(body[:_LIMIT])
    try:
        data = json.loads(found[1]) if found else []
        return [_entry(each) for each in data[:ENTRIES]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _first(entries: Sequence[Entry], count: int) -> list[Entry]:
    """Return so many entries: the ignored ones before others, since a person has chosen them."""
    kept = sorted(entries, key=lambda entry: entry.state is not EntryState.ignored)[:count]
    return [entry for entry in entries if entry in kept]


def _row(entry: Entry, retry: bool) -> str:
    where = f" (#{entry.number})" if entry.number else ""
    reason = f": {prose(entry.reason, 200)}" if entry.reason else ""
    rows = [f"- {prose(entry.title, 100)}{where}{reason}"]
    if entry.state is not EntryState.ignored:
        rows.append(_box("x" if retry else " ", "retry", entry.key))
    rows.append(_box("x" if entry.state is EntryState.ignored else " ", "ignore", entry.key))
    return "\n".join(rows)


def _box(tick: str, what: str, key: str) -> str:
    return f"  - [{tick}] <!-- devfix:{what} {key} -->{what}"


def _record(entries: Sequence[Entry]) -> str:
    """Return the record as a comment, escaped so that no value can end it."""
    text = json.dumps([_shorten(entry) for entry in entries])
    for character in "<>-&@#":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"<!-- devfix:entries {text} -->"


def _shorten(entry: Entry) -> Mapping[str, Any]:
    return {**asdict(entry), "title": entry.title[:100], "reason": entry.reason[:100], "source": entry.source[:200]}


def _entry(data: Mapping[str, Any]) -> Entry:
    texts: Iterator[str] = (data[name] for name in ("key", "title", "program", "source", "reason"))
    key, title, program, source, reason = texts
    number = data["number"]
    if not all(isinstance(text, str) for text in (key, title, program, source, reason)) or type(number) is not int:
        raise TypeError
    if not re.fullmatch("[0-9a-f]{12}", key) or number < 0:
        raise ValueError
    return Entry(key, title[:200], program, source, number, EntryState(data["state"]), reason[:200])
