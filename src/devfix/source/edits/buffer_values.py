"""Tell from the source what is no tensor, so that a buffer would reject it."""

from __future__ import annotations

import libcst as cst

from devfix.source import File, Sources, code, last_name
from devfix.source.edits.expressions import argument
from devfix.source.matches import match
from devfix.source.queries.reading import assignments, has_certainly_run, parameter_nodes

# What is no tensor; a method that is named `float` casts one.
NO_TENSORS = (
    *("True", "False", "float($$$)", "int($$$)", "bool($$$)", "str($$$)", "len($$$)", "array($$$)"),
    *("$_.item($$$)", "$_.tolist($$$)", "$_.numpy($$$)", "$_.array($$$)"),
)


def is_no_tensor(value: cst.BaseExpression | None) -> bool:
    """Return whether a value is surely neither a tensor nor None: a number, a string.

    >>> [is_no_tensor(expression(text)) for text in ("-0.5", "x.item()", "None", "scale", "x.float()")]
    [True, True, False, False, False]
    """
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    return isinstance(value, cst.BaseNumber | cst.BaseString) or match(value, *NO_TENSORS) is not None


def may_be_a_number(file: File, assignment: cst.Assign | cst.AnnAssign, sources: Sources) -> bool:
    """Return whether an assigned value is a parameter that need not be a tensor.

    Its annotation or its default decides; where that is None, what the repository passes when it calls the class does.
    One for which the function has computed a tensor before is one.

    >>> file = File("m.py", b"def f(self, x, y=1, z: Tensor = None):\\n    self.x = x; self.y = y; self.z = z\\n")
    >>> [may_be_a_number(file, assignments(file, f"self.{name}")[0], source) for name in "xyz"]
    [False, True, False]
    """
    function, value, holder = file.function_of(assignment), assignment.value, file.class_of(assignment)
    if function is None or not isinstance(value, cst.Name):
        return False
    nodes = parameter_nodes(function)
    node = next((each for each in nodes if each.name.value == value.value), None)
    if node is None or node.default is None or _is_computed_before(file, value.value, function, assignment):
        return False
    if node.annotation is not None or code(node.default) != "None" or holder is None:
        return node.annotation is None or "Tensor" not in file.code(node.annotation.annotation)
    name, place = holder.name.value, nodes.index(node) - 1
    calls = (call for other in sources.containing(f"{name}(") for call in other.within(other.module, cst.Call))
    given = (argument(call, value.value, place) for call in calls if last_name(call.func) == name)
    return any(each is not None and is_no_tensor(each.value) for each in given)


def _is_computed_before(file: File, name: str, function: cst.FunctionDef, node: cst.CSTNode) -> bool:
    """Return whether what a name was last given in a function, on each way to a node, is a result of PyTorch."""
    line, given = file.line_of(node), assignments(file, name, function)
    before = [each for each in given if file.line_of(each) < line]
    last = before[-1] if before and has_certainly_run(file, before[-1], node) else None
    made = last.value if last is not None else None
    return isinstance(made, cst.Call) and file.qualified_name(made.func).startswith("torch.")
