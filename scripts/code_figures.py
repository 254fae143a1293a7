"""Measure the code of two commits, and print a table.

usage: python scripts/code_figures.py [BEFORE [AFTER]]

docs/explanation/code.md has that table. The numbers are read from git, so that neither commit needs to be checked out.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import subprocess
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "2711f41"  # the last commit before packages and names were changed
PARTICIPLES = {"told", "tell", "asked", "shown", "seen", "made", "kept", "given", "wanted", "written", "looked"}
CLAUSE = re.compile(r"(?:Whether|What|How|Where|Which|Who|When)\b")


@dataclass(frozen=True)
class Code:
    """The Python files of a commit below one folder, or those of another suffix."""

    commit: str
    folder: str
    suffix: str = ".py"

    @cached_property
    def files(self) -> dict[str, str]:
        """The source of each file by its path."""
        command = ["git", "archive", "--format=tar", self.commit, "--", self.folder]
        data = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            found = [
                (member.name, archive.extractfile(member)) for member in archive if member.name.endswith(self.suffix)
            ]
            return {name: file.read().decode() for name, file in found if file is not None}

    @cached_property
    def trees(self) -> list[ast.Module]:
        """The syntax tree of each file."""
        return [ast.parse(source) for source in self.files.values()]

    @property
    def nodes(self) -> Iterable[ast.AST]:
        """All nodes of all files."""
        return (node for tree in self.trees for node in ast.walk(tree))

    @property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """All functions and methods."""
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    @property
    def lines(self) -> int:
        """The number of lines."""
        return sum(len(source.splitlines()) for source in self.files.values())

    @property
    def import_lines(self) -> int:
        """The number of lines of import statements at the top level."""
        imports = (node for tree in self.trees for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in imports)

    @property
    def statements(self) -> int:
        """The number of statements, without imports and docstrings."""
        skipped = (ast.Import, ast.ImportFrom)
        found = [node for node in self.nodes if isinstance(node, ast.stmt) and not isinstance(node, skipped)]
        return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in found)

    @property
    def docstrings(self) -> list[str]:
        """All docstrings."""
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return [text for node in self.nodes if isinstance(node, kinds) and (text := ast.get_docstring(node))]


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def commit_of(name: str) -> str:
    """Return the commit of a name. Raises ArgumentTypeError where there is none."""
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
    except subprocess.CalledProcessError:
        raise argparse.ArgumentTypeError(f"{name}: no commit of this repository") from None


@cache
def rules(commit: str) -> Code:
    """Return the rules of a commit."""
    return Code(commit, "rules")


@cache
def declared(commit: str) -> Code:
    """Return the rules of a commit that are data."""
    return Code(commit, "rules", ".toml")


def rule_files(commit: str) -> list[str]:
    """Return the source of each rule, in Python or TOML."""
    modules = [source for path, source in rules(commit).files.items() if not path.endswith("__init__.py")]
    return modules + list(declared(commit).files.values())


@cache
def engine(commit: str) -> Code:
    """Return the engine and the probe of a commit."""
    return Code(commit, "src/devfix")


def length(commit: str) -> str:
    """Return the median number of lines of a rule."""
    return f"{statistics.median(len(source.splitlines()) for source in rule_files(commit)):.0f}"


def public_names(commit: str) -> int:
    """Return how many names `devfix.sdk` has."""
    tree = ast.parse(git("show", f"{commit}:src/devfix/sdk/__init__.py"))
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    return len(lists[0].elts)


def largest_folder(commit: str) -> str:
    """Return the folder with the most files beside each other, and how many."""
    folders = [Path(path).parent.as_posix() for path in engine(commit).files]
    name = max(set(folders), key=folders.count)
    return f"{folders.count(name)} ({name.removeprefix('src/devfix/')})"


def most_tests(commit: str) -> int:
    """Return the largest number of test files in one folder."""
    folders = [Path(path).parent for path in Code(commit, "tests").files if Path(path).name.startswith("test_")]
    return max(folders.count(folder) for folder in set(folders))


ROWS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("rules", lambda commit: len(rule_files(commit))),
    ("of these, TOML files", lambda commit: len(declared(commit).files)),
    ("lines of rules", lambda commit: rules(commit).lines + declared(commit).lines),
    ("of these, import statements", lambda commit: rules(commit).import_lines),
    ("statements of rules", lambda commit: rules(commit).statements),
    ("lines of the median rule", length),
    ("public names of `devfix.sdk`", public_names),
    ("files of engine and probe", lambda commit: len(engine(commit).files)),
    ("lines of engine and probe", lambda commit: engine(commit).lines),
    ("of these, import statements", lambda commit: engine(commit).import_lines),
    ("most files in one folder", largest_folder),
    ("files of tests, in one folder at most", most_tests),
    (
        "functions named by a bare participle",
        lambda commit: sum(function.name.strip("_") in PARTICIPLES for function in engine(commit).functions),
    ),
    ("docstrings", lambda commit: len(engine(commit).docstrings)),
    ("of these, noun clauses", lambda commit: sum(bool(CLAUSE.match(text)) for text in engine(commit).docstrings)),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", default=BEFORE, type=commit_of)
    parser.add_argument("after", nargs="?", default="HEAD", type=commit_of)
    asked = parser.parse_args()
    before, after = asked.before, asked.after
    names = [git("rev-parse", "--short", commit).strip() for commit in (before, after)]
    print(f"| | {names[0]} | {names[1]} |\n|---|---|---|")
    for title, measure in ROWS:
        print(f"| {title} | {measure(before)} | {measure(after)} |")


if __name__ == "__main__":
    main()
