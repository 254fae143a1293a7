"""Check the calls of a trace, which may become the source of a test.

Users merge source that contains values of the program. So names must be valid names, literals are parsed and written
again as Python literals, and everything else is dropped.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from dataclasses import replace

from devfix.model import Argument, Call, Recipe

_NAMES = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PART = re.compile(r"(?:\w+(?:\.\w+)*)?")
_DEVICE = re.compile(r"(?:cpu|cuda(?::\d{1,2})?)")
_CONTENTS = frozenset({"values", "zeros", "ones", "full", "arange", "integers", "flags", "unit", "normal"})
_BUILTIN = frozenset({"bool", "int", "float", "str", "list", "dict", "tuple", "set", "bytes", "complex", "len", "sum"})
_MOST = 2_000  # recipes of one trace
_NAME_LIMIT, _LITERAL_LIMIT = 200, 2_000  # characters


class Recipes:
    """Checks the calls of one trace; `owned` is the folder of the repository's files, with a trailing separator."""

    def __init__(self, owned: str) -> None:
        self._owned = owned
        self._left = _MOST

    def calls(self, calls: Iterable[Call]) -> tuple[Call, ...]:
        """Return the calls of the repository's own functions that can be written in a test."""
        checked = []
        for call in calls:
            try:
                checked.append(self.call(call))
            except ValueError:
                continue
        return tuple(checked)

    def call(self, call: Call) -> Call:
        """Return a call that can be written, its root relative to the repository. Raises ValueError if it cannot."""
        root = os.path.join(os.path.realpath(call.root or os.sep), "")
        if not root.startswith(self._owned):
            raise ValueError("no call of the repository's own")
        return replace(
            call,
            module=_name(call.module),
            root=root[len(self._owned) :].replace(os.sep, "/").rstrip("/"),
            function=_name(call.function),
            arguments=tuple(self._argument(each) for each in call.arguments[:64]),
            instance=self.recipe(call.instance) if call.instance is not None else None,
        )

    def _argument(self, argument: Argument) -> Argument:
        name = _name(argument.name) if argument.how != "more" else ""
        return replace(argument, name=name, value=self.recipe(argument.value))

    def recipe(self, recipe: Recipe) -> Recipe:
        """Return how a value is created; "unknown" if the trace does not contain that, or it is invalid."""
        self._left -= 1
        try:
            return self._recipe(recipe) if self._left > 0 else _unknown(recipe)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return _unknown(recipe)

    def _recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe with the fields of its kind, each checked."""
        kind, text = recipe.kind, recipe.text
        if kind == "unknown":
            return _unknown(recipe)
        if kind == "literal":
            return Recipe(kind, _literal(text))
        if kind == "device":
            return Recipe(kind, _device(text))
        if kind == "parameters":
            return Recipe(kind, _name(text))
        if kind == "name":
            return Recipe(kind, _name(text), _name(recipe.module))
        if kind == "tensor":
            return _tensor(recipe)
        items = tuple(self.recipe(each) for each in recipe.items[:256])
        if kind != "made":
            return Recipe(kind, items=items)
        return Recipe(
            kind,
            _name(text),
            _name(recipe.module),
            items,
            tuple((_name(name), self.recipe(value)) for name, value in recipe.keywords[:64]),
            dtype=_name(recipe.dtype) if recipe.dtype else "",
            evaluates=recipe.evaluates,
            moves=tuple((_part(path), _device(device)) for path, device in recipe.moves[:12]),
        )


def _unknown(recipe: Recipe) -> Recipe:
    return Recipe("unknown", recipe.text[:500])


def _tensor(recipe: Recipe) -> Recipe:
    if recipe.text not in _CONTENTS:
        raise ValueError("no contents of a tensor")
    return Recipe(
        "tensor",
        recipe.text,
        numbers=_literal(recipe.numbers) if recipe.numbers else "",
        dtype=_name(recipe.dtype),
        shape=recipe.shape,
        device=_device(recipe.device),
        grad=recipe.grad,
    )


def _name(text: str) -> str:
    if len(text) > _NAME_LIMIT or not _NAMES.fullmatch(text):
        raise ValueError("not a name")
    return text


def _part(text: str) -> str:
    if len(text) > _NAME_LIMIT or not _PART.fullmatch(text):
        raise ValueError("not a part of a module")
    return text


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError("not a device that a test can have")
    return text


def _literal(text: str) -> str:
    """Return a literal as Python writes it; the only names allowed are types, and calls such as `float("inf")`."""
    if len(text) > _LITERAL_LIMIT:
        raise ValueError("longer than a literal can be")
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
