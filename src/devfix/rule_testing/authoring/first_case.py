"""Make the first case of a new rule's page of a program that fails: `devfix new-rule --from "python train.py"`."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from devfix.errors import UserError
from devfix.model import World
from devfix.rule_testing.checking.format import format_ending, format_failure, lasting
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import PROGRAM, Case

MOST_FILES = 500


def program_case(path: Path, gpus: int = 1) -> Case:
    """Return a case of a program and the Python files below its folder. Raises UserError if there are too many."""
    folder = path.resolve().parent
    found = [each for each in sorted(folder.rglob("*.py")) if not _is_hidden(each.relative_to(folder))]
    if len(found) > MOST_FILES:
        raise UserError(f"{folder}: has more than {MOST_FILES} Python files; copy the program and what it imports")
    before = {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}
    return Case(str(path), 1, World("simulated", gpus), {}, before, {}, "", None, (), path.name)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part in ("venv", "site-packages", "__pycache__") for part in path.parts)


def first_case(command: str, bench: Bench) -> str:
    """Return the Markdown of a case: the program with the modules beside it that it imports, and how it fails.

    The program is run without arguments, as `main.py`, from a copy of its Python files. Raises UserError if that does
    not fail on a device.
    """
    case = case_of(command)
    failure, run = bench.failing(case)
    if failure is None:
        raise UserError(
            f"{command}: a copy of the program and the modules that it imports does not fail on a device; a case has "
            f"no arguments and no data: {' '.join(format_ending(run).split())}"
        )
    blocks = [_block(f"python before {name}", text) for name, text in sorted(case.before.items()) if name != PROGRAM]
    blocks.append(_block("python before", case.before[PROGRAM]))
    blocks.append(_block("text failure", lasting(format_failure(failure)).encode()))
    return "\n".join([f"### {Path(case.name).stem.replace('_', ' ')}\n", *blocks, _block("python after", b"")])


def case_of(command: str) -> Case:
    """Return the case of a command `python train.py`. Raises UserError for any other command."""
    words = shlex.split(command)
    if len(words) != 2 or not words[0].rpartition("/")[2].startswith("python") or not words[1].endswith(".py"):
        raise UserError(f"{command}: give a program without arguments or options, as a case has none: python train.py")
    path = Path(words[1])
    if not path.is_file():
        raise UserError(f"{command}: there is no program {path}")
    whole = program_case(path)
    files = {name: whole.before[name] for name in _reachable_files(path.name, whole.before)}
    if PROGRAM in files and path.name != PROGRAM:
        raise UserError(f"{command}: imports a module {PROGRAM}, which is the name of a case's program: rename that")
    program = files.pop(path.name)
    return replace(whole, before={PROGRAM: program, **files}, program=PROGRAM)


def _reachable_files(program: str, files: Mapping[str, bytes]) -> set[str]:
    """Return the files that a program imports, directly or through others, and the program itself."""
    seen, waiting = {program}, [program]
    while waiting:
        for name in _imported_files(waiting.pop(), files):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def _imported_files(path: str, files: Mapping[str, bytes]) -> Iterator[str]:
    try:
        tree = ast.parse(files[path])
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for name in _names(node, PurePosixPath(path).parent):
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                stem = "/".join(parts[:count])
                yield from (each for each in (f"{stem}.py", f"{stem}/__init__.py") if each in files)


def _names(node: ast.AST, folder: PurePosixPath) -> list[str]:
    """Return the full names of the modules, or of members of modules, that an import names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    around = folder.parts[: len(folder.parts) - node.level + 1] if node.level else ()
    origin = ".".join([*around, *([node.module] if node.module else [])])
    return [origin, *(f"{origin}.{alias.name}".lstrip(".") for alias in node.names)]


def _block(info: str, content: bytes) -> str:
    text = content.decode("utf-8", "replace").rstrip("\n")
    fence = "````" if "```" in text else "```"
    return f"{fence}{info}\n{text}\n{fence}\n" if text else f"{fence}{info}\n{fence}\n"
