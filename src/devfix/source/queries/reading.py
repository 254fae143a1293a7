"""Find definitions, assignments and bindings in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devfix.source import File, normalize
from devfix.source.parsed_module import statements_of

Definition = cst.FunctionDef | cst.ClassDef
COMPREHENSION = re.compile(r"((^|\.)(<locals>\.)?<(listcomp|dictcomp|setcomp|genexpr)>)+$")


def definition(file: File, name: str) -> Definition | None:
    """Return the function or class with a dotted name ("Model.forward"); None if there is none.

    Of several with one name the last is returned, as in Python; for a comprehension, its function.

    >>> file = File("m.py", b"class Model:\\n    def forward(self, x):\\n        return x\\n")
    >>> type(definition(file, "Model")).__name__, definition(file, "Model.forward").name.value
    ('ClassDef', 'forward')
    >>> definition(file, "Model.backward") is None
    True
    """
    scope: cst.CSTNode = file.module
    for part in enclosing(name).replace(".<locals>", "").split("."):
        found = [each for each in _definitions(scope) if each.name.value == part]
        if not found:
            return None
        scope = found[-1]
    assert isinstance(scope, Definition)
    return scope


def enclosing(function: str) -> str:
    """Return the function that contains a comprehension, as which it runs since Python 3.12; others unchanged.

    >>> enclosing("solve.<locals>.<genexpr>"), enclosing("Net.forward"), enclosing("<listcomp>")
    ('solve', 'Net.forward', '<module>')
    """
    return COMPREHENSION.sub("", function) or "<module>"


def is_in_constructor(function: str) -> bool:
    """Return whether the name of a running function is that of a constructor, or of a comprehension in one.

    >>> is_in_constructor("Net.__init__"), is_in_constructor("Net.__init__.<locals>.<listcomp>")
    (True, True)
    """
    return enclosing(function).rpartition(".")[2] == "__init__"


def is_comprehension(function: str) -> bool:
    """Return whether the name of a running function is that of a comprehension."""
    return COMPREHENSION.search(function) is not None


def _definitions(scope: cst.CSTNode) -> Iterator[Definition]:
    """Yield the functions and classes that a scope defines, including its branches and loops."""
    for child in statements_of(scope):
        if isinstance(child, Definition):
            yield child
        else:
            yield from _definitions(child)


def assignments(file: File, target: str, within: cst.CSTNode | None = None) -> list[cst.Assign | cst.AnnAssign]:
    """Return the statements that assign a name or attribute, in source order.

    `self.a, self.b = f()` does not count: it has no separate value for either.

    >>> file = File("m.py", b"def set(self):\\n    self.mask = make()\\n    self.mask: T = None\\n")
    >>> [file.code(each) for each in assignments(file, "self.mask")]
    ['self.mask = make()', 'self.mask: T = None']
    """
    wanted = normalize(target)
    found: list[cst.Assign | cst.AnnAssign] = []
    for node in file.within(within or file.module):
        if isinstance(node, cst.Assign):
            targets = [each.target for each in node.targets]
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            targets = [node.target]
        else:
            continue
        if any(normalize(file.code(each)) == wanted for each in targets):
            found.append(node)
    return found


def assigned_values(file: File, target: str, within: cst.CSTNode | None = None) -> list[cst.BaseExpression]:
    """Return what is assigned to a name or attribute, in source order, also by `self.a, self.b = x, y`.

    >>> file = File("m.py", b"def set(self, n):\\n    self.mask, self.n = make(), n\\n    self.mask: T = None\\n")
    >>> [file.code(each) for each in assigned_values(file, "self.mask")]
    ['make()', 'None']
    """
    wanted = normalize(target)
    return [
        value
        for node in file.within(within or file.module)
        if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None
        for each, value in _assigned_pairs(node, node.value)
        if normalize(file.code(each)) == wanted
    ]


def has_certainly_run(file: File, earlier: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a statement that stands above a node has run whenever the node does: its block is around both.

    >>> file = File("m.py", b"if a:\\n    x = 1\\ny = 2\\nz = 3\\n")
    >>> x, y, z = (assignments(file, name)[0] for name in "xyz")
    >>> has_certainly_run(file, x, z), has_certainly_run(file, y, z)
    (False, True)
    """
    block = next(each for each in file.ancestors(earlier) if isinstance(each, cst.BaseSuite | cst.Module))
    return any(each is block for each in file.ancestors(node))


