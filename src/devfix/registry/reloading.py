"""Load the module of a rule again, after its file was saved."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import linecache
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

from devfix.registry.declarations.rules import compile_module
from devfix.registry.files import only_file
from devfix.registry.loading import import_safely
from devfix.registry.rule import Rule, rule_from


def reload_rule(rule: Rule) -> Rule:
    """Return a rule as its module is now; no other module is loaded. Raises RuleError if it is no rule any more."""
    assert rule.module is not None
    name = rule.module.__name__
    if rule.path.suffix == ".toml":
        module = compile_module(only_file(rule.path), name, rule.module.__package__ or "")
    else:
        module = import_safely(partial(_execute_module, name, rule.path), str(rule.path))
    linecache.checkcache(str(rule.path))
    return rule_from(module, rule.pack, rule.origin)


def forget(helper: Path) -> None:
    """Have a module that rules import loaded again when they next import it."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "") == str(helper):
            del sys.modules[name]
    # Python compares the file with the compiled one by the second, and two saves may lie in one.
    with contextlib.suppress(OSError):
        Path(importlib.util.cache_from_source(str(helper))).unlink()
    importlib.invalidate_caches()
    linecache.checkcache(str(helper))


def _execute_module(name: str, path: Path) -> ModuleType:
    """Return a new module of a file, compiled from what is in the file now."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    old = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look up their module
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(module))
    except BaseException:
        if old is not None:
            sys.modules[name] = old
        raise
    return module
