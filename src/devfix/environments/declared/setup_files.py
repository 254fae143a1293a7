"""setup.cfg and setup.py, read without running them."""

from __future__ import annotations

import ast
import configparser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.environments.declared.requirement import DeclaredRequirement, find_line
from devfix.environments.declared.requirement_files import read_requirements
from devfix.environments.declared.texts import read_text

_COMPILES = frozenset(
    {"ext_modules", "Extension", "CppExtension", "CUDAExtension", "cythonize", "cffi_modules", "rust_extensions"}
)


@dataclass
class SetupDeclaration:
    """The declarations of a setup file.

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
    found.requirements = _requirements_of(folder, text, parser.get("options", "install_requires", fallback=""))
    if parser.has_section("options.extras_require"):
        found.extras = {
            name: _requirements_of(folder, text, each) for name, each in parser.items("options.extras_require")
        }
    return found


def _requirements_of(folder: Path, text: str, value: str) -> list[DeclaredRequirement]:
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
    text, found, call = read_text(folder / "setup.py"), SetupDeclaration(), read_setup_call(folder)
    if call is None:
        return found
    found.compiles = bool(_COMPILES & (call.names | call.arguments.keys()))
    listed = call.literal("install_requires", ())
    found.is_dynamic = listed is None or call.has_more
    found.requirements = [_requirement(each, text) for each in listed or () if isinstance(each, str)]
    extras = call.literal("extras_require", ())
    for name, each in extras.items() if isinstance(extras, dict) else ():
        found.extras[str(name)] = [_requirement(line, text) for line in each if isinstance(line, str)]
    python = call.literal("python_requires", ())
    found.python = python if isinstance(python, str) else ""
    return found


@dataclass(frozen=True)
class SetupCall:
    """The call of `setup()` in a setup.py: its arguments by keyword, and what the names of the file are bound to.

    `names` are all names in the file. `has_more`: other arguments come from a computed mapping.
    """

    arguments: dict[str, ast.expr]
    known: dict[str, ast.expr]
    names: frozenset[str]
    has_more: bool

    def literal(self, keyword: str, missing: object) -> Any:
        """Return the value of an argument: `missing` if it is not given, None if it is computed."""
        node = self.arguments.get(keyword)
        if node is None:
            return missing
        for _ in range(5):
            if isinstance(node, ast.Name) and node.id in self.known:
                node = self.known[node.id]
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None


def read_setup_call(folder: Path) -> SetupCall | None:
    """Return the call of `setup()` in the setup.py of a folder; None if that is no Python."""
    try:
        tree = ast.parse(read_text(folder / "setup.py"))
    except (SyntaxError, ValueError, RecursionError):
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _callee(node) == "setup"), None)
    keywords = call.keywords if call else []
    known = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    arguments = {each.arg: each.value for each in keywords if each.arg}
    return SetupCall(arguments, known, frozenset(names), any(each.arg is None for each in keywords))


def _callee(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _requirement(text: str, source: str) -> DeclaredRequirement:
    return DeclaredRequirement(text, "setup.py", _line_with(source, text))


def _line_with(text: str, line: str) -> int:
    found = (number for number, each in enumerate(text.splitlines(), 1) if line in each)
    return next(found, 0) or find_line(text, line.split(" ")[0])
