"""Import rules: those of an installed pack, and those in a folder that the user named."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from devfix.catalog.rule import Rule, rule_from
from devfix.errors import RuleError, UserError

Loaded = TypeVar("Loaded")


def pack_rules(point: EntryPoint, troubles: list[str]) -> Iterator[Rule]:
    """Yield the rules of an installed pack; what cannot be imported or is no rule is named in `troubles`."""
    origin = point.dist.name if point.dist else point.value
    try:
        pack = _imported(point.load, f"pack {point.name!r} ({point.value}, from {origin})")
        folders = list(getattr(pack, "__path__", ()))
        if not folders:
            raise RuleError(f"pack {point.name!r} ({point.value}, from {origin}): is no package of rules")
    except RuleError as error:
        troubles.append(str(error))
        return
    for found in sorted(pkgutil.iter_modules(folders), key=lambda each: each.name):
        if found.name.startswith("_"):
            continue
        dotted = f"{pack.__name__}.{found.name}"
        try:
            yield rule_from(_imported(partial(importlib.import_module, dotted), dotted), point.name, origin)
        except RuleError as error:
            troubles.append(str(error))


def rule_files(path: Path) -> list[Path]:
    """The modules of rules at a path: a module or page, a pack's folder, or a folder of packs.

    Raises UserError where there is none.
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
        raise UserError(f"{path}: no rule's module lies in this folder or the folders below it")
    return found


def rule_at(file: Path) -> Rule:
    """The rule in a module file; its pack is its folder. Raises RuleError where it cannot be imported or is none."""
    file = file.resolve()
    packages: list[str] = []
    folder = file.parent
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder.name)
        folder = folder.parent
    module = _imported(lambda: _module(file, folder, packages), str(file))
    return rule_from(module, file.parent.name.replace("_", "-"), str(file.parent))


def _module(file: Path, root: Path, packages: list[str]) -> ModuleType:
    if packages:
        # A module of a package may import its neighbours, so it is imported by its own dotted name.
        dotted = ".".join([*packages, file.stem])
        sys.path.insert(0, str(root))
        try:
            module = importlib.import_module(dotted)
        finally:
            sys.path.remove(str(root))
        if Path(module.__file__ or "").resolve() != file:
            raise ImportError(f"another module named {dotted} is imported already, from {module.__file__}")
        return module
    name = f"devfix_local_rules.{file.parent.name}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _imported(load: Callable[[], Loaded], what: str) -> Loaded:
    """What `load` gives; whatever it raises, an exit included, is a RuleError that names it."""
    try:
        return load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RuleError(f"{what}: cannot be imported: {type(error).__name__}: {error}") from error
