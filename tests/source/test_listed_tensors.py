"""The tensors that a program creates for one list, written as its elements or appended one after the other."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.sdk import File, last_name
from devfix.source.edits.listed_tensors import created_for_list


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("w = [torch.zeros(3), torch.ones(2)]", ["torch.ones(2)"]),
        ("w = [torch.zeros(3).mul(2), torch.randn(2).requires_grad_()]", ["torch.randn(2)"]),
        ("w.append(torch.zeros(3))\nw.append(torch.randn(2))", ["torch.randn(2)"]),
        ("w.append(torch.zeros(3))\nv.append(torch.randn(2))", []),
        ("w.append(torch.zeros(3))\ndef f():\n    w.append(torch.randn(2))", []),
        ("w = [torch.zeros(3), x, torch.ones(2).cuda(), x.new_ones(2)]", ["x.new_ones(2)"]),
        ("w = (torch.zeros(3), torch.ones(2))", []),  # which is unpacked, as `a, b = …`
        ("torch.cat([torch.zeros(3), torch.ones(2)])", []),  # other arguments of a call are given a device with it
        ("w = torch.zeros(3)", []),
        ("f(torch.zeros(3), torch.ones(2))", []),
    ],
)
def test_finds_what_is_created_for_the_same_list(source: str, others: list[str]) -> None:
    file = File("m.py", f"import torch\n{source}\n".encode())
    zeros = next(each for each in file.within(file.module, cst.Call) if last_name(each.func) == "zeros")
    assert [file.code(each) for each in created_for_list(file, zeros)] == others
