"""Find which names are bound where an expression stands, and what a function knows of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import libcst as cst

from devfix.source import File, last_name
from devfix.source.queries.reading import assigned_values, parameter_nodes, parameters

STATEMENTS = (cst.BaseSmallStatement, cst.SimpleStatementLine, cst.BaseCompoundStatement)
COPIES = ("copy", "deepcopy")


def root_name(text: str) -> str:
    """Return the name with which an expression starts.

    >>> root_name("next(model.parameters()).device"), root_name("x.device")
    ('model', 'x')
    """
    return re.split(r"\W", text.removeprefix("next("))[0]


def is_bound(file: File, node: cst.CSTNode, text: str) -> bool:
    """Return whether the name that an expression starts with is bound before `node` runs.

    Names bound by a comprehension or a lambda are bound only inside it.

    >>> file = File("m.py", b"def f(xs, m):\\n    y = [x + 1 for x in xs]\\n    return [z * m for z in y]\\n")
    >>> node = file.find(file.module, "z * m")[0]
    >>> [is_bound(file, node, f"{name}.device") for name in ("xs", "m", "y", "z", "x")]
    [True, True, True, True, False]
    >>> file = File("m.py", b"for x in xs: y = f(x); z = y * x\\n")
    >>> [is_bound(file, file.find(file.module, "y * x")[0], name) for name in ("x", "y", "z")]
    [True, True, False]
    """
    if text.startswith(("'", '"')):
        return True
    name, function = root_name(text), file.function_of(node)
    if file.is_bound_within(node, name) or (function is not None and name in _parameters(function)):
        return True
    bindings = _bindings(function or file.module, name)
    if not bindings:
        # A name that the file does not bind comes from a star import, or is injected.
        given = function is not None and not file.binds_anywhere(name)
        return name == "self" or given or (_is_deferred(file, node) and _is_global(file, node, name))
    # A statement does not read what it binds itself. Others may be in front of it on its line: `for x in xs: y = f(x)`.
    statement = next((each for each in (node, *file.ancestors(node)) if isinstance(each, STATEMENTS)), None)
    return statement is not None and min(_start(file, each) for each in bindings) < _start(file, statement)


def _start(file: File, node: cst.CSTNode) -> tuple[int, int]:
    """Return the line and the column at which a node starts."""
    place = file.place_of(node)
    return place.line, place.column or 0


def _is_global(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a name that a function may read is bound wherever the file is imported.

    What is bound under `if __name__ == "__main__"` alone is not, unless the function reads it already.
    """
    bindings, function = file.bindings_of(node, name), file.function_of(node)
    if function is not None and knows(file, function, name):
        return bool(bindings)
    return any(not any(map(_is_main_guard, file.ancestors(binding))) for _, binding in bindings)


def _is_main_guard(node: cst.CSTNode) -> bool:
    test = node.test if isinstance(node, cst.If) else None
    sides = (test.left, *(each.comparator for each in test.comparisons)) if isinstance(test, cst.Comparison) else ()
    return any(isinstance(each, cst.Name) and each.value == "__name__" for each in sides)


def _is_deferred(file: File, node: cst.CSTNode) -> bool:
    """Return whether a node is in a function or lambda, which runs after the rest of the module."""
    return any(isinstance(each, cst.FunctionDef | cst.Lambda) for each in file.ancestors(node))


def is_local(function: cst.FunctionDef, name: str) -> bool:
    """Return whether a name is a variable of a function itself: a parameter, or bound in its body.

    >>> function = definition(File("m.py", b"def f(x):\\n    y = x + scale\\n    return y\\n"), "f")
    >>> [is_local(function, name) for name in ("x", "y", "scale")]
    [True, True, False]
    """
    return name in _parameters(function) or bool(_bindings(function, name))


def is_bound_between(file: File, first: cst.CSTNode, last: cst.CSTNode, name: str) -> bool:
    """Return whether a name is bound between two statements, in the first of them, or anywhere in a loop around it.

    >>> file = File("m.py", b"def f(x):\\n    a = x + 1\\n    x = b = 2\\n    b = x\\n")
    >>> lines = file.module.body[0].body.body
    >>> [is_bound_between(file, lines[0], lines[2], name) for name in ("a", "b", "x", "c")]
    [True, True, True, False]
    """
    around = {id(each) for each in file.loops_around(first)}
    return any(
        file.line_of(first) <= file.line_of(each) < file.line_of(last)
        or any(id(loop) in around for loop in file.loops_around(each))
        for each in _bindings(file.function_of(first) or file.module, name)
    )


