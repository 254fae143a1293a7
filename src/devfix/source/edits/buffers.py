"""Replace plain tensor attributes by buffers, which `.to()` moves."""

from __future__ import annotations

from collections.abc import Container, Sequence

import libcst as cst
from libcst import matchers

from devfix.source import File, code
from devfix.source.edits.expressions import expression, remove_keyword
from devfix.source.matches import match
from devfix.source.queries.naming import imported_name
from devfix.source.queries.reading import is_given, is_read


def register_as_buffer(file: File, assignment: cst.Assign | cst.AnnAssign, persistent: bool = False) -> cst.Call | None:
    """Return the call for `self.name = value`: `self.register_buffer("name", value, persistent=False)`.

    It replaces the assignment's expression statement: `file.replace({assignment: cst.Expr(call)})`. A buffer that is
    not persistent is not in the state dict, like a plain attribute, so old checkpoints load. Returns None if the
    statement assigns to something else than one attribute of one name.

    >>> file = File("m.py", b"self.mask = torch.ones(3)\\n")
    >>> code(register_as_buffer(file, assignments(file, "self.mask")[0]))
    'self.register_buffer("mask", torch.ones(3), persistent=False)'
    """
    targets: Sequence[cst.AssignTarget | cst.AnnAssign]
    targets = assignment.targets if isinstance(assignment, cst.Assign) else [assignment]
    target, value = targets[0].target, assignment.value
    if len(targets) != 1 or value is None or not isinstance(target, cst.Attribute):
        return None
    if not isinstance(target.value, cst.Name):
        return None
    name = cst.SimpleString(f"{file.quote}{target.attr.value}{file.quote}")
    call = _registration(target.value, [cst.Arg(name), cst.Arg(value)], persistent)
    return _one_argument_a_line(call, file.module.default_indent) if _has_breaks(value) else call


def register_set(call: cst.Call) -> cst.Call:
    """Return the call that registers what `setattr(self, name, value)` sets, outside of the state dict.

    >>> code(register_set(expression("setattr(self, f'at_{i}', make(i))")))
    "self.register_buffer(f'at_{i}', make(i), persistent=False)"
    """
    owner, *given = call.args
    return _registration(owner.value, given, persistent=False)


