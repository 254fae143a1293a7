"""The README, the tutorial and the reference of the command line show what devfix prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import readme  # noqa: E402

UPDATE = "run: python scripts/readme.py"


@pytest.mark.parametrize("command", readme.COMMANDS)
def test_the_options_are_those_of_the_command_line(command: str) -> None:
    assert readme.drift(readme.COMMAND_LINE, {command: readme.options(command)}) == "", UPDATE


def test_every_command_is_described() -> None:
    assert set(readme.COMMANDS) == set(readme.commands())


@pytest.mark.exhaustive
def test_the_runs_that_are_shown_are_what_the_demo_prints() -> None:
    assert readme.drift(readme.TUTORIAL, {"demo": readme.demo()}) == "", UPDATE
    assert readme.drift(readme.README, {"demo": readme.excerpt()}) == "", UPDATE


def test_the_readme_shows_an_excerpt_of_the_tutorial() -> None:
    shown, whole = (
        page.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
        for page in (readme.README, readme.TUTORIAL)
    )
    lines = [line for line in shown.splitlines() if line.strip(" …")]
    assert 15 <= len(lines) <= 25
    assert set(lines) <= set(whole.splitlines())


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|    )make ([a-z-]+)", readme.README.read_text("utf-8"))) <= targets


def test_a_block_that_is_missing_is_told() -> None:
    with pytest.raises(SystemExit, match="one block 'demo', not 0"):
        readme.filled("# nothing here\n", {"demo": "x"})
