"""Import rules: those of an installed pack, and those in a folder that the user names."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import pkgutil
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import tomlkit

from devfix.errors import RuleError, UserError
from devfix.notes import Notes
from devfix.registry.rule import Rule, rule_from
from devfix.registry.timeout import describe_error, within

PROJECT_DEPTH = 3  # folders above a pack in which its pyproject.toml is looked for
IMPORT_SECONDS = 60.0  # a module of a rule takes milliseconds, its libraries seconds
Loaded = TypeVar("Loaded")


def pack_rules(point: EntryPoint, troubles: Notes) -> Iterator[Rule]:
    """Yield the rules of an installed pack; modules that are not importable rules are added to `troubles`."""
    origin = point.dist.name if point.dist else point.value
    try:
        pack = import_safely(point.load, f"pack {point.name!r} ({point.value}, from {origin})")
        folders = list(getattr(pack, "__path__", ()))
        if not folders:
            raise RuleError(f"pack {point.name!r} ({point.value}, from {origin}): is no package of rules")
    except RuleError as error:
        troubles.add(str(error))
        return
    for found in sorted(pkgutil.iter_modules(folders), key=lambda each: each.name):
        if found.name.startswith("_"):
            continue
        dotted = f"{pack.__name__}.{found.name}"
        try:
            yield rule_from(import_safely(partial(importlib.import_module, dotted), dotted), point.name, origin)
        except RuleError as error:
            troubles.add(str(error))


def rule_files(path: Path) -> list[Path]:
    """Return the modules of rules at a path: a module or page, a pack's folder, or a folder of packs.

    Raises UserError if there is none.
    """
    if path.suffix in (".py", ".md"):
        module = path.with_suffix(".py")
        if module.is_file():
            return [module]
        raise UserError(f"{path}: no rule's module lies there ({module.name} is missing)")
    if not path.is_dir():
        raise UserError(f"{path}: no such folder, module or page of rules")
    files = [*path.glob("*.py"), *path.glob("*/*.py")]
    found = sorted(file for file in files if not file.name.startswith("_") and not file.parent.name.startswith("_"))
    if not found:
        deeper = next(iter(too_deep(path)), None)
        if deeper is not None:
            raise UserError(f"{path}: no rule's module lies here or one folder below; name the folder {deeper.parent}")
        raise UserError(f"{path}: no rule's module lies in this folder or one folder below it")
    return found


def too_deep(path: Path) -> list[Path]:
    """The modules below a folder that look like rules, with a page beside them, and lie deeper than rules are read."""
    if not path.is_dir():
        return []
    files = [file for file in sorted(path.glob("*/*/**/*.py")) if not file.name.startswith("_")]
    return [file for file in files if _is_page(file.with_suffix(".md"))]


def orphans(path: Path) -> list[Path]:
    """The pages of rules in a folder or one below it that have no module beside them."""
    if not path.is_dir():
        return []
    pages = sorted([*path.glob("*.md"), *path.glob("*/*.md")])
    return [page for page in pages if not page.with_suffix(".py").is_file() and _is_page(page)]


def imports_torch(path: Path) -> bool:
    """Return whether a module imports torch."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.split(".")[0] == "torch" for name in names):
            return True
    return False


def _is_page(path: Path) -> bool:
    try:
        return re.search("^## Cases", path.read_text("utf-8", "replace"), re.MULTILINE | re.IGNORECASE) is not None
    except OSError:
        return False


def rule_at(file: Path) -> Rule:
    """Return the rule in a module file; its pack is its folder. Raises RuleError if it is not an importable rule."""
    file = file.resolve()
    packages: list[str] = []
    folder = file.parent
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder.name)
        folder = folder.parent
    module = import_safely(lambda: _module(file, folder, packages), str(file))
    return rule_from(module, _pack_name(file.parent), str(file.parent))


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
