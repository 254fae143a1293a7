"""What speaks against a new buffer in casts of modules, and in loops over their buffers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from objection_cases import BUFFER, NET, found, strengths
from sample_report import failure

from devfix.model import NameRef, Operand, ScopeVariable


@pytest.mark.parametrize(
    "cast",
    ["net.half()", "net.bfloat16()", "net.to(torch.float16)", "net.to('cuda', dtype=torch.half)", "net.double()"],
)
def test_a_cast_of_a_module_reaches_a_buffer(cast: str) -> None:
    text = f"from net import Net\nnet = Net()\n{cast}\n"
    assert strengths(NET, BUFFER, {"other.py": text}) == ["strong"]
    assert strengths(NET, BUFFER, {"other.py": text}, dtype="torch.int64") == []
    assert strengths(NET, BUFFER, {"other.py": "from net import Net\nnet = Net().half()\n"}) == ["strong"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("weight = torch.ones(3).half()\nnet = Net()\nnet.to(weight)\n", ["strong"]),
        ("net = Net()\nnet.to(device)\n", []),
        ("def small(thing):\n    return thing.half()\nsmall(Net())\n", ["strong"]),
        ("def small(thing):\n    return thing.half()\nnet = Net().eval()\nsmall(net)\n", ["strong"]),
        ("def small(thing):\n    return thing.half()\nsmall(torch.ones(3))\n", []),
    ],
)
def test_a_cast_that_does_not_name_the_module_or_the_type(text: str, expected: list[str]) -> None:
    assert strengths(NET, BUFFER, {"other.py": f"import torch\nfrom net import Net\n{text}"}) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x.copy_(saved[name])", ["strong"]),
        ("x.copy_(y)", []),
        ("saved[name] = x", ["weak"]),
        ("if name in saved: x.copy_(saved[name])", []),
        ("if name in y: x.copy_(saved[name])", ["strong"]),
        ("if name in y: x.data = x.index_select(y[name])", []),
        ("if name in y: x.data = x.index_select(y[name])\n        else: x.zero_()", ["weak"]),
        ("if x in y: x.data = x.index_select(0, y)", ["weak"]),
        ("if name in y: x.data = x.index_select(y[name])\n        net.shrink(name)", []),
        ("if name in y: x.data = x.index_select(y[name])\n        net.shrink(x)", ["weak"]),
    ],
)
def test_a_loop_that_asks_for_each_buffer_by_name(line: str, expected: list[str]) -> None:
    text = f"def pull(net, saved, y):\n    for name, x in net.named_buffers():\n        {line}\n"
    assert strengths(NET, BUFFER, {"pull.py": text}) == expected


@pytest.mark.parametrize("made", ["Net()", "Other(Net())", "saved.module", "Other()"])
def test_a_loop_over_the_buffers_of_a_module_of_another_class(made: str) -> None:
    text = f"from net import Net\nthing = {made}\nfor name, x in thing.named_buffers():\n    x.copy_(saved[name])\n"
    assert strengths(NET, BUFFER, {"pull.py": text}) == ([] if made == "Other()" else ["strong"])
    beside = text.replace("thing.named_buffers()", "zip(saved, thing.buffers())")
    assert strengths(NET, BUFFER, {"pull.py": beside}) == []


def test_a_loop_over_buffers() -> None:
    text = "def average(a, b):\n    for x, y in zip(a.buffers(), b.buffers()):\n        x.lerp_(y, 0.1)\n"
    assert strengths(NET, BUFFER, {"ema.py": text}, dtype="torch.int64") == ["strong"]
    assert strengths(NET, BUFFER, {"ema.py": text}) == ["weak"]


def test_a_cast_of_a_module_that_is_made_of_other_classes() -> None:
    others = "import torch\n\n\nclass Other(torch.nn.Module):\n    pass\n\n\nother = Other()\nother.to(torch.float16)\n"
    assert found(NET, BUFFER, {"other.py": others}) == []
    holder = "from net import Net\n\n\ndef backbone():\n    return Net()\n"
    whole = "from holder import backbone\n\nwhole = Sequential(backbone())\nwhole.half()\n"
    assert strengths(NET, BUFFER, {"holder.py": holder, "whole.py": whole}) == ["strong"]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ([("thing", "Net")], ["strong"]),
        ([("thing", "acme.Kernel")], []),
        ([("thing", "acme.Wrapper"), ("thing.inner", "net.Net")], ["strong"]),
        ([("thing", "")], ["strong"]),
    ],
)
def test_a_cast_of_a_module_of_the_failure(scope: list[tuple[str, str]], expected: list[str]) -> None:
    """One of PyTorch's has no class of its own, and may contain any other: a `Sequential`."""
    held = Operand("other", "cpu", "torch.float32", (4,), (NameRef(0, "self.scale"),))
    modules = (ScopeVariable(name, "module", "cuda:0", kind, classes=(kind,) if kind else ()) for name, kind in scope)
    failed = replace(failure(), operands=(held,), frames=(replace(failure().frames[-1], scope=tuple(modules)),))
    text = "from net import Net\n\ndef shrink():\n    thing = load()\n    thing.half()\n"
    assert strengths(NET, BUFFER, {"other.py": text}, failed=failed) == expected


@pytest.mark.parametrize(("base", "expected"), [("torch.nn.Module", []), ("Net", ["strong"])])
def test_a_module_that_casts_itself(base: str, expected: list[str]) -> None:
    """It is `self`, as the module of the failure is in its own methods."""
    held = Operand("other", "cpu", "torch.float32", (4,), (NameRef(0, "self.scale"),))
    seen = replace(failure().frames[-1], scope=(ScopeVariable("self", "module", "cuda:0", "Net"),))
    failed = replace(failure(), operands=(held,), frames=(seen,))
    text = f"from net import Net\n\nclass Other({base}):\n    def shrink(self):\n        self.half()\n"
    assert strengths(NET, BUFFER, {"other.py": text}, failed=failed) == expected
