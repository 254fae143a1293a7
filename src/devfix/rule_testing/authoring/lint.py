"""Check the modules of rules without running them: imports and calls that a rule must not make, and where they lie."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from devfix.errors import RuleError, UserError
from devfix.registry.files import orphans, rule_files, too_deep
from devfix.registry.loading import rule_at
from devfix.rule_testing.checking.page_check import page_problems
from devfix.rule_testing.pages.page import PageError, read_page

# What a rule may not import, and why: it only looks at a failure and at sources, in devfix's own process.
FORBIDDEN = {
    "torch": "imports torch, which devfix may not have and which slows every command",
    **dict.fromkeys(("subprocess", "multiprocessing", "pty"), "starts processes"),
    **dict.fromkeys(
        ("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "requests", "httpx", "aiohttp"), "uses the network"
    ),
    **dict.fromkeys(("shutil", "tempfile", "glob", "fileinput"), "uses files"),
}
CALLS = {
    "open": "opens a file",
    "os.system": "starts processes",
    "os.popen": "starts processes",
    "exec": "runs code that is not in its module",
    "eval": "runs code that is not in its module",
}
METHODS = ("read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "rmdir", "iterdir", "rglob")


@dataclass(frozen=True)
class LintFinding:
    """A fault of a rule's module or page; `line` is 0 if it concerns the whole file."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        """Return the fault in one line, with its place."""
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


def lint(paths: Sequence[Path]) -> list[LintFinding]:
    """Return what is wrong with the rules at some paths, by file and line. Raises UserError for a path without any."""
    found: list[LintFinding] = []
    ids: dict[str, Path] = {}
    for path in paths:
        found += [LintFinding(page, 0, f"is the page of no rule: {page.stem}.py is missing") for page in orphans(path)]
        try:
            files = rule_files(path)
        except UserError as error:
            if not found and not too_deep(path):
                raise
            found.append(LintFinding(path, 0, str(error).partition(": ")[2]))
            continue
        found += [
            LintFinding(file, 0, "too deep a folder: rules are read in a folder and one below it")
            for file in too_deep(path)
            if file not in files
        ]
        for file in files:
            found += _module(file, ids)
    return sorted(dict.fromkeys(found), key=lambda each: (str(each.path), each.line))


def _module(file: Path, ids: dict[str, Path]) -> Iterator[LintFinding]:
    try:
        tree = ast.parse(file.read_bytes() if file.suffix == ".py" else b"")
    except (SyntaxError, ValueError) as error:
        yield LintFinding(file, getattr(error, "lineno", 0) or 0, f"does not parse: {getattr(error, 'msg', error)}")
        return
    yield from _accesses(file, tree)
    try:
        rule = rule_at(file)
        page = read_page(rule.page)
    except RuleError as error:
        line, what = _split_location(str(error), file)
        yield LintFinding(file, line, what)
        return
    except PageError as error:
        yield LintFinding(file, 0, str(error))
        return
    if ids.setdefault(rule.id, file.resolve()) != file.resolve():
        yield LintFinding(file, 0, f"is a second rule {rule.id}, beside {ids[rule.id]}")
    for problem in page_problems(rule, page):
        yield LintFinding(rule.page, 0, problem.what)


def _split_location(error: str, file: Path) -> tuple[int, str]:
    """Return the line and the rest of an error that begins with its file, and may have a line."""
    found = re.match(rf"{re.escape(str(file.resolve()))}(?::(\d+))?: ", error)
    return (int(found[1] or 0), error[found.end() :]) if found else (0, error)


def _accesses(file: Path, tree: ast.Module) -> Iterator[LintFinding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _imported_modules(node):
                if why := FORBIDDEN.get(name.partition(".")[0]):
                    yield LintFinding(file, node.lineno, f"{why} ({name}): a rule only looks at failures and sources")
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            why = CALLS.get(called, "")
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
                why = "uses files"
            if why:
                yield LintFinding(file, node.lineno, f"{why} (`{called}`): a rule only looks at failures and sources")


def _imported_modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if not node.level else []
