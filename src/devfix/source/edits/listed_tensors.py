"""Find the tensors that a program creates for one list, such as the weights that it trains by hand."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.source import File, last_name
from devfix.source.edits.expressions import argument, is_move, receiver
from devfix.source.queries.reading import method_call_on

# Functions that draw random numbers. With `device=` they would draw others, so that their results are moved.
DRAWING = frozenset({"rand", "randn", "randint", "randperm", "normal", "bernoulli"})


def created_for_list(file: File, call: cst.Call) -> list[cst.Call]:
    """Return the calls that create the other elements of the list to which a call adds one, written or by `append`.

    >>> lines = b"import torch\\nw = [torch.randn(3).mul(2), torch.zeros(3)]\\nw.append(torch.ones(1))\\n"
    >>> file = File("m.py", lines)
    >>> zeros = next(each for each in file.within(file.module, cst.Call) if last_name(each.func) == "zeros")
    >>> [file.code(each) for each in created_for_list(file, zeros)]
    ['torch.randn(3)']
    """
    element: cst.BaseExpression = call
    while (method := method_call_on(file, element)) is not None:
        element = method
    found = (_creation(each) for each in _elements(file, element))
    return [each for each in found if each is not None and each is not call]


def is_drawn(file: File, call: cst.Call) -> bool:
    """Return whether a call draws a tensor on the host, as one of torch's functions that is given no device.

    >>> file = File("m.py", b"import torch\\na, b = torch.rand(3), torch.rand(3, device='cuda')\\n")
    >>> [is_drawn(file, each) for each in file.within(file.module, cst.Call)]
    [True, False]
    """
    return argument(call, "device") is None and file.qualified_name(call.func) in {f"torch.{each}" for each in DRAWING}


def _elements(file: File, element: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the elements of the list that has one, which it may be alone."""
    outer = file.parent(element)
    listed = file.parent(outer) if isinstance(outer, cst.Element | cst.Arg) else None
    if isinstance(listed, cst.List) and isinstance(file.parent(listed), cst.Assign | cst.AnnAssign):
        yield from (each.value for each in listed.elements if isinstance(each, cst.Element))
    elif isinstance(listed, cst.Call) and last_name(listed.func) == "append":
        within, name = file.function_of(element) or file.module, file.code(listed.func)
        added = (each for each in file.own_nodes(within, cst.Call) if file.code(each.func) == name)
        yield from (each.args[0].value for each in added if len(each.args) == 1)


def _creation(element: cst.BaseExpression) -> cst.Call | None:
    """Return the call from which an element is computed by methods alone: `torch.ones(3)` of `torch.ones(3).mul(2)`."""
    while isinstance(made := receiver(element), cst.Call):
        if is_move(element):
            return None
        element = made
    return element if isinstance(element, cst.Call) else None
