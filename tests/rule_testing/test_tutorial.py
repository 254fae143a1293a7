"""Every block of docs/tutorials/writing-rules.md is executed, in order, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

pytestmark = pytest.mark.slow

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "writing-rules.md"


def transcript(content: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that it must have."""
    pairs = []
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        pairs.append((command, output.strip("\n")))
    return pairs


def is_said(wanted: str, output: str) -> bool:
    """Whether the output is as the page shows it; `…` stands for anything."""
    parts = [re.escape(" ".join(part.split())) for part in wanted.split("…")]
    return re.fullmatch(".*".join(parts), " ".join(output.split()), re.DOTALL) is not None


def run(command: str, folder: Path, home: Path) -> str:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
    }
    environment.pop("XDG_CONFIG_HOME", None)  # the configuration is where it is by default, below the home
    shell = ["bash", "-c", command]
    done = subprocess.run(
        shell, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout


def test_every_block_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    counted = {"write": 0, "console": 0}
    for token in MarkdownIt("commonmark").parse(DOCUMENT.read_text("utf-8")):
        if token.type != "fence":
            assert token.type != "code_block", f"line {token.map}: a block that nothing executes"
            continue
        words = token.info.split()
        if len(words) == 3 and words[1] == "write":
            counted["write"] += 1
            (tmp_path / words[2]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / words[2]).write_text(token.content, encoding="utf-8")
            continue
        assert words == ["console"], f"a block that nothing executes: {token.info}"
        for command, wanted in transcript(token.content):
            counted["console"] += 1
            output = run(command, tmp_path, tmp_path / "home")
            assert is_said(wanted, output), f"$ {command}\n{output}\n--- the page says:\n{wanted}"
    assert counted["write"] >= 7 and counted["console"] >= 10
