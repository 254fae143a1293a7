"""Read and change how code names the device of what it creates or moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devfix.model import is_on_gpu
from devfix.source import File, code, last_name
from devfix.source.edits.expressions import DTYPE, add_keyword, argument, expression, is_move
from devfix.source.queries.reading import assignments, parameter_nodes

LITERAL = re.compile(r"(cuda|mps|xpu|cpu)(:\d+)?")
STEPS = 4  # assignments to follow from one name to the next


def device_text(call: cst.Call) -> str:
    """Return how a call names the device of its result, as source text; "" if it does not.

    `.cuda()` names the current GPU, as `"cuda"` does.

    >>> [device_text(expression(text)) for text in ("x.cuda()", "x.cuda(1)", "x.to(device, torch.half)", "x.cpu()")]
    ['"cuda"', '1', 'device', '"cpu"']
    >>> [device_text(expression(text)) for text in ("torch.zeros(3, device=x.device)", "x.to(torch.half)")]
    ['x.device', '']
    """
    name = last_name(call.func)
    if name == "cpu":
        return '"cpu"'
    given = device_argument(call)
    if given is not None:
        return code(given.value)
    return '"cuda"' if name == "cuda" else ""


def replace_device(call: cst.Call, device: str) -> cst.Call:
    """Return the call with another device for its result; `.cuda()` and `.cpu()` become `.to(…)`.

    >>> code(replace_device(expression("x.cuda(non_blocking=True)"), "y.device"))
    'x.to(y.device, non_blocking=True)'
    >>> code(replace_device(expression("torch.zeros(3, device='cuda')"), "y.device"))
    'torch.zeros(3, device=y.device)'
    """
    given = device_argument(call)
    method = call.func if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("cuda", "cpu") else None
    if method is not None:
        rest = [each for each in call.args if each is not given]
        moved = cst.Arg(expression(device))
        return call.with_changes(func=method.with_changes(attr=cst.Name("to")), args=[moved, *rest])
    if given is not None:
        return call.with_deep_changes(given, value=expression(device))
    return add_keyword(call, "device", device)


def device_argument(call: cst.Call) -> cst.Arg | None:
    """Return the argument with which a call names the device of its result; None if there is none.

    >>> code(device_argument(expression("x.to(device, torch.half)")).value)
    'device'
    """
    name = last_name(call.func)
    found = argument(call, "device", 0 if name in ("to", "cuda", "Generator", "device") else None)
    if found is None or found.keyword is not None or name != "to":
        return found
    return None if DTYPE.search(code(found.value)) else found


def applied_move(file: File, node: cst.CSTNode, failed: cst.CSTNode | None = None) -> cst.Call | None:
    """Return the last call that moves what a call returns, in its expression, to a named device; None if none does.

    What a function of PyTorch computes of it is followed, what another function does is not. What is around an
    expression that `failed` has not run: `torch.eye(3)[labels].to(device)`.

    >>> file = File("m.py", b"import torch\\nmask = torch.triu(torch.ones(3)).to(device).float()\\n")
    >>> file.code(applied_move(file, file.find(file.module, "torch.ones(3)")[0]))
    'torch.triu(torch.ones(3)).to(device)'
    """
    found, before = None, node
    for each in takewhile(lambda around: isinstance(around, cst.BaseExpression | cst.Arg), file.ancestors(node)):
        if each is failed:
            break
        if isinstance(each, cst.Call) and before is each.func:
            found = each if is_move(each) and device_text(each) else found
        elif isinstance(each, cst.Call) and not file.qualified_name(each.func).startswith("torch."):
            break
        before = each
    return found


def conditional_of_alike(file: File, node: cst.CSTNode) -> cst.IfExp | None:
    """Return the conditional expression of which a call is one value, and a call of the same function the other.

    >>> file = File("m.py", b"x = torch.randn(n) if n else torch.randn(1)\\n")
    >>> file.code(conditional_of_alike(file, file.find(file.module, "torch.randn(1)")[0]))
    'torch.randn(n) if n else torch.randn(1)'
    """
    around = file.parent(node)
    if not isinstance(node, cst.Call) or not isinstance(around, cst.IfExp) or around.test is node:
        return None
    other = around.orelse if around.body is node else around.body
    is_alike = isinstance(other, cst.Call) and file.code(other.func) == file.code(node.func)
    return around if is_alike else None


def is_moved_below(file: File, node: cst.CSTNode, line: int, name: str) -> bool:
    """Return whether a name is moved below a node, and above a line of the same function: `model = model.cuda()`.

    In a loop around both, which does not bind the name itself, it was moved in the round before.

    >>> file = File("m.py", b"y = zeros(3)\\nx = x.cuda()\\nx + y\\n")
    >>> [is_moved_below(file, file.find(file.module, "zeros(3)")[0], line, "x") for line in (1, 3)]
    [False, True]
    """
    function = file.function_of(node)
    around = [each for each in file.loops_around(node) if not (isinstance(each, cst.For) and _binds(each, name))]
    return any(
        file.line_of(node) < file.line_of(each) < line and not any(loop in around for loop in file.loops_around(each))
        for each in assignments(file, name, function)
        if each.value is not None and is_move(each.value) and file.function_of(each) is function
    )


def _binds(loop: cst.For, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", code(loop.target)) is not None


def is_moved_late(file: File, attribute: str) -> bool:
    """Return whether a method moves an attribute, which is elsewhere before: `self.total = self.total.to(x.device)`.

    >>> file = File("m.py", b"class A:\\n    def f(self, x):\\n        self.total = self.total.to(x.device)\\n")
    >>> is_moved_late(file, "self.total"), is_moved_late(file, "self.rows")
    (True, False)
    """
    given = [each for each in assignments(file, attribute) if each.value is not None and is_move(each.value)]
    around = [file.function_of(each) for each in given]
    return any(each is not None and each.name.value != "__init__" for each in around)


def literal_device(file: File, node: cst.BaseExpression, steps: int = STEPS) -> str:
    """Return the GPU, else the host, that an expression names: "cuda", "cuda:1", "cpu"; "" if it names none.

    Names are followed to their only assignment or default value; of `"cuda" if … else "cpu"` the GPU is returned.

    >>> file = File("m.py", b'd = "cuda:0" if gpus else "cpu"\\nx = x.to(d)\\ny = y.to(z.device)\\n')
    >>> [literal_device(file, file.find(file.module, text)[-1]) for text in ("d", "z.device")]
    ['cuda:0', '']
    """
    if isinstance(node, cst.SimpleString):
        value = node.evaluated_value
        return value if isinstance(value, str) and LITERAL.fullmatch(value) else ""
    if isinstance(node, cst.IfExp):
        found = [literal_device(file, each, steps) for each in (node.body, node.orelse)]
        return max(found, key=is_on_gpu) if all(found) else ""
    if isinstance(node, cst.BooleanOperation):
        return literal_device(file, node.right, steps)
    if isinstance(node, cst.Call) and last_name(node.func) == "device" and node.args:
        kind = literal_device(file, node.args[0].value, steps)
        index = argument(node, "index", 1)
        return f"{kind}:{code(index.value)}" if kind and index and isinstance(index.value, cst.Integer) else kind
    values = list(_values(file, node)) if steps and isinstance(node, cst.Name | cst.Attribute) else []
    return literal_device(file, values[0], steps - 1) if len(values) == 1 else ""


def literal_node(file: File, node: cst.BaseExpression, steps: int = STEPS) -> cst.SimpleString | None:
    """Return the string literal from which an expression takes its device, following names that are assigned once.

    Returns None if there is none, or if it is the default of a parameter or a choice (`"cuda" if … else "cpu"`).

    >>> file = File("m.py", b'd = torch.device("cuda")\\nx = x.to(d)\\n')
    >>> file.code(literal_node(file, file.find(file.module, "d")[-1]))
    '"cuda"'
    """
    if isinstance(node, cst.SimpleString):
        return node if literal_device(file, node) else None
    if isinstance(node, cst.Call) and last_name(node.func) == "device" and len(node.args) == 1:
        return literal_node(file, node.args[0].value, steps)
    values = list(_values(file, node)) if steps and isinstance(node, cst.Name | cst.Attribute) else []
    if len(values) != 1 or isinstance(file.parent(values[0]), cst.Param):
        return None
    return literal_node(file, values[0], steps - 1)


def _values(file: File, node: cst.Name | cst.Attribute) -> Iterator[cst.BaseExpression]:
    """Yield the possible values of a name: those assigned to it where it is bound, and a parameter's default."""
    text = file.code(node)
    function = file.function_of(node)
    if isinstance(node, cst.Attribute):
        yield from _assigned_values(file, text, file.class_of(node) if text.startswith("self.") else file.module)
        return
    if function is not None:
        parameter = next((each for each in parameter_nodes(function) if each.name.value == text), None)
        inside = list(_assigned_values(file, text, function))
        if parameter is not None or inside:
            yield from inside
            if parameter is not None and parameter.default is not None:
                yield parameter.default
            return
    yield from (value for value in _assigned_values(file, text) if file.function_of(value) is None)


def _assigned_values(file: File, text: str, scope: cst.CSTNode | None = None) -> Iterator[cst.BaseExpression]:
    for each in assignments(file, text, scope):
        if each.value is not None:
            yield each.value


def named_device(file: File, call: cst.Call) -> str:
    """Return the literal device of a call's result: "cuda", "cuda:1", "cpu"; "" if the device is not literal.

    >>> file = File("m.py", b"x = x.cuda()\\ny = y.to(x.device)\\nz = z.cuda(1)\\n")
    >>> [named_device(file, call) for call in file.within(file.module) if isinstance(call, cst.Call)]
    ['cuda', '', 'cuda:1']
    """
    given = device_argument(call)
    if given is None:
        return device_text(call).strip('"')
    if last_name(call.func) == "cuda" and isinstance(given.value, cst.Integer):
        return f"cuda:{given.value.value}"
    return literal_device(file, given.value)
