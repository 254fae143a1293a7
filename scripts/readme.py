"""Fill the marked blocks of README.md and two pages of docs/ from what devfix prints; `--check` shows the drift."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from devfix.cli import app

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorials" / "first-repair.md"
COMMAND_LINE = ROOT / "docs" / "reference" / "command-line.md"
COMMANDS = (
    *("repair", "env", "undo", "run", "find", "show", "publish", "respond"),
    *("rules", "explain", "new-rule", "lint-rules", "test", "trace", "playground"),
    *("fleet run", "fleet status", "fleet report", "fleet publish"),
)
_BLOCK = "(<!-- begin {name}: [^\n]*-->\n).*?(<!-- end {name} -->)"
_DEMO = "$ devfix repair . --world simulated"


@cache
def report() -> str:
    """Repair a copy of corpus/hello on a simulated GPU and return what is printed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "hello"
        shutil.copytree(ROOT / "corpus" / "hello", copy, ignore=shutil.ignore_patterns("__pycache__", "case.toml"))
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "hello"]):
            identity = ["-c", "user.name=devfix", "-c", "user.email=devfix@localhost"]
            subprocess.run(["git", *identity, *command], cwd=copy, check=True)
        return _devfix("repair", ".", "--world", "simulated", cwd=copy).rstrip()


def demo() -> str:
    """Return the block of the tutorial: the whole report."""
    return f"```text\n{_DEMO}\n{report()}\n```"


def excerpt() -> str:
    """Return the block of the README: the headline, the first failure without context lines, and the branch."""
    return f"```text\n{_DEMO}\n" + "\n".join(_excerpt(report())) + "\n```"


def _excerpt(text: str) -> Iterator[str]:
    """Yield the headline, what failed and the history of its operands, the changed lines, and the branch."""
    headline, *_ = text.split("\n\n")
    first = text[text.index("\nFailure 1 ") + 1 : text.index("\nFailure 2 ")].strip("\n").split("\n\n")
    yield from (headline.splitlines()[0], "…", *first[0].splitlines(), *first[1].splitlines())
    changed = (line for line in "\n".join(first[3:]).splitlines() if re.match(r"  [-+](?![-+])", line))
    yield from (first[2].splitlines()[0], *changed, first[-1], "…")
    yield re.findall(r"^Created branch .*", text, re.MULTILINE)[0]


def commands() -> dict[str, Any]:
    """Return the commands by name, those of a group with its name before theirs."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {f"{name} {each}": inner[each] for each in inner} if inner else {name: command}
    return found


def options(name: str) -> str:
    """Return a table of the arguments and options of a command, from its declarations."""
    command = commands()[name]
    rows = [(_spelled(parameter), getattr(parameter, "help", None) or "") for parameter in command.params]
    return "\n".join(["| option | meaning |", "|---|---|", *(f"| `{option}` | {help} |" for option, help in rows)])


def _spelled(parameter: Any) -> str:
    name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else ""
    metavar = "" if getattr(parameter, "is_flag", False) else parameter.metavar or ""
    return " ".join(part for part in (name, metavar) if part).replace("|", "\\|")


def filled(text: str, blocks: dict[str, str]) -> str:
    """Return the text of a page with each block's contents replaced."""
    for name, content in blocks.items():
        fenced = f"\n{content.rstrip()}\n\n"
        text, count = re.subn(
            _BLOCK.format(name=name), lambda found, new=fenced: found[1] + new + found[2], text, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"the page must have one block {name!r}, not {count}")
    return text


def drift(page: Path, blocks: dict[str, str]) -> str:
    """Return how a page differs from what its blocks should hold, as a diff."""
    now = page.read_text("utf-8")
    old, new = f"{page.name} as it is", f"{page.name} as it should be"
    return "".join(difflib.unified_diff(now.splitlines(True), filled(now, blocks).splitlines(True), old, new))


def _devfix(*arguments: str, cwd: Path) -> str:
    # The width and the colours of the report must not depend on the terminal.
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "devfix", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> None:
    """Write the blocks, or check them."""
    pages = {
        README: {"demo": excerpt()},
        TUTORIAL: {"demo": demo()},
        COMMAND_LINE: {name: options(name) for name in COMMANDS},
    }
    if sys.argv[1:] == ["--check"]:
        different = "".join(drift(page, blocks) for page, blocks in pages.items())
        sys.stdout.write(different)
        sys.exit(f"pages have drifted; to update them: python scripts/{Path(__file__).name}" if different else 0)
    for page, blocks in pages.items():
        page.write_text(filled(page.read_text("utf-8"), blocks), "utf-8")


if __name__ == "__main__":
    main()
