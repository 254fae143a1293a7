"""What the fuzzer begins with: traces of real runs, messages and settings of the tests, installed sources."""

from __future__ import annotations

import ast
import json
import re
import site
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACES, SOURCES = 40, 300  # a few of each kind are enough for a beginning
LARGEST = 4096  # bytes of a source: what libFuzzer takes of one input


def traces() -> Iterator[bytes]:
    """Yield what the probe writes of programs on rules' pages, as if they had run in /tree."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from probe_programs import PYTHON, run_program

    from devfix.execution.prefork import PreforkServer
    from devfix.process import child_environment
    from devfix.rule_testing.pages.page import read_page

    pages = [read_page(path) for path in sorted((ROOT / "rules").glob("*/*.md"))]
    programs = [
        case.before["main.py"].decode() for page in pages for case in page.cases[:1] if "main.py" in case.before
    ]
    warm = PreforkServer(PYTHON, child_environment())
    try:
        for program in programs[:TRACES]:
            with tempfile.TemporaryDirectory() as name:
                ran = run_program(Path(name), program, warm=warm)
                for trace in ran.traces:
                    yield json.dumps(trace).replace(str(ran.folder), "/tree").replace("program.py", "main.py").encode()
    finally:
        warm.close()


def messages() -> Iterator[bytes]:
    """Yield every text in the test of the messages' kinds."""
    yield from _texts("trace/test_kinds.py")


def settings() -> Iterator[bytes]:
    """Yield every example of TOML in the documents, the repository's own, and what the test of settings writes."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in re.findall(r"```toml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            yield block.encode()
    yield (ROOT / "pyproject.toml").read_bytes()
    yield from (text for text in _texts("cli/test_config.py") if b"=" in text)


def _texts(test: str) -> Iterator[bytes]:
    for node in ast.walk(ast.parse((ROOT / "tests" / test).read_bytes())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.encode()


def sources() -> Iterator[bytes]:
    """Yield small Python files of the installed packages, spread evenly over all of them."""
    every = sorted(path for folder in site.getsitepackages() for path in Path(folder).rglob("*.py"))
    small = [path for path in every if 0 < path.stat().st_size <= LARGEST]
    yield from (path.read_bytes() for path in small[:: max(1, len(small) // SOURCES)])


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "trace": traces,
    "message": messages,
    "config": settings,
    "source": sources,
}
