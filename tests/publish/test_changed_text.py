"""A reader of a pull request sees what the interpreter sees: what a change may add to a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from calling import Publish
from git_repositories import git
from github_server import GitHub
from programs import FIRST, History

from devfix.publish.proposals.changed_text import objection

BEFORE = b"import torch\nx = torch.ones(2)\n"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (BEFORE, BEFORE + "y = x  # \u202e admin\n".encode(), "U+202E"),
        (BEFORE, BEFORE + "y = x  # a\u200bb\n".encode(), "U+200B"),
        (BEFORE, BEFORE + b"y = x  # seen\rimport os\n", "U+000D"),
        (BEFORE, BEFORE + b"y = x  # \x00\n", "U+0000"),
        (BEFORE, BEFORE + b"y = x  # \x1b[2K\n", "U+001B"),
        (BEFORE, b"# coding: utf-7\n" + BEFORE, "encoding"),
        (BEFORE, BEFORE + b"y = (x\n", "not valid Python"),
        (BEFORE, BEFORE + b"y = x.to(x.device)\n", ""),
        (BEFORE.replace(b"\n", b"\r\n"), BEFORE.replace(b"\n", b"\r\n") + b"y = x\r\n", ""),
        (b"print 'old'\n", b"print 'old', 2\n", ""),
        ("z = '\u202e'\n".encode(), "z = '\u202e'  # kept\n".encode(), ""),
        (
            "# coding: latin-1\nz = '\u00e4'\n".encode("latin-1"),
            "# coding: latin-1\nz = '\u00e4', 1\n".encode("latin-1"),
            "",
        ),
    ],
)
def test_what_speaks_against_a_change(before: bytes, after: bytes, words: str) -> None:
    why = objection(before, after)
    assert words in why and bool(words) == bool(why)


def test_a_fix_that_adds_hidden_characters_is_not_published(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    hidden = (*FIRST[:4], b"net(x)", "net(x.to('cuda'))  # \u2066 if admin \u2069".encode())
    said = publish.refused(history.artifact(tmp_path / "1.json", hidden))
    assert "fix 1 is not published: train.py: it adds characters that are not shown (U+2066, U+2069)" in said
    assert set(hub.branches()) == {"main"} and hub.writes() == []


COMMANDS = ("[skip ci]", "[ci skip]", "[no ci]", "***NO_CI***", "skip-checks: true", "bors r+", "@claude do it")


@pytest.mark.slow
def test_commands_to_services_have_no_effect(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    words = " ".join(COMMANDS)
    data = history.data(FIRST)
    data["fixes"][0]["title"] = f"Move `x` {words}"
    data["fixes"][0]["reason"] = f"{words}\n/approve\n/lgtm"
    data["failures"][0]["message"] = f"{words}\n/approve\n  /hold cancel"
    report = tmp_path / "report.json"
    report.write_text(json.dumps(data))
    (step,) = publish(report)
    message = git(hub.bare, "log", "-1", "--format=%B", step["branch"])
    for text in (message, hub.pulls[0]["title"], hub.pulls[0]["body"]):
        assert not [each for each in COMMANDS if each in text], text
        assert not re.search(r"(?m)^\s*/[a-z]", text), text