def _assigned_pairs(
    node: cst.Assign | cst.AnnAssign, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Yield each target of an assignment with its value, and elements of a tuple with those of the value."""
    for target in assigned_targets(node):
        sides = target, value
        parts = [side.elements if isinstance(side, cst.Tuple | cst.List) else () for side in sides]
        is_starred = any(isinstance(each, cst.StarredElement) for part in parts for each in part)
        if not is_starred and len(parts[0]) == len(parts[1]):
            yield from ((one.value, other.value) for one, other in zip(*parts, strict=True))
        yield target, value


def assigned_targets(node: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """Return what an assignment or a loop assigns to, or the assignments in a line of simple statements.

    >>> file = File("m.py", b"self.a = b = f(); c: int = 1\\n")
    >>> [file.code(each) for each in assigned_targets(file.module.body[0])]
    ['self.a', 'b', 'c']
    """
    if isinstance(node, cst.SimpleStatementLine):
        return [target for each in node.body for target in assigned_targets(each)]
    if isinstance(node, cst.Assign):
        return [each.target for each in node.targets]
    return [node.target] if isinstance(node, cst.AnnAssign | cst.For) else []


def parameters(function: cst.FunctionDef) -> list[str]:
    """Return the names of a function's parameters, in order, without `*args` and `**kwargs`.

    >>> parameters(definition(File("m.py", b"def f(self, x, *rest, device=None): pass\\n"), "f"))
    ['self', 'x', 'device']
    """
    return [each.name.value for each in parameter_nodes(function)]


def parameter_nodes(function: cst.FunctionDef) -> list[cst.Param]:
    """Return a function's parameters, in order, without `*args` and `**kwargs`.

    >>> found = parameter_nodes(definition(File("m.py", b"def f(x, *rest, device=None): pass\\n"), "f"))
    >>> [(each.name.value, each.default is not None) for each in found]
    [('x', False), ('device', True)]
    """
    every = function.params
    return [*every.posonly_params, *every.params, *every.kwonly_params]


def method_call_on(file: File, node: cst.CSTNode | None) -> cst.Call | None:
    """Return the call of a method on an expression; None if there is none.

    >>> file = File("m.py", b"y = f(x).float() + g(x)\\n")
    >>> call = method_call_on(file, file.find(file.module, "f(x)")[0])
    >>> file.code(call), method_call_on(file, file.find(file.module, "g(x)")[0])
    ('f(x).float()', None)
    """
    method = file.parent(node) if node is not None else None
    call = file.parent(method) if isinstance(method, cst.Attribute) and method.value is node else None
    return call if isinstance(call, cst.Call) and call.func is method else None


def reads_of(file: File, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return where the result of an expression is read: the expression itself, or the name that it is assigned to.

    Only reads in the function that assigns the name are found.

    >>> file = File("m.py", b"state = load(path)\\nmodel.load_state_dict(state)\\n")
    >>> [file.code(file.parent(file.parent(node))) for node in reads_of(file, file.find(file.module, "load(path)")[0])]
    ['model.load_state_dict(state)']
    """
    parent = file.parent(value)
    if not isinstance(parent, cst.Assign | cst.AnnAssign):
        return [value]
    targets = [each.target for each in parent.targets] if isinstance(parent, cst.Assign) else [parent.target]
    found = [node for target in targets for node in file.find(file.module, file.code(target)) if is_read(file, node)]
    return [node for node in found if file.function_of(node) is file.function_of(value)]


def is_read(file: File, node: cst.CSTNode) -> bool:
    """Return whether an expression is read: not assigned, and not a plain word.

    Such words are the `mask` of `f(mask=1)` and of `x.mask`.
    """
    parent = file.parent(node)
    return not is_given(file, node) and node not in (getattr(parent, "attr", None), getattr(parent, "keyword", None))


def is_given(file: File, node: cst.CSTNode) -> bool:
    """Return whether an expression, or an element of it, is bound, changed or deleted at its place."""
    parent = file.parent(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        return is_given(file, parent)
    if isinstance(parent, cst.Tuple | cst.List | cst.BaseElement):
        return is_given(file, parent)
    return node in (getattr(parent, "target", None), getattr(parent, "name", None))
