"""The calls of a trace, from which a test may be written: names that are none, and numbers that are none, are dropped.

What a program says ends up in source that people merge. So nothing is taken over as it is: names must be names, and
literals are read as Python's literals and written anew.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from devfix.model import Argument, Call, Recipe
from devfix.trace import values

_NAMES = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PART = re.compile(r"(?:\w+(?:\.\w+)*)?")
_DEVICE = re.compile(r"(?:cpu|cuda(?::\d{1,2})?)")
_KINDS = frozenset({"literal", "name", "list", "tuple", "set", "dict", "device", "made", "tensor", "parameters"})
_CONTENTS = frozenset({"values", "zeros", "ones", "full", "arange", "integers", "flags", "unit", "normal"})
_WAYS = frozenset({"function", "method", "property", "static", "make"})
_PASSED = frozenset({"positional", "plain", "keyword", "more"})
_BUILTIN = frozenset({"bool", "int", "float", "str", "list", "dict", "tuple", "set", "bytes", "complex", "len", "sum"})
_MOST = 2_000  # recipes of one letter


class Recipes:
    """Reads the calls of one trace; `owned` is the folder of the repository's files, with a separator at its end."""

    def __init__(self, owned: str) -> None:
        self._owned = owned
        self._left = _MOST

    def call(self, raw: dict[str, Any]) -> Call:
        """Return one call; ValueError where it is none."""
        root = os.path.join(os.path.realpath(values.text(raw.get("root"), 4096) or os.sep), "")
        how = values.text(raw.get("how"), 20)
        if how not in _WAYS or not root.startswith(self._owned):
            raise ValueError("no call of the repository's own")
        instance = raw.get("instance")
        return Call(
            frame=values.number(raw.get("frame")),
            module=_name(raw.get("module")),
            root=root[len(self._owned) :].replace(os.sep, "/").rstrip("/"),
            how=how,
            function=_name(raw.get("function")),
            arguments=tuple(self._argument(values.table(each)) for each in values.items(raw.get("arguments"))[:64]),
            instance=self.recipe(instance) if isinstance(instance, dict) else None,
            is_main=raw.get("main") is True,
        )

    def _argument(self, raw: dict[str, Any]) -> Argument:
        how = values.text(raw.get("how"), 20)
        if how not in _PASSED:
            raise ValueError("no way to pass an argument")
        name = _name(raw.get("name")) if how != "more" else ""
        return Argument(name, how, self.recipe(values.table(raw.get("value"))), raw.get("default") is True)

    def recipe(self, raw: dict[str, Any]) -> Recipe:
        """Return how a value is made; "unknown" where the trace does not say it, or says what cannot be."""
        self._left -= 1
        kind, text = values.text(raw.get("is"), 20), values.text(raw.get("text"), 500)
        try:
            return self._recipe(kind, text, raw) if kind in _KINDS and self._left > 0 else Recipe("unknown", text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return Recipe("unknown", text)

    def _recipe(self, kind: str, text: str, raw: dict[str, Any]) -> Recipe:
        if kind == "literal":
            return Recipe(kind, _literal(text))
        if kind == "device":
            return Recipe(kind, _device(text))
        if kind == "parameters":
            return Recipe(kind, _name(text))
        if kind == "name":
            return Recipe(kind, _name(text), _name(raw.get("module")))
        if kind == "tensor":
            return _tensor(text, raw)
        items = tuple(self.recipe(values.table(each)) for each in values.items(raw.get("items"))[:256])
        if kind != "made":
            return Recipe(kind, items=items)
        pairs = [values.items(each) for each in values.items(raw.get("keywords"))[:64]]
        moves = [values.items(each) for each in values.items(raw.get("moves"))[:12]]
        return Recipe(
            kind,
            _name(text),
            _name(raw.get("module")),
            items,
            tuple((_name(name), self.recipe(values.table(value))) for name, value in pairs),
            dtype=_name(raw["dtype"]) if raw.get("dtype") else "",
            evaluates=raw.get("eval") is True,
            moves=tuple((_part(path), _device(device)) for path, device in moves),
        )


def _tensor(text: str, raw: dict[str, Any]) -> Recipe:
    if text not in _CONTENTS:
        raise ValueError("no contents of a tensor")
    numbers = values.text(raw.get("numbers"), 2_000)
    return Recipe(
        "tensor",
        text,
        numbers=_literal(numbers) if numbers else "",
        dtype=_name(raw.get("dtype")),
        shape=values.shape(raw.get("shape")),
        device=_device(raw.get("device")),
        grad=raw.get("grad") is True,
    )


def _name(raw: object) -> str:
    text = values.text(raw, 200)
    if not _NAMES.fullmatch(text):
        raise ValueError("not a name")
    return text


def _part(raw: object) -> str:
    text = values.text(raw, 200)
    if not _PART.fullmatch(text):
        raise ValueError("not a part of a module")
    return text


def _device(raw: object) -> str:
    text = values.text(raw, 60)
    if not _DEVICE.fullmatch(text):
        raise ValueError("not a device that a test can have")
    return text


def _literal(text: str) -> str:
    """Return a literal as Python writes it; of names only those of types are taken, and `float("inf")` and its like."""
    tree = ast.parse(text, mode="eval").body
    plain = ast.unparse(_without_floats(tree)) if "float(" in text else text
    if text not in _BUILTIN and not re.fullmatch(r"(?:range|slice)\([\d, None-]*\)", text):
        ast.literal_eval(plain)
    return ast.unparse(tree).replace("float('", 'float("').replace("')", '")') if "float(" in text else text


def _without_floats(tree: ast.expr) -> ast.expr:
    class Plain(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            inner = node.args[0] if len(node.args) == 1 and not node.keywords else None
            named = isinstance(node.func, ast.Name) and node.func.id == "float"
            if named and isinstance(inner, ast.Constant) and str(inner.value) in ("inf", "-inf", "nan"):
                return ast.Constant(0.0)
            return node

    plain: ast.expr = Plain().visit(tree)
    return plain
