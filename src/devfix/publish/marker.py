"""The state of a pull request, as a record in an HTML comment of its body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from devfix.report.render.pull_request.markdown import GAP

_START, _END = "<!-- devfix:begin -->", "<!-- devfix:end -->"
_MARKER = re.compile(r"<!-- devfix:record (\{.{0,20000}?\}) -->")
_TOLERANCE = 600  # seconds between our clock and the forge's


@dataclass(frozen=True)
class Marker:
    """The record: what was run, which failures are fixed, what was pushed.

    `tip` is the commit that was pushed, `patch` a digest of the diffs, `complete` whether everything after the opening
    was done too, `gone` when devfix closed it since the failure was gone ("" when it did not), `source` what publishes
    (a workflow and its artifact, "" if unknown), `title` the title that devfix gave it, `retry` whether a person has
    asked for the branch to be built again.
    """

    program: str
    failures: tuple[str, ...]
    rules: tuple[str, ...] = ()
    commit: str = ""
    tip: str = ""
    patch: str = ""
    complete: bool = False
    gone: str = ""
    source: str = ""
    title: str = ""
    retry: bool = False

    def to_comment(self) -> str:
        """Return the comment, escaped so that no value can end it."""
        text = json.dumps({"schema": "devfix-pull-request/1", **asdict(self)})
        for character in "<>-&":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return f"<!-- devfix:record {text} -->"

    def at(self, moment: datetime) -> Marker:
        """Return the marker of a pull request that devfix closes at `moment` because its failure is fixed."""
        return replace(self, gone=moment.isoformat(timespec="seconds"))

    def closed_it(self, closed_at: str | None) -> bool:
        """Return whether devfix closed the pull request, given the time at which the forge says it was closed."""
        try:
            apart = datetime.fromisoformat(self.gone) - datetime.fromisoformat((closed_at or "").replace("Z", "+00:00"))
        except (ValueError, TypeError):
            return False
        return abs(apart.total_seconds()) <= _TOLERANCE


def find(body: str | None) -> Marker | None:
    """Return the marker in a body, None if it has no valid one."""
    found = _MARKER.findall(body or "")
    try:
        data = json.loads(found[-1]) if found else None
        return _check(data) if data else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _check(data: Mapping[str, Any]) -> Marker:
    names = ("program", "commit", "tip", "patch", "gone", "source", "title")
    texts: dict[str, str] = {name: data[name] for name in names}
    failures, rules = tuple(data["failures"]), tuple(data["rules"])
    if not all(isinstance(text, str) for text in (*texts.values(), *failures, *rules)):
        raise TypeError
    retry = data.get("retry") is True
    return Marker(failures=failures, rules=rules, complete=data["complete"] is True, retry=retry, **texts)


def frame_text(text: str, marker: Marker) -> str:
    """Return a new body: the text between delimiters, and the marker."""
    return f"{_START}\n{break_delimiters(text).strip()}\n\n{marker.to_comment()}\n{_END}\n"


def break_delimiters(text: str) -> str:
    """Return a text with delimiters of devfix broken up: in a block of code they are not escaped."""
    return text.replace("<!-- devfix:", f"<!{GAP}-- devfix:")


def replace_text(body: str, text: str | None, marker: Marker) -> str:
    """Return the body with a new text (None for the same) and marker; what people wrote around it is kept.

    Where they took the signs away, the words are theirs: the marker alone is renewed, if it is still there.
    """
    before, start, rest = body.replace("\r\n", "\n").partition(_START)
    _, end, after = rest.rpartition(_END)
    if start and end and text is not None:
        return f"{before}{frame_text(text, marker).rstrip()}{after}"
    return _MARKER.sub(lambda _: marker.to_comment(), body)