def is_left_by_loop(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a name is a variable of loops alone that ended before a node: without a turn it is unbound.

    >>> file = File("m.py", b"def f(parts):\\n    for part in parts:\\n        use(part)\\n    return done\\n")
    >>> [is_left_by_loop(file, file.find(file.module, text)[0], "part") for text in ("use(part)", "done")]
    [False, True]
    """
    function = file.function_of(node)
    if function is None or name in _parameters(function):
        return False
    around = file.loops_around(node)
    bound = _bindings(function, name)
    found = [next((one for one in file.ancestors(each) if isinstance(one, cst.For)), None) for each in bound]
    loops = [loop for loop in found if loop is not None and file.find(loop.target, name)]
    return bool(found) and len(loops) == len(found) and not any(loop in around for loop in loops)


def _parameters(function: cst.FunctionDef) -> set[str]:
    every = function.params
    stars = [each for each in (every.star_arg, every.star_kwarg) if isinstance(each, cst.Param)]
    return {each.name.value for each in (*parameter_nodes(function), *stars)}


def _bindings(scope: cst.CSTNode, name: str) -> Sequence[cst.CSTNode]:
    """Return the nodes in a scope that bind a name: assignments, loops, with, imports, definitions."""
    return _bound_names(scope).get(name, ())


@lru_cache(maxsize=64)  # a search asks for some names of a few functions, again and again
def _bound_names(scope: cst.CSTNode) -> Mapping[str, Sequence[cst.CSTNode]]:
    """Return the nodes in a scope that bind each name, in source order."""
    found: dict[str, list[cst.CSTNode]] = {}

    class Collect(cst.CSTVisitor):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
            if node is not scope:
                found.setdefault(node.name.value, []).append(node)
            return node is scope

        def visit_ClassDef(self, node: cst.ClassDef) -> bool:
            return node is scope

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return False

        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            self._target(node.target)

        def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
            self._target(node.target)

        def visit_For(self, node: cst.For) -> None:
            self._target(node.target)

        def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
            self._target(node.target)

        def visit_AsName(self, node: cst.AsName) -> None:
            self._target(node.name)

        def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
            if node.asname is None:
                found.setdefault(node.evaluated_name.split(".")[0], []).append(node)

        def _target(self, target: cst.CSTNode) -> None:
            if isinstance(target, cst.Name):
                found.setdefault(target.value, []).append(target)
            elif isinstance(target, cst.Tuple | cst.List):
                for element in target.elements:
                    self._target(element.value)

    scope.visit(Collect())
    return found


def is_of_script(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a name is a global that no function of the file reads, and a node is in a function.

    >>> file = File("m.py", b"def f(x):\\n    return x + 1\\ndevice = 'cuda'\\ny = f(z.to(device))\\n")
    >>> is_of_script(file, file.find(file.module, "x + 1")[0], "device")
    True
    """
    function = file.function_of(node)
    if function is None or not name.isidentifier() or is_local(function, name):
        return False
    return all(file.function_of(each) is None for each in _uses(file, file.module, name))


def knows(file: File, function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    """Return whether a function or a lambda binds or reads a name.

    >>> file = File("m.py", b"def f(x):\\n    return x + scale\\n")
    >>> function = definition(file, "f")
    >>> [knows(file, function, name) for name in ("x", "scale", "device")]
    [True, True, False]
    """
    return bool(_uses(file, function, name))


def _uses(file: File, within: cst.CSTNode, name: str) -> list[cst.BaseExpression]:
    """Return where a name is bound or read, other than as a keyword or attribute."""
    parents = ((node, file.parent(node)) for node in file.find(within, name))
    return [
        node
        for node, parent in parents
        if node is not (getattr(parent, "keyword", None) or getattr(parent, "attr", None))
    ]


def is_taken_over(file: File, node: cst.CSTNode, attribute: str) -> bool:
    """Return whether the class around a node assigns an attribute what a parameter gives it, or a copy of that.

    >>> lines = b"class A:\\n    def f(self, net, n):\\n        self.a = copy(net).eval()\\n        self.b = L(n)\\n"
    >>> file = File("m.py", lines)
    >>> [is_taken_over(file, file.find(file.module, "n")[0], each) for each in ("self.a", "self.b")]
    [True, False]
    """
    holder = file.class_of(node)
    for given in assigned_values(file, attribute, holder) if holder is not None else ():
        function, value = file.function_of(given), cast("cst.BaseExpression | None", given)
        while isinstance(value, cst.Call):
            if last_name(value.func) in COPIES and value.args:
                value = value.args[0].value
            else:
                value = value.func.value if isinstance(value.func, cst.Attribute) else None
        if function is not None and isinstance(value, cst.Name) and value.value in parameters(function)[1:]:
            return True
    return False
