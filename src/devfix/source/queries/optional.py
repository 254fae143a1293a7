"""Find parameters and attributes that may not be a tensor in other calls: a number, None, a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devfix.source import File, code
from devfix.source.queries.loops import assigned_names
from devfix.source.queries.reading import assigned_values, parameter_nodes

TENSOR_ALONE = re.compile(r"""["']?(torch\.)?(\w*Tensor|nn\.Parameter|Parameter)["']?""")


def may_be_no_tensor(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a name may be something else than a tensor at a node.

    The default or annotation of a parameter decides, and a test for None or for a tensor that comes after the node.
    Returns False if a test around the node, or a test above that assigns the name, excludes it.

    >>> file = File("m.py", b"def f(x, limit=0.5):\\n    return x * limit\\n")
    >>> use = file.find(file.module, "x * limit")[0]
    >>> may_be_no_tensor(file, use, "limit"), may_be_no_tensor(file, use, "x")
    (True, False)
    """
    function = file.function_of(node)
    if function is not None and is_optional(function, name) and not _is_settled(file, function, node, name):
        return True
    return _is_asked_later(file, node, name) and not _is_answered(file, node, name)


def _is_asked_later(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether the code asks, in a node's statement or below, if what a name has there is None or a tensor.

    What other branches of an `if` around the node ask is not asked after it.
    """
    function, first = file.function_of(node), file.line_of(file.statement_of(node) or node)
    asking = re.compile(rf"{re.escape(name)} is (not )?None|(isinstance|(torch\.)?is_tensor)\({re.escape(name)}\W.*")
    aside = {id(each) for branch in _other_branches(file, node) for each in file.within(branch)}
    asks = [
        file.line_of(each)
        for each in file.within(function or file.module)
        if isinstance(each, cst.Comparison | cst.Call) and asking.fullmatch(code(each)) and id(each) not in aside
        if file.function_of(each) is function
    ]
    below = [line for line in asks if line >= first]
    values = [file.line_of(each) for each in assigned_values(file, name, function or file.module)]
    return any(not any(first <= value < line for value in values) for line in below)


def _other_branches(file: File, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the `elif` and `else` of each `if` in whose first branch a node is."""
    child, parent = node, file.parent(node)
    while parent is not None and not isinstance(parent, cst.FunctionDef):
        if isinstance(parent, cst.If) and child is parent.body and parent.orelse is not None:
            yield parent.orelse
        child, parent = parent, file.parent(parent)


def is_told_apart(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether the function around a node asks if a name is of another type, and has no answer at the node.

    An answer is a test around the node, or a test above that assigns the name or ends the function.

    >>> file = File("m.py", b"def f(x, i):\\n  y = x + 1\\n  if isinstance(i, int):\\n    i = to(i)\\n  x[i]\\n")
    >>> [is_told_apart(file, file.find(file.module, text)[0], "i") for text in ("x + 1", "x[i]")]
    [True, False]
    """
    function = file.function_of(node)
    asked = [each for each in file.within(function or node) if _asks_for_another(each, name)]
    return bool(asked) and not any(_answers(file, node, code(each), name) for each in asked)


def _asks_for_another(node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is `isinstance(name, …)` of a type that is no tensor."""
    if not isinstance(node, cst.Call) or code(node.func) != "isinstance" or len(node.args) != 2:
        return False
    return code(node.args[0].value) == name and not re.search(r"Tensor|Parameter", code(node.args[1].value))


def _answers(file: File, node: cst.CSTNode, ask: str, name: str) -> bool:
    """Return whether a question has been answered by no where a node runs."""
    child, parent = node, file.parent(node)
    while parent is not None and not isinstance(parent, cst.FunctionDef):
        if isinstance(parent, cst.If | cst.IfExp) and child is not parent.test:
            test, otherwise = code(parent.test), child is parent.orelse
            if test == (ask if otherwise else f"not {ask}"):
                return True
        if isinstance(parent, cst.IndentedBlock):
            above = parent.body[: list(parent.body).index(child)]  # type: ignore[arg-type]
            if any(_is_answer(file, each, ask, name) for each in above):
                return True
        child, parent = parent, file.parent(parent)
    return False


def _is_answer(file: File, statement: cst.CSTNode, ask: str, name: str) -> bool:
    if not isinstance(statement, cst.If):
        return isinstance(statement, cst.SimpleStatementLine) and _assigns(file, statement, name)
    if code(statement.test) != ask:
        return False
    ends = isinstance(statement.body, cst.IndentedBlock) and any(map(_leaves, statement.body.body))
    return ends or _assigns(file, statement.body, name)


def _leaves(statement: cst.CSTNode) -> bool:
    words = (cst.Return, cst.Raise, cst.Continue, cst.Break)
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], words)


def may_be_left_none(file: File, node: cst.CSTNode, attribute: str) -> bool:
    """Return whether the class around a node sets an attribute to None, and nothing before the node excludes that.

    What excludes it is a test around the node, or a statement above that assigns the attribute in every call.

    >>> file = File("m.py", b"class A:\\n    def f(self, x):\\n        self.y = None\\n        return -x\\n")
    >>> use = file.find(file.module, "-x")[0]
    >>> may_be_left_none(file, use, "self.y"), may_be_left_none(file, use, "self.z")
    (True, False)
    """
    holder, function = file.class_of(node), file.function_of(node)
    if holder is None or function is None or not any(_sets_none(each, attribute) for each in file.within(holder)):
        return False
    return not _is_settled(file, function, node, attribute)


def is_none_otherwise(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a name is a tensor at a node or else None, as nothing before the node says which.

    It is a parameter whose default is None, or an attribute that its class sets to None in other cases.

    >>> file = File("m.py", b"class A:\\n  def __init__(self, w):\\n    self.w = t(w) if w else None\\n"
    ...     b"  def f(self, x, y=None, z=0.5):\\n    return g(x, y, z, self.w)\\n")
    >>> use = file.find(file.module, "g(x, y, z, self.w)")[0]
    >>> [is_none_otherwise(file, use, each) for each in ("x", "y", "z", "self.w")]
    [False, True, False, True]
    """
    holder, function = file.class_of(node), file.function_of(node)
    if function is None or _is_settled(file, function, node, name) or _is_answered(file, node, name):
        return False
    if not name.isidentifier():
        nodes = file.within(holder) if holder is not None and name.startswith("self.") else ()
        return any(_sets_none(each, name) or _sets_either(each, name) for each in nodes)
    given = next((each for each in parameter_nodes(function) if each.name.value == name), None)
    if given is None or not _is_none(given.default):
        return False
    annotation = code(given.annotation.annotation) if given.annotation is not None else "Tensor"
    return "Tensor" in annotation and not re.search(r"\b(int|float|bool|str|list|List|Sequence)\b", annotation)


def _sets_either(node: cst.CSTNode, attribute: str) -> bool:
    """Return whether a node is `self.name = value if test else None`, or the other way round."""
    if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.IfExp):
        return False
    cases = node.value.body, node.value.orelse
    return any(map(_is_none, cases)) and any(code(each.target) == attribute for each in node.targets)


def _sets_none(node: cst.CSTNode, attribute: str) -> bool:
    """Return whether a node is `self.name = None`, or `self.register_buffer("name", None)`."""
    if isinstance(node, cst.Assign):
        return _is_none(node.value) and any(code(each.target) == attribute for each in node.targets)
    if isinstance(node, cst.AnnAssign):
        return _is_none(node.value) and code(node.target) == attribute
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or len(node.args) < 2:
        return False
    holder, _, name = attribute.rpartition(".")
    registers = code(node.func) in (f"{holder}.register_buffer", f"{holder}.register_parameter")
    return registers and code(node.args[0].value)[1:-1] == name and _is_none(node.args[1].value)


def _is_none(node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def is_optional(function: cst.FunctionDef, name: str) -> bool:
    """Return whether a parameter's default or annotation allows something else than a tensor.

    >>> function = cst.parse_statement("def f(a, c: Tensor, d: float | Tensor, b=None, e: torch.Tensor = ORIGIN): ...")
    >>> [each for each in "abcde" if is_optional(function, each)]
    ['b', 'd']
    """
    for each in parameter_nodes(function):
        if each.name.value == name:
            annotation = code(each.annotation.annotation) if each.annotation is not None else ""
            plain = isinstance(each.default, cst.BaseNumber | cst.BaseString) or (
                isinstance(each.default, cst.Name) and each.default.value in ("None", "True", "False")
            )
            return plain or bool(annotation and not TENSOR_ALONE.fullmatch(annotation))
    return False


def may_be_none(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether the code asks if a name or attribute is None, or its default is None, with no answer at a node.

    What the function assigns to it, and what it is assigned to, is None with it. An answer is a test around the node,
    or one above that assigns the name or ends the function.

    >>> file = File("m.py", b"def f(a, i):\\n  a.gpu = i\\n  if a.gpu is not None:\\n    use(i)\\n  load(i)\\n")
    >>> inside, below = [file.find(file.module, text)[0] for text in ("use(i)", "load(i)")]
    >>> may_be_none(file, inside, "a.gpu"), may_be_none(file, below, "a.gpu"), may_be_none(file, below, "i")
    (False, True, True)
    """
    function = file.function_of(node)
    same = {name}
    for each in file.within(function, cst.Assign) if function is not None else ():
        pair = {code(each.value), *(code(target.target) for target in each.targets)}
        same |= pair if name in pair and isinstance(each.value, cst.Name | cst.Attribute) else set()
    roots = {each: file.module if "." in each else function or file.module for each in same}
    asked = any(
        re.fullmatch(rf"{re.escape(each)} is (not )?None", code(test))
        for each, root in roots.items()
        for test in file.within(root, cst.Comparison)
    )
    given = parameter_nodes(function) if function is not None else []
    asked |= any(each.name.value in same and _is_none(each.default) for each in given)
    return asked and not any(_is_answered(file, node, each) for each in same)


def _is_answered(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a test around a node is about a name, or one above for None assigns it or ends the function."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
    child, parent = node, file.parent(node)
    while parent is not None and not isinstance(parent, cst.FunctionDef):
        if isinstance(parent, cst.If | cst.IfExp) and child is not parent.test and word.search(code(parent.test)):
            return True
        if isinstance(parent, cst.BooleanOperation) and child is parent.right and word.search(code(parent.left)):
            return True
        body = list(parent.body) if isinstance(parent, cst.IndentedBlock | cst.Module) else []
        above = body[: next((number for number, each in enumerate(body) if each is child), 0)]
        asking = (each for each in above if isinstance(each, cst.If) and code(each.test) == f"{name} is None")
        if any(_settles(file, each, name) for each in asking):
            return True
        child, parent = parent, file.parent(parent)
    return False


def _is_settled(file: File, function: cst.FunctionDef, node: cst.CSTNode, name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    child, parent = node, file.parent(node)
    while parent is not None and parent is not function.body and parent is not function:
        if isinstance(parent, cst.If | cst.IfExp) and child is not parent.test and word.search(code(parent.test)):
            return True
        if isinstance(parent, cst.IndentedBlock) and _is_settled_above(file, parent, child, name):
            return True
        child, parent = parent, file.parent(parent)
    return _is_settled_above(file, function.body, child, name)


def _is_settled_above(file: File, block: cst.BaseSuite, child: cst.CSTNode, name: str) -> bool:
    """Return whether a statement of a block settles a name before another one of it runs."""
    above = takewhile(lambda each: each is not child, block.body)
    return any(_settles(file, each, name) for each in above)


def _settles(file: File, statement: cst.CSTNode, name: str) -> bool:
    """Return whether the name is a tensor after a statement, which assigns it or ends the function otherwise."""
    if not isinstance(statement, cst.If):
        return isinstance(statement, cst.SimpleStatementLine | cst.With) and _assigns(file, statement, name)
    test = code(statement.test)
    # Operations that need a tensor (`if isinstance(x, Tensor) and x.ndim:`) do not exclude anything after the test.
    tensors = rf"(?<!not )(isinstance|torch\.is_tensor)\({re.escape(name)}(, (torch\.)?Tensor)?\)"
    if not re.search(rf"\b{re.escape(name)}\b", test) or re.search(tensors, test):
        return False
    alone = rf"{re.escape(name)} is None|not (torch\.is_tensor|isinstance)\({re.escape(name)}(, (torch\.)?Tensor)?\)"
    ends = any(isinstance(each, cst.Raise | cst.Return) for each in file.within(statement.body))
    return _assigns(file, statement.body, name) or (ends and re.fullmatch(alone, test) is not None)


def _assigns(file: File, root: cst.CSTNode, name: str) -> bool:
    """Return whether a name, or an attribute as something else than None, is assigned below a node."""
    if "." in name:
        return any(not _is_none(each) for each in assigned_values(file, name, root))
    return name in assigned_names(file, root)
