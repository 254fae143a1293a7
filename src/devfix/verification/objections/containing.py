"""Find what may contain an object of some classes: classes and functions of the repository that mention them."""

from __future__ import annotations

import ast

from devfix.verification.objections.code import Code

MOST = 500  # names; a class that is mentioned everywhere may be anywhere
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def containing(family: frozenset[str], code: Code) -> frozenset[str]:
    """Return some classes, and all classes and functions of the repository that mention one of them, or one of those.

    >>> files = {"m.py": b"class A: pass\\ndef make(): return [A()]\\nclass B:\\n    a = make()\\nclass C: pass\\n"}
    >>> sorted(containing(frozenset({"A"}), Code(files, files.get, lambda texts: list(files))))
    ['A', 'B', 'make']
    """
    found, new = set(family), set(family)
    while new and len(found) < MOST:
        new = {
            node.name
            for _, tree in code.trees(*new)
            for node in tree.body
            if isinstance(node, Definition) and node.name not in found and mentions(node, found)
        }
        found |= new
    return frozenset(found)


def mentions(node: ast.AST, names: set[str] | frozenset[str]) -> bool:
    """Return whether code mentions one of some names, by itself or as the last part of a longer one."""
    return any(
        (isinstance(each, ast.Name) and each.id in names) or (isinstance(each, ast.Attribute) and each.attr in names)
        for each in ast.walk(node)
    )
