"""What speaks against a device that a cache keeps for later calls."""

from __future__ import annotations

import pytest
from objection_cases import strengths

HEAD = """import torch

class Net(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

"""
GIVEN = ("torch.arange(4)", "torch.arange(4, device=x.device)")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("try:\n            return KNOWN[n]\n        except KeyError:\n            KNOWN[n] = {}", "strong"),
        ("try:\n            return K[n, x.device]\n        except KeyError:\n            K[n, x.device] = {}", ""),
        ("return KNOWN.setdefault(n, {})", "strong"),
        ("return KNOWN.setdefault((n, x.device), {})", ""),
        ("while len(KNOWN) <= n:\n            KNOWN.append({})\n        return KNOWN[n]", "strong"),
        ("while n:\n            KNOWN.append({})\n        return KNOWN[n]", ""),
        ("made = [{}]\n        return made.setdefault(n, made)", ""),
    ],
)
def test_a_value_that_is_stored_for_later_calls(body: str, expected: str) -> None:
    text = HEAD + f"    def ramp(self, x, n):\n        {body.format('torch.arange(4)')}\n"
    assert strengths(text, GIVEN, {}) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [("functools.cached_property", "strong"), ("functools.lru_cache(maxsize=2)", "strong"), ("property", "")],
)
def test_what_a_module_computes_once(decorator: str, expected: str) -> None:
    text = HEAD + f"    @{decorator}\n    def ramp(self):\n        return torch.arange(4)\n"
    for device in ("self.linear.weight.device", "next(self.parameters()).device"):
        change = ("torch.arange(4)", f"torch.arange(4, device={device})")
        assert strengths(text, change, {}) == ([expected] if expected else [])
    weak = ["weak"] if expected else []
    assert strengths(text.replace("(torch.nn.Module)", ""), change, {}) == weak  # which nobody moves


@pytest.mark.parametrize(
    ("test", "expected"),
    [("self.mask is None", ["weak"]), ("self.mask is None or self.mask.device != self.linear.weight.device", [])],
)
def test_what_a_module_keeps_on_the_device_that_it_had_then(test: str, expected: list[str]) -> None:
    text = HEAD + f"    def ramp(self):\n        if {test}:\n            self.mask = torch.arange(4)\n"
    change = ("torch.arange(4)", "torch.arange(4, device=self.linear.weight.device)")
    assert strengths(text, change, {}) == expected
    mixin = text.replace("(torch.nn.Module)", "") + "\n\nclass Whole(Net, torch.nn.Module):\n    pass\n"
    assert strengths(mixin, change, {}) == expected
    registered = text.replace("(4, 4)\n\n", '(4, 4)\n        self.register_buffer("mask", None)\n\n')
    assert strengths(registered, change, {}) == []  # which a move of the module takes along


def test_a_descriptor_that_keeps_results() -> None:
    lazy = (
        "class lazy:\n    def __init__(self, make):\n        self.make = make\n\n"
        "    def __get__(self, instance, owner):\n        if self.name not in instance.__dict__:\n"
        "            instance.__dict__[self.name] = self.make(instance)\n        return instance.__dict__[self.name]\n"
    )
    text = HEAD + "    @lazy\n    def ramp(self):\n        return torch.arange(4)\n"
    change = ("torch.arange(4)", "torch.arange(4, device=self.linear.weight.device)")
    assert strengths(text, change, {"lazy.py": lazy}) == ["strong"]
    assert strengths(text, change, {"lazy.py": lazy.replace("instance.__dict__[self.name] = ", "return ")}) == []


def test_a_decorator_that_keeps_results() -> None:
    keeping = "def kept(f):\n    known = {}\n    def inner(x):\n        key = {}\n        if key not in known:\n"
    keeping += "            known[key] = f(x)\n        return known[key]\n    return inner\n\n@kept\ndef ramp(x):\n"
    text = "import torch\n\n" + keeping + "    return torch.arange(4)\n"
    assert strengths(text.replace("{}", "{}", 1).replace("key = {}", "key = x.shape"), GIVEN, {}) == ["strong"]
    assert strengths(text.replace("key = {}", "key = x.shape, x.device"), GIVEN, {}) == []


@pytest.mark.parametrize(
    ("holder", "value", "expected"),
    [
        ("torch.nn.ParameterDict()", "torch.nn.Parameter(torch.ones(4))", []),
        ("{}", "torch.nn.Parameter(torch.ones(4))", ["strong"]),
        ("torch.nn.ParameterDict()", "torch.ones(4)", ["strong"]),
        ("torch.nn.ModuleDict()", "torch.nn.Linear(2, 2)", []),
    ],
)
def test_what_a_container_of_a_module_registers_goes_with_it(holder: str, value: str, expected: list[str]) -> None:
    first = f"        if key not in self.late:\n            self.late[key] = {value}\n"
    text = (
        f"{HEAD}        self.late = {holder}\n\n    def forward(self, x, key):\n{first}        return self.late[key]\n"
    )
    made = "torch.ones(4)" if "ones" in value else value
    moved = made.replace("(4", "(4, device=x.device") if "ones" in value else f"{made}.to(x.device)"
    assert strengths(text, (made, moved), {}) == expected
