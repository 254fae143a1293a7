"""Objections to an attribute that its object's `__dict__` no longer has, since the module registers it.

Python reads a registered tensor or module by `__getattr__`; a shallow copy of the module shares it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, functions, instances
from devfix.verification.objections.introduced import Introduced


def of_instances(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to a new buffer, parameter or submodule of a class."""
    if what.kind not in ("buffer", "parameter", "modules") or not what.owner:
        return
    family = code.family(what.owner)
    yield from _shallow_copies(what.name, family, code)
    yield from _dictionaries(what.name, family, code)
    yield from _accessors(what.name, family | code.ancestors(what.owner), code)


def _shallow_copies(name: str, family: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield shallow copies of modules: what is registered is assigned to the copy and to the original at once."""
    for path, tree in code.trees("copy.copy(", "from copy import"):
        made = instances(tree, family)
        is_assigned = any(
            isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.ctx, ast.Store)
            and not (owner in family and ast.unparse(node.value) == "self")
            for owner, _, node in functions(tree)
        )
        copied = {alias.asname or "copy" for alias in _imports_from(tree, "copy") if alias.name == "copy"}
        for owner, _, node in functions(tree):
            if not isinstance(node, ast.Call) or not node.args or ast.unparse(node.func) not in {"copy.copy", *copied}:
                continue
            argument = ast.unparse(node.args[0])
            is_known = argument in made or (argument == "self" and owner in family)
            if is_assigned or is_known:
                problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` is a shallow copy"
                reason = f"{problem}: of a module, it shares `{name}` with the original once that is registered"
                yield Objection("strong" if is_assigned else "weak", reason)


def _imports_from(tree: ast.Module, module: str) -> list[ast.alias]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == module]
    return [alias for node in found for alias in node.names]


def _dictionaries(name: str, family: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield reads of an object's `__dict__`, for the name or as a whole."""
    for path, tree in code.trees("__dict__", "vars("):
        made = instances(tree, family)
        parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for owner, _, node in functions(tree):
            whose = _dictionary_of(node)
            if whose is None:
                continue
            around = parents.get(id(node))
            keys = [each.value for each in _keys(around, parents) if isinstance(each, ast.Constant)]
            shown = around if keys and around is not None else node
            problem = f"{path}:{getattr(node, 'lineno', 0)} reads `{ast.unparse(shown)}`"
            if name in keys:
                yield Objection("strong", f"{problem}, where a module has no tensor or module that is registered")
            elif not keys and (ast.unparse(whose) in made or (owner in family and ast.unparse(whose) == "self")):
                yield Objection("weak", f"{problem}, which has no `{name}` any more")


def _dictionary_of(node: ast.AST) -> ast.expr | None:
    """Return the object whose `__dict__` an expression is."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args:
        return node.args[0]
    return None


def _keys(around: ast.AST | None, parents: dict[int, ast.AST]) -> list[ast.expr]:
    """Return the keys that are asked of a dictionary: `d[key]`, `d.get(key)`, `key in d`."""
    if isinstance(around, ast.Subscript):
        return [around.slice]
    if isinstance(around, ast.Attribute):
        call = parents.get(id(around))
        return list(call.args[:1]) if isinstance(call, ast.Call) and call.func is around else []
    if isinstance(around, ast.Compare) and isinstance(around.ops[0], ast.In | ast.NotIn):
        return [around.left]
    return []


def _accessors(name: str, lineage: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield methods that see each attribute that is set, or that is not in `__dict__`."""
    for path, tree in code.trees("__setattr__", "__getattr__"):
        for owner, _, node in functions(tree):
            if owner not in lineage or not isinstance(node, ast.FunctionDef):
                continue
            problem = f"{path}:{node.lineno}: {owner}.{node.name}"
            if node.name == "__setattr__":
                yield Objection("weak", f"{problem} does not see that `{name}` is set where it is registered")
            if node.name == "__getattr__" and not _asks_base_first(node):
                yield Objection("strong", f"{problem} answers for `{name}` once that is registered")


def _asks_base_first(method: Function) -> bool:
    """Return whether a `__getattr__` returns what its base class answers before anything else."""
    body = [each for each in method.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    first = body[0] if body else None
    if isinstance(first, ast.Try):
        first = first.body[0]
    value = first.value if isinstance(first, ast.Return | ast.Assign) else None
    return value is not None and "__getattr__" in ast.unparse(value) and isinstance(value, ast.Call)
