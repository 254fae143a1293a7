"""setup.cfg and setup.py, read without running them."""

from __future__ import annotations

import ast
import configparser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.environments.requirement import DeclaredRequirement, find_line
from devfix.environments.requirement_files import read_requirements
from devfix.environments.texts import read_text

_COMPILES = frozenset(
    {"ext_modules", "Extension", "CppExtension", "CUDAExtension", "cythonize", "cffi_modules", "rust_extensions"}
)


@dataclass
class SetupDeclaration:
    """What a setup file declares.

    `is_dynamic`: it computes its requirements. `compiles`: it builds extensions.
    """

    requirements: list[DeclaredRequirement] = field(default_factory=list)
    extras: dict[str, list[DeclaredRequirement]] = field(default_factory=dict)
    python: str = ""
    is_dynamic: bool = False
    compiles: bool = False


def read_setup_cfg(folder: Path) -> SetupDeclaration:
    """Return what setup.cfg declares; nothing if it cannot be parsed."""
    text, found = read_text(folder / "setup.cfg"), SetupDeclaration()
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return found
    found.python = parser.get("options", "python_requires", fallback="").strip()
    found.requirements = _listed(folder, text, parser.get("options", "install_requires", fallback=""))
    if parser.has_section("options.extras_require"):
        found.extras = {name: _listed(folder, text, each) for name, each in parser.items("options.extras_require")}
    return found


def _listed(folder: Path, text: str, value: str) -> list[DeclaredRequirement]:
    """Return the requirements of a key: its lines, or those of the files that `file:` names."""
    if value.strip().startswith("file:"):
        names = [name.strip() for name in value.strip().removeprefix("file:").replace("\n", ",").split(",")]
        return [each for name in names if name for each in read_requirements(folder, name).requirements]
    return [
        DeclaredRequirement(line, "setup.cfg", _line_with(text, line))
        for each in value.split("\n")
        if (line := each.strip()) and not line.startswith("#")
    ]


def read_setup_py(folder: Path) -> SetupDeclaration:
    """Return what setup.py declares in literals; `is_dynamic` where its requirements are computed."""
    text, found = read_text(folder / "setup.py"), SetupDeclaration()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return found
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "setup"), None)
    keywords = {each.arg: each.value for each in call.keywords if each.arg} if call else {}
    found.compiles = bool(_COMPILES & (names | keywords.keys()))
    known = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    listed = _literal(keywords.get("install_requires"), known)
    found.is_dynamic = listed is None or any(each.arg is None for each in (call.keywords if call else ()))
    found.requirements = [_declared(each, text) for each in listed or () if isinstance(each, str)]
    extras = _literal(keywords.get("extras_require"), known)
    for name, each in extras.items() if isinstance(extras, dict) else ():
        found.extras[str(name)] = [_declared(line, text) for line in each if isinstance(line, str)]
    python = _literal(keywords.get("python_requires"), known)
    found.python = python if isinstance(python, str) else ""
    return found


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _literal(node: ast.expr | None, known: dict[str, ast.expr]) -> Any:
    """Return the value of an expression: () if there is none, None if it is computed."""
    if node is None:
        return ()
    for _ in range(5):
        if isinstance(node, ast.Name) and node.id in known:
            node = known[node.id]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _declared(text: str, source: str) -> DeclaredRequirement:
    return DeclaredRequirement(text, "setup.py", _line_with(source, text))


def _line_with(text: str, line: str) -> int:
    found = (number for number, each in enumerate(text.splitlines(), 1) if line in each)
    return next(found, 0) or find_line(text, line.split(" ")[0])
