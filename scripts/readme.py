"""Fill the marked blocks of README.md from what devfix really prints; with `--check`, say what has drifted."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from devfix.cli import app

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
_BLOCK = "(<!-- begin {name}: [^\n]*-->\n).*?(<!-- end {name} -->)"


def demo() -> str:
    """Repair a copy of corpus/hello on a simulated GPU and return what is printed, with the command."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "hello"
        shutil.copytree(ROOT / "corpus" / "hello", copy, ignore=shutil.ignore_patterns("__pycache__", "case.toml"))
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "hello"]):
            identity = ["-c", "user.name=devfix", "-c", "user.email=devfix@localhost"]
            subprocess.run(["git", *identity, *command], cwd=copy, check=True)
        shown = _devfix("repair", ".", "--world", "simulated", cwd=copy)
        return f"```text\n$ devfix repair . --world simulated\n{shown.rstrip()}\n```"


def options(name: str) -> str:
    """Return a table of what a command takes, from its declarations: help is laid out anew by each typer."""
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    rows = [(_spelled(parameter), getattr(parameter, "help", None) or "") for parameter in command.params]
    return "\n".join(["| option | meaning |", "|---|---|", *(f"| `{option}` | {help} |" for option, help in rows)])


def _spelled(parameter: Any) -> str:
    name = parameter.opts[-1] if parameter.opts[-1].startswith("--") else ""
    metavar = "" if getattr(parameter, "is_flag", False) else parameter.metavar or ""
    return " ".join(part for part in (name, metavar) if part).replace("|", "\\|")


def filled(text: str, blocks: dict[str, str]) -> str:
    """Return the text of a README with each block's contents replaced."""
    for name, content in blocks.items():
        fenced = f"\n{content.rstrip()}\n\n"
        text, count = re.subn(
            _BLOCK.format(name=name), lambda found, new=fenced: found[1] + new + found[2], text, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"README.md must have one block {name!r}, not {count}")
    return text


def drift(blocks: dict[str, str]) -> str:
    """Return how README.md differs from what these blocks should hold, as a diff."""
    now = README.read_text("utf-8")
    lines = difflib.unified_diff(
        now.splitlines(True), filled(now, blocks).splitlines(True), "README.md as it is", "README.md as it should be"
    )
    return "".join(lines)


def _devfix(*arguments: str, cwd: Path) -> str:
    # Help is as wide as the terminal, and a terminal may ask for colours: a README is neither.
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "devfix", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> None:
    """Write the blocks, or check them."""
    blocks = {"repair": options("repair"), "run": options("run"), "demo": demo()}
    if sys.argv[1:] == ["--check"]:
        different = drift(blocks)
        sys.stdout.write(different)
        sys.exit(f"README.md has drifted; mend it: python {Path(__file__).name}" if different else 0)
    README.write_text(filled(README.read_text("utf-8"), blocks), "utf-8")


if __name__ == "__main__":
    main()
