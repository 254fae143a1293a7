"""Infer from the source what kind of value an expression has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, TypeGuard

from devfix.verification.objections.code import called_name

Kind = Literal["tensor", "other", "none", "unknown"]
Function = ast.FunctionDef | ast.AsyncFunctionDef

_PLAIN = frozenset({"float", "int", "bool", "str", "len", "list", "tuple", "dict", "set", "range", "round", "sorted"})
_LEAVES = frozenset({"item", "tolist", "numpy", "split_sizes"})  # methods of a tensor whose result is not one
_NO_TENSORS = re.compile(r"\b(int|float|bool|str|[Ll]ist|[Tt]uple|[Dd]ict|Sequence|ndarray|Iterable)\b")


def kind_of(node: ast.AST | None, function: Function | None = None, depth: int = 3) -> Kind:
    """Return whether an expression in a function is a tensor, surely not one ("other"), None, or unknown."""
    if node is None:
        return "unknown"
    if isinstance(node, ast.Constant):
        return "none" if node.value is None else "other"
    if isinstance(node, ast.List | ast.Dict | ast.Tuple | ast.Set | ast.JoinedStr | ast.ListComp | ast.DictComp):
        return "other"
    if isinstance(node, ast.UnaryOp):
        return kind_of(node.operand, function, depth)
    if isinstance(node, ast.BinOp | ast.IfExp):
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.body, node.orelse)
        kinds = [kind_of(side, function, depth) for side in sides]
        if isinstance(node, ast.IfExp):
            return "other" if "other" in kinds else kinds[0] if kinds[0] == kinds[1] else "unknown"
        return "tensor" if "tensor" in kinds else "other" if kinds == ["other", "other"] else "unknown"
    if isinstance(node, ast.Call):
        return _of_call(node, function, depth)
    if isinstance(node, ast.Name) and function is not None and depth:
        return _of_name(node.id, function, depth)
    return "unknown"


def _of_call(node: ast.Call, function: Function | None, depth: int) -> Kind:
    func = node.func
    if isinstance(func, ast.Name):
        return "other" if func.id in _PLAIN else "unknown"
    if not isinstance(func, ast.Attribute):
        return "unknown"
    root = ast.unparse(func).split(".")[0]
    if func.attr in _LEAVES or root in ("np", "numpy", "math", "random", "json"):
        return "other"
    if root in ("torch", "F"):
        return "unknown" if func.attr in ("device", "Size", "load", "compile") else "tensor"
    return "tensor" if kind_of(func.value, function, depth) == "tensor" else "unknown"


def _of_name(name: str, function: Function, depth: int) -> Kind:
    given = [each.value for each in ast.walk(function) if _gives(each, name)]
    own = [each for each in given if each is None or ast.unparse(each) != f"self.{name}"]  # which is computed again
    kinds = {kind_of(each, function, depth - 1) for each in own or given}
    if kinds:
        return kinds.pop() if len(kinds) == 1 else "unknown"
    return of_parameter(name, function)


def _gives(node: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    return isinstance(node, ast.Assign | ast.AnnAssign) and name in _bound_names(node)


def _bound_names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def of_parameter(name: str, function: Function) -> Kind:
    """Return the kind that a parameter's annotation, or else its default, implies; "unknown" if neither does."""
    annotation = annotation_of(name, function)
    if annotation:
        return "tensor" if "Tensor" in annotation else "other" if _NO_TENSORS.search(annotation) else "unknown"
    default = kind_of(defaults(function).get(name))
    return default if default == "other" else "unknown"


def defaults(function: Function) -> dict[str, ast.expr]:
    """Return the default values of a function's parameters, by name."""
    plain = [*function.args.posonlyargs, *function.args.args]
    found = dict(zip([each.arg for each in plain[::-1]], function.args.defaults[::-1], strict=False))
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return found | {each.arg: value for each, value in named if value}


