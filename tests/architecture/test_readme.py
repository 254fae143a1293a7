"""The README shows what devfix really prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import readme  # noqa: E402


@pytest.mark.parametrize("command", ["repair", "run"])
def test_the_options_are_those_of_the_command_line(command: str) -> None:
    assert readme.drift({command: readme.options(command)}) == "", "run: python scripts/readme.py"


@pytest.mark.exhaustive
def test_the_run_that_is_shown_is_what_the_demo_prints() -> None:
    assert readme.drift({"demo": readme.demo()}) == "", "run: python scripts/readme.py"


def test_every_file_that_is_linked_is_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", readme.README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|    )make ([a-z-]+)", readme.README.read_text("utf-8"))) <= targets


def test_a_block_that_is_missing_is_told() -> None:
    with pytest.raises(SystemExit, match="one block 'demo', not 0"):
        readme.filled("# nothing here\n", {"demo": "x"})