def _registration(owner: cst.BaseExpression, given: Sequence[cst.Arg], persistent: bool) -> cst.Call:
    """Return the call that registers a buffer of a name and a value."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    kept = [] if persistent else [cst.Arg(cst.Name("False"), cst.Name("persistent"), equal=equal)]
    last = given[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return cst.Call(cst.Attribute(owner, cst.Name("register_buffer")), [*given[:-1], last, *kept])


def _has_breaks(value: cst.BaseExpression) -> bool:
    return bool(matchers.findall(value, matchers.ParenthesizedWhitespace()))


def _one_argument_a_line(call: cst.Call, indent: str) -> cst.Call:
    """Return a call with each argument on its own lines, as formatters write one whose value has several."""
    between, last = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(each)) for each in (indent, "")
    )
    commas = [cst.Comma(whitespace_after=between)] * (len(call.args) - 1) + [cst.Comma(whitespace_after=last)]
    deeper = _Deeper(indent)
    args = [
        cst.ensure_type(each.visit(deeper), cst.Arg).with_changes(comma=comma)
        for each, comma in zip(call.args, commas, strict=True)
    ]
    return call.with_changes(args=args, whitespace_before_args=between)


class _Deeper(cst.CSTTransformer):
    """Indents the lines that an expression continues on."""

    def __init__(self, indent: str) -> None:
        super().__init__()
        self._indent = indent

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        """Return the break with more whitespace before the next line, and before comments on lines of their own."""
        comments = [
            each.with_changes(whitespace=self._after(each.whitespace)) if each.comment else each
            for each in updated_node.empty_lines
        ]
        return updated_node.with_changes(last_line=self._after(updated_node.last_line), empty_lines=comments)

    def _after(self, whitespace: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
        return cst.SimpleWhitespace(f"{self._indent}{whitespace.value}")


def register_parts(file: File, assignment: cst.Assign, names: Container[str]) -> list[str]:
    """Return the lines that assign one by one what `self.a, self.b = x, y` does, some of the names by a buffer.

    What one call returns is given local names first. Returns none if it assigns something else than attributes of one
    name, or a value reads one of them.

    >>> file = File("m.py", b"self.mean, self.count = torch.zeros(3), 0\\nself.mean, self.count = fit(x)\\n")
    >>> one, other = [each.body[0] for each in file.module.body]
    >>> print("\\n".join(register_parts(file, one, ["mean"])))
    self.register_buffer("mean", torch.zeros(3), persistent=False)
    self.count = 0
    >>> print("\\n".join(register_parts(file, other, ["mean"])))
    mean, self.count = fit(x)
    self.register_buffer("mean", mean, persistent=False)
    """
    target, value = assignment.targets[0].target, assignment.value
    if len(assignment.targets) != 1 or not isinstance(target, cst.Tuple):
        return []
    parts = [each.value for each in target.elements]
    is_starred = any(isinstance(each, cst.StarredElement) for each in target.elements)
    if is_starred or any(file.find(value, file.code(each)) for each in parts):
        return []
    if isinstance(value, cst.Call):
        return _register_returned(file, parts, value, names)
    if not isinstance(value, cst.Tuple) or len(parts) != len(value.elements):
        return []
    if any(isinstance(each, cst.StarredElement) for each in value.elements):
        return []
    return [_assignment_line(file, one, other.value, names) for one, other in zip(parts, value.elements, strict=True)]


def _register_returned(
    file: File, parts: Sequence[cst.BaseExpression], value: cst.Call, names: Container[str]
) -> list[str]:
    """Return the lines for `self.a, self.b = f(x)`: `a, b = f(x)`, then what registers them."""
    scope = file.function_of(value) or file.module
    targets, lines = [], []
    for each in parts:
        name = each.attr.value if isinstance(each, cst.Attribute) else ""
        if name not in names:
            targets.append(file.code(each))
            continue
        local = name
        while any(is_read(file, node) or is_given(file, node) for node in file.find(scope, local)):
            local += "_"
        targets.append(local)
        lines.append(_assignment_line(file, each, cst.Name(local), names))
    return [f"{', '.join(targets)} = {file.code(value)}", *lines] if lines else []


def _assignment_line(file: File, target: cst.BaseExpression, value: cst.BaseExpression, names: Container[str]) -> str:
    """Return the line that assigns a value to an attribute, or registers it if it is one of the names."""
    assert isinstance(target, cst.BaseAssignTargetExpression)
    plain = cst.Assign([cst.AssignTarget(target)], value)
    is_wanted = isinstance(target, cst.Attribute) and target.attr.value in names
    call = register_as_buffer(file, plain) if is_wanted else None
    return file.code(call if call is not None else plain)


def as_parameter(file: File, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the parameter for a tensor that is created to be trained; None if it is not, or the name is not there.

    Where a variable says whether it is (`requires_grad=learned`), it says so of the parameter.

    >>> file = File("net.py", b"from torch import nn, ones; scale = ones(3).requires_grad_(learned)")
    >>> code(as_parameter(file, expression("ones(3).requires_grad_(learned)")))
    'nn.Parameter(ones(3), requires_grad=learned)'
    """
    parameter, tensor, trained = imported_name(file, "torch.nn.Parameter"), "", "True"
    if isinstance(value, cst.Call) and (found := match(value, "$_($$$, requires_grad=$TRAINED, $$$)")):
        tensor, trained = code(remove_keyword(value, "requires_grad")), code(found["TRAINED"])
    elif found := match(value, "$X.requires_grad_($TRAINED)"):
        tensor, trained = code(found["X"]), code(found["TRAINED"])
    elif found := match(value, "$X.requires_grad_()"):
        tensor = code(found["X"])
    if not parameter or not tensor or trained == "False":
        return None
    given = "" if trained == "True" else f", requires_grad={trained}"
    return expression(f"{parameter}({tensor}{given})")