def annotation_of(name: str, function: Function) -> str:
    """Return the annotation of a parameter; "" if it has none."""
    every = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    found = next((each.annotation for each in every if each.arg == name), None)
    return ast.unparse(found) if found is not None else ""


def is_mixed(annotation: str) -> bool:
    """Return whether an annotation allows a tensor and something else, None left out.

    >>> [is_mixed(each) for each in ("Tensor", "Union[np.ndarray, torch.Tensor]", "Optional[Tensor]", "float")]
    [False, True, False, False]
    """
    return "Tensor" in annotation and _NO_TENSORS.search(annotation) is not None


def parameters(function: Function) -> list[str]:
    """Return the parameters that may be passed by position, without `self` or `cls`."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_of_numbers(node: ast.AST | None, function: Function | None = None, depth: int = 3) -> bool:
    """Return whether an expression is surely a number or a list of numbers, or a tensor in place of them.

    A parameter is a number if its default is one and it has no other annotation.
    """
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(is_of_numbers(each, function, depth) for each in node.elts)
    if isinstance(node, ast.UnaryOp):
        return is_of_numbers(node.operand, function, depth)
    if isinstance(node, ast.BinOp):
        return all(is_of_numbers(each, function, depth) for each in (node.left, node.right))
    if isinstance(node, ast.IfExp):
        sides = [each for each in (node.body, node.orelse) if kind_of(each, function, depth) != "tensor"]
        return bool(sides) and all(is_of_numbers(each, function, depth) for each in sides)
    if isinstance(node, ast.Call):
        called = called_name(node)
        is_name = isinstance(node.func, ast.Name)
        return called in ({"float", "int", "len", "round", "range"} if is_name else {"item", "tolist"})
    if isinstance(node, ast.Name) and function is not None and depth:
        given = [each.value for each in ast.walk(function) if _gives(each, node.id)]
        default = defaults(function).get(node.id) if not given and not annotation_of(node.id, function) else None
        return bool(given or default) and all(is_of_numbers(each, function, depth - 1) for each in given or [default])
    return False


def is_of_arrays(node: ast.AST | None, function: Function | None = None, line: int = 0, depth: int = 3) -> bool:
    """Return whether an expression at a line is surely an array of NumPy, which stays one in what is computed of it."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[0] in ("np", "numpy")
    if isinstance(node, ast.Name) and function is not None and depth and not has_passed_value(node.id, function, line):
        given = reaching_values(node.id, function, line)
        first = [each for each in given if not _is_of_itself(each, node.id)]
        return bool(first) and all(is_of_arrays(each, function, each.lineno, depth - 1) for each in first)
    return False


def _is_of_itself(value: ast.AST | None, name: str) -> bool:
    """Return whether an operator computes a value from the name that gets it: `grid = grid @ turn(angle)`."""
    return isinstance(value, ast.BinOp) and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))


def compares(function: Function, expression: str) -> bool:
    """Return whether a condition in a function mentions an expression: `if weights is not None`."""
    tests = (each.test for each in ast.walk(function) if isinstance(each, ast.If | ast.IfExp | ast.While | ast.Assert))
    return any(ast.unparse(each) == expression for test in tests for each in ast.walk(test))


def is_settled(function: Function, name: str, node: ast.AST | None, given: ast.expr) -> bool:
    """Return whether a test above a node has made a tensor of what is given for a parameter, or ended the function.

    `if isinstance(rows, list): rows = torch.stack(rows)` settles it for lists, `if not torch.is_tensor(rows): return`
    for whatever is no tensor.
    """
    above = (each for each in function.body if isinstance(each, ast.If) and each.lineno < getattr(node, "lineno", 0))
    for each in above:
        asked = _asked_types(each.test, name)
        is_asked = asked is not None and (not asked or _type_names(given) & asked)
        makes = (kind_of(one.value) for one in each.body if _gives(one, name))
        if is_asked and (isinstance(each.body[-1], ast.Return | ast.Raise) or "tensor" in makes):
            return True
    return False


