"""Import rules: those of an installed pack, and those in a folder that the user names."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import pkgutil
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import tomlkit

from devfix.errors import RuleError
from devfix.notes import Notes
from devfix.registry.declarations import compile_module
from devfix.registry.files import files_in, only_file
from devfix.registry.rule import Rule, rule_from
from devfix.registry.timeout import describe_error, within

PROJECT_DEPTH = 3  # folders above a pack in which its pyproject.toml is looked for
IMPORT_SECONDS = 60.0  # a module of a rule takes milliseconds, its libraries seconds
Loaded = TypeVar("Loaded")


def pack_rules(point: EntryPoint, problems: Notes) -> Iterator[Rule]:
    """Yield the rules of an installed pack; modules that are not importable rules are added to `problems`."""
    origin = point.dist.name if point.dist else point.value
    try:
        pack = import_safely(point.load, f"pack {point.name!r} ({point.value}, from {origin})")
        folders = list(getattr(pack, "__path__", ()))
        if not folders:
            raise RuleError(f"pack {point.name!r} ({point.value}, from {origin}): is not a package of rules")
    except RuleError as error:
        problems.add(str(error))
        return
    modules = {each.name for each in pkgutil.iter_modules(folders) if not each.name.startswith("_")}
    files = [file for folder in map(Path, folders) if folder.is_dir() for file in files_in(folder)]
    declared = {file.stem: file for file in files if file.suffix == ".toml"}
    for name in sorted({*modules, *declared}):
        dotted = f"{pack.__name__}.{name}"
        try:
            if name in declared:
                module = _compile(declared[name], dotted, pack.__name__)
            else:
                module = import_safely(partial(importlib.import_module, dotted), dotted)
            yield rule_from(module, point.name, origin)
        except RuleError as error:
            problems.add(str(error))


def imports_torch(path: Path) -> bool:
    """Return whether a module imports torch."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.split(".")[0] == "torch" for name in names):
            return True
    return False


def rule_at(file: Path) -> Rule:
    """Return the rule in a module or TOML file; its pack is its folder. Raises RuleError if it is not a rule."""
    file = file.resolve()
    if file.suffix == ".toml":
        module = _compile(file, f"devfix_local_rules.{file.parent.name}.{file.stem}")
        return rule_from(module, _pack_name(file.parent), str(file.parent))
    packages: list[str] = []
    folder = file.parent
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder.name)
        folder = folder.parent
    module = import_safely(lambda: _module(file, folder, packages), str(file))
    return rule_from(module, _pack_name(file.parent), str(file.parent))


def _compile(file: Path, name: str, package: str = "") -> ModuleType:
    """Return the module of a rule that is data. Raises RuleError if a module of its name lies beside it."""
    return compile_module(only_file(file), name, package)


def package_of(pack: str, folder: Path) -> str:
    """Return the last name of the package that the project around a folder installs as a pack; "" if it has none."""
    return next((package for name, package in _installed_as(folder.resolve()) if name == pack), "")


def _pack_name(folder: Path) -> str:
    """The name of a pack: what its pyproject.toml installs it as, so that its ids are the same, else the folder's."""
    installed = (name for name, package in _installed_as(folder) if package == folder.name)
    return next(installed, folder.name.replace("_", "-"))


def _installed_as(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the packs of the projects around a folder, each with the last name of its package, innermost first."""
    for above in (folder, *folder.parents[:PROJECT_DEPTH]):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            project = tomlkit.parse((above / "pyproject.toml").read_text("utf-8")).unwrap()
            points = project.get("project", {}).get("entry-points", {}).get("devfix.rules", {})
            yield from ((str(name), str(package).rpartition(".")[2]) for name, package in points.items())


def _module(file: Path, root: Path, packages: list[str]) -> ModuleType:
    if not packages:
        return _load_module(f"devfix_local_rules.{file.parent.name}.{file.stem}", file)
    # A module may import others of its package, so the packages are imported first.
    top = root / packages[0]
    if packages[0] not in sys.modules:
        sys.path.insert(0, str(root))
        try:
            importlib.import_module(packages[0])
        finally:
            sys.path.remove(str(root))
    elif str(top) not in map(str, getattr(sys.modules[packages[0]], "__path__", ())):
        # Another copy of the package is imported, such as an installed pack's: this one gets its own name.
        packages = [f"devfix_local_{zlib.crc32(bytes(top)):08x}_{packages[0]}", *packages[1:]]
        if packages[0] not in sys.modules:
            _load_module(packages[0], top / "__init__.py")
    return importlib.import_module(".".join([*packages, file.stem]))


def _load_module(name: str, file: Path) -> ModuleType:
    folder = [str(file.parent)] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def import_safely(load: Callable[[], Loaded], what: str) -> Loaded:
    """Return the result of `load`. Raises RuleError, which names `what`, for any exception, exit or endless loop."""
    try:
        return within(IMPORT_SECONDS, load)
    except Exception as error:
        raise RuleError(f"{what}: cannot be imported: {describe_error(error).removeprefix('raised ')}") from error
