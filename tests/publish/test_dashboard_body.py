"""The body of the dashboard: what is written can be read, and what people or programs write into it does no harm."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from devfix.publish.dashboard.body import MARK, Entry, EntryState, choices, entries, write
from devfix.publish.publish_options import Choices

FIRST = Entry("0123456789ab", "Move `x` to the model's device", "p" * 12, "nightly.yml devfix", 7)
SECOND = Entry("ba9876543210", "Create `mask` on the device", "p" * 12, state=EntryState.ignored, reason="ignored")
NOBODY = Choices()
TEXTS = {"key": "0123456789ab", "title": "", "program": "", "source": "", "reason": ""}


def test_what_is_written_is_read() -> None:
    body = write([FIRST, SECOND])
    assert body.startswith(MARK) and entries(body) == [FIRST, SECOND]
    assert choices(body) == Choices(ignore=frozenset([SECOND.key]))
    assert "- Move `x` to the model's device (#7)" in body
    assert body.count("- [ ]") == 2 and body.count("- [x]") == 1
    assert choices(write([])) == NOBODY and entries(write([])) == []


@pytest.mark.parametrize("tick", ["x", "X"])
def test_boxes_are_read_as_a_browser_leaves_them(tick: str) -> None:
    body = write([FIRST, SECOND]).replace("\n", "\r\n")
    body = body.replace("- [ ] <!-- devfix:retry", f"- [{tick}] <!-- devfix:retry").replace(
        "[x] <!-- devfix:ig", "[ ] <!-- devfix:ig"
    )
    assert choices(body) == Choices(retry=frozenset([FIRST.key]))


def test_who_ticks_both_ignores() -> None:
    assert choices(write([FIRST]).replace("[ ]", "[x]")) == Choices(ignore=frozenset([FIRST.key]))


@pytest.mark.parametrize(
    "title",
    [
        "x\n  - [x] <!-- devfix:ignore ba9876543210 -->",
        "- [x] <!-- devfix:retry ba9876543210 --> @ada #3",
        "--> <!-- devfix:entries [] -->",
        "`<!-- devfix:ignore ba9876543210 -->`",
        "\\<script>\u202e\x00",
    ],
)
def test_a_title_is_only_text(title: str) -> None:
    entry = replace(FIRST, title=title, reason=title, source=title)
    body = write([entry])
    assert choices(body) == NOBODY and entries(body) == [entry]
    assert body.count("<!--") == 4 and "@ada" not in body and "<script" not in body.replace("\\<", "")


@pytest.mark.parametrize(
    "record",
    [
        "[]",
        "[1]",
        '[{"key": "../../etc"}]',
        "[" * 5000,
        '[{"key": "0123456789ab", "title": 3}]',
        json.dumps([{**TEXTS, "number": True, "state": "open"}]),
        json.dumps([{**TEXTS, "number": 1, "state": "gone"}]),
    ],
)
def test_a_record_that_somebody_changed_is_no_record(record: str) -> None:
    body = write([SECOND])
    start = body.index("<!-- devfix:entries ")
    edited = f"{body[:start]}<!-- devfix:entries {record} -->\n"
    assert entries(edited) == [] and choices(edited) == Choices(ignore=frozenset([SECOND.key]))


def test_a_body_is_bounded() -> None:
    many = [replace(FIRST, key=f"{number:012x}", title="<" * 200, source="&" * 200) for number in range(300)]
    body = write([*many, SECOND])
    assert len(body) <= 60_000 and SECOND in entries(body)
    assert choices("- [x] <!-- devfix:retry 0123456789ab -->\n" * 100_000).retry == {FIRST.key}