def _asked_types(test: ast.expr, name: str) -> set[str] | None:
    """Return the types that a test asks of a name; an empty set where it asks for no tensor, None for another test."""
    is_denied = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    call = test.operand if isinstance(test, ast.UnaryOp) else test
    if not isinstance(call, ast.Call) or not call.args or ast.unparse(call.args[0]) != name:
        return None
    called = called_name(call)
    types = (
        set(re.findall(r"\w+", ast.unparse(call.args[1]))) if called == "isinstance" and len(call.args) == 2 else set()
    )
    if is_denied:
        return set() if called == "is_tensor" or "Tensor" in types else None
    return types - {"torch", "Tensor"} or None


def _type_names(given: ast.expr) -> set[str]:
    """Return the types of a literal, built in and abstract; of another expression those that it may be."""
    if isinstance(given, ast.Constant):
        return {type(given.value).__name__, "Number"}
    if isinstance(given, ast.Call) and re.match(r"(np|numpy)\.", ast.unparse(given.func)):
        return {"ndarray"}
    sequence = (
        {"list"} if isinstance(given, ast.List | ast.ListComp) else {"tuple"} if isinstance(given, ast.Tuple) else set()
    )
    return (
        {*sequence, "Sequence", "Iterable"} if sequence else {"list", "tuple", "int", "float", "Sequence", "Iterable"}
    )


def named_parameters(function: Function) -> list[str]:
    """Return the parameters that a caller may name, with those that it must."""
    return [*parameters(function), *(each.arg for each in function.args.kwonlyargs)]


def reaching_values(name: str, function: Function, line: int) -> list[ast.expr]:
    """Return the values of a name that may reach a line of a function, without the turns of a loop before it."""
    return [each for each in _reaching(name, function, line) if each is not _PASSED]


def has_passed_value(name: str, function: Function, line: int) -> bool:
    """Return whether a name is a parameter that may still have, at a line, what a caller has passed for it.

    After `x = torch.tensor(x)` it has not; after `x = 2.0 if x is None else x` it may.
    """
    return name in named_parameters(function) and _PASSED in _reaching(name, function, line)


_PASSED = ast.Name("")  # stands for what a caller passes


def _reaching(name: str, function: Function, line: int) -> list[ast.expr]:
    """Return the values of a name that may reach a line, with that of a caller at first."""

    def after(body: list[ast.stmt], known: list[ast.expr]) -> list[ast.expr]:
        for statement in body:
            if statement.lineno > line:
                break
            blocks = [getattr(statement, each, []) for each in ("body", "orelse", "finalbody")]
            if statement.lineno <= line <= (statement.end_lineno or line):
                inner = next((each for each in blocks if each and each[0].lineno <= line <= _end(each)), [])
                return after(inner, known)
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                known = [*_keep(statement, name, known), *values_assigned_to(statement, name)]
            else:
                nested = [each for each in ast.walk(statement) if isinstance(each, ast.Assign | ast.AnnAssign)]
                known = [*known, *(value for each in nested for value in values_assigned_to(each, name))]
        return known

    return after(function.body, [_PASSED])


def _keep(statement: ast.Assign | ast.AnnAssign, name: str, known: list[ast.expr]) -> list[ast.expr]:
    """Return the values that a name may still have after an assignment: all, if another name is assigned."""
    values = list(values_assigned_to(statement, name))
    is_of_itself = any(
        isinstance(each, ast.Name) and each.id == name
        for value in values
        if not isinstance(value, ast.Call)
        for each in ast.walk(value)
    )
    return [each for each in known if not values or (is_of_itself and each is _PASSED)]


def _end(body: list[ast.stmt]) -> int:
    return body[-1].end_lineno or body[-1].lineno


def values_assigned_to(node: ast.Assign | ast.AnnAssign, name: str) -> Iterator[ast.expr]:
    """Yield what a statement assigns to an expression, also as one of several."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if ast.unparse(target) == name and node.value is not None:
            yield node.value
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=False)
            yield from (value for one, value in pairs if ast.unparse(one) == name)
