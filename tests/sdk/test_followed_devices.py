"""Whose device a tensor was given: read from a tensor, and handed on by names and by calls of functions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import meeting, place

from devfix.model import Frame, ScopeVariable
from devfix.sdk import Sources, find_followed

INDEX = ScopeVariable("index", "tensor", "cpu")
STORED = ScopeVariable("self.index", "tensor", "cpu")
MAKE = "def make(n, device=None):\n    return torch.zeros(n, device=device)\n\n\n"


def followed_name(text: str, *calls: tuple[str, str]) -> str | None:
    """The tensor that is followed; each call is a function and a text in it, the one that makes the tensor first."""
    places = [place(text, call, function, "main.py") for function, call in calls]
    diagnosis, _ = meeting("x + mask", "x + mask")
    failure = replace(diagnosis.failure, frames=tuple(Frame(each, (INDEX, STORED)) for each in places))
    found = find_followed(failure, places, Sources({"main.py": text.encode()}.get))
    return found.expression if found is not None else None


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("torch.zeros(3, device=index.device)", "torch.zeros(3, device=index.device)"),
        ("torch.zeros_like(index)", "torch.zeros_like(index)"),
        ("index.new_zeros(3)", "index.new_zeros(3)"),
        ("torch.zeros(3).to(index.device)", "torch.zeros(3)"),
        ("torch.zeros(3).bool().to(device=index.device)", "torch.zeros(3)"),
    ],
)
def test_a_call_that_names_the_device_of_a_tensor(call: str, made: str) -> None:
    assert followed_name(f"def f(index):\n    return {call}\n", ("f", made)) == "index"


@pytest.mark.parametrize(
    "call",
    [
        "torch.zeros(3)",
        'torch.zeros(3, device="cpu")',
        "torch.zeros(3, device=self.device)",
        "torch.zeros(3, device=other.device)",
    ],
)
def test_a_device_that_was_read_from_no_tensor_in_scope(call: str) -> None:
    assert followed_name(f"def f(index):\n    return {call}\n", ("f", call)) is None


def test_a_name_is_what_it_was_given_once() -> None:
    text = "def f(index):\n    device = index.device\n    return torch.zeros(3, device=device)\n"
    call = ("f", "torch.zeros(3, device=device)")
    assert followed_name(text, call) == "index"
    assert followed_name(text.replace("    return", "    device = 'cuda'\n    return"), call) is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("make(3, index.device)", "index"),
        ("make(device=index.device, n=3)", "index"),
        ("make(3)", None),
        ("make(3, **options)", None),
        ("make(3, 'cuda')", None),
        ("cached(3, index.device)", None),
    ],
)
def test_a_caller_passes_the_device(call: str, expected: str | None) -> None:
    text = f"{MAKE}def f(index):\n    return {call}\n"
    assert followed_name(text, ("make", "torch.zeros(n, device=device)"), ("f", call)) == expected


def test_a_device_that_goes_through_two_functions_and_a_name() -> None:
    between = "def between(n, device):\n    return make(n, device)\n\n\n"
    text = f"{MAKE}{between}def f(index):\n    where = index.device\n    return between(3, where)\n"
    calls = [("make", "torch.zeros(n, device=device)"), ("between", "make(n, device)"), ("f", "between(3, where)")]
    assert followed_name(text, *calls) == "index"


def test_a_parameter_that_the_function_assigns_is_its_own() -> None:
    text = "def make(device):\n    device = 'cuda'\n    return torch.zeros(3, device=device)\n\n\n"
    text += "def f(index):\n    return make(index.device)\n"
    assert followed_name(text, ("make", "torch.zeros(3, device=device)"), ("f", "make(index.device)")) is None


HOLDER = """class Mask:
    def __init__(self, index):
        self.index = index
        self.device = index.device

    def make(self, n):
        return torch.zeros(n, device=self.device)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", "self.index"),
        ("= index.device", "= self.index.device", "self.index"),
        ("self.device", "self.where", "self.index"),
        ("        self.index = index\n", "", None),  # in no scope of the other methods
        ("    def make", "    def to(self, device):\n        self.device = device\n\n    def make", None),
        ("    def make", "    def set(self, index):\n        self.index = index\n\n    def make", None),
        ("= index.device", "= torch.device('cpu')", None),
    ],
)
def test_a_device_that_an_object_keeps(old: str, new: str, expected: str | None) -> None:
    text = HOLDER.replace(old, new) if old else HOLDER
    made = next(line.strip().removeprefix("return ") for line in text.splitlines() if "torch.zeros" in line)
    assert followed_name(text, ("make", made)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.index.device", "self.index"),
        ("return self.other.device", None),
        ("if self.index is None:\n            return 'cpu'\n        return self.index.device", None),
    ],
)
@pytest.mark.parametrize("mark", ["property", "functools.lru_cache"])
def test_a_property_that_reads_the_device(body: str, expected: str | None, mark: str) -> None:
    made = "torch.zeros(3, device=self.device)"
    text = f"class A:\n    @{mark}\n    def device(self):\n        {body}\n\n    def f(self):\n        return {made}\n"
    assert followed_name(text, ("f", made)) == (expected if mark == "property" else None)
