"""Assignments of attributes that become registrations of buffers."""

from __future__ import annotations

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.sdk import code, register_as_buffer, register_parts


def registered(text: str) -> str | None:
    file = main(text)
    (found,) = (each for each in file.within(file.module) if isinstance(each, cst.Assign | cst.AnnAssign))
    call = register_as_buffer(file, found)
    return code(call) if call is not None else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.mask = ones(3)\n", 'self.register_buffer("mask", ones(3), persistent=False)'),
        ("self.mask: Tensor = ones(3)\n", 'self.register_buffer("mask", ones(3), persistent=False)'),
        ("net.mask = ones(3)\n", 'net.register_buffer("mask", ones(3), persistent=False)'),
        # In the quotes that the file has more of.
        ("self.mask = load('mask')\n", "self.register_buffer('mask', load('mask'), persistent=False)"),
        ("self.mask = load('a', \"b\")\n", 'self.register_buffer("mask", load(\'a\', "b"), persistent=False)'),
        ("self.mask: Tensor\n", None),
        ("self.mask = self.copy = ones(3)\n", None),
        ("mask = ones(3)\n", None),
        ("self.mask, self.bias = ones(3)\n", None),
        ("self.net.mask = ones(3)\n", None),
    ],
)
def test_one_attribute_of_one_name_becomes_a_buffer(text: str, expected: str | None) -> None:
    assert registered(text) == expected


LONG = """\
class Net:
  def __init__(self, n):
    self.mask = torch.tensor(
      [  # of both
        # the first
        [0, n],
        [n, 0],
      ],
      dtype=torch.bool)
    self.text = load('''a
  b''', n)
"""
REGISTERED = """\
class Net:
  def __init__(self, n):
    self.register_buffer(
      'mask',
      torch.tensor(
        [  # of both
          # the first
          [0, n],
          [n, 0],
        ],
        dtype=torch.bool),
      persistent=False,
    )
    self.register_buffer('text', load('''a
  b''', n), persistent=False)
"""


def test_a_value_of_several_lines_is_indented_and_a_string_is_not() -> None:
    file = main(LONG)
    found = [each for each in file.within(file.module) if isinstance(each, cst.Assign)]
    calls = {each: register_as_buffer(file, each) for each in found}
    assert file.replace({each: cst.Expr(call) for each, call in calls.items() if call is not None}).code == REGISTERED


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "self.a, self.b = f(x)",
            ["a, b = f(x)", *(f"self.register_buffer('{n}', {n}, persistent=False)" for n in "ab")],
        ),
        ("self.a, self.n = f(x)", ["a, self.n = f(x)", "self.register_buffer('a', a, persistent=False)"]),
        ("self.a, n = f(a, x.b)", ["a_, n = f(a, x.b)", "self.register_buffer('a', a_, persistent=False)"]),
        ("self.m, self.n = f(x)", []),
        ("self.a, *self.b = f(x)", []),
        ("self.a, self.b = f(self.b)", []),
        ("self.a, self.b = x", []),
        ("self.a, self.n = 0, *x", []),
        ("self.a, self.n = self.n = f(x)", []),
    ],
)
def test_parts_of_what_a_call_returns_become_buffers(text: str, lines: list[str]) -> None:
    file = main(f"def g(self, x):\n    {text}\n")
    (found,) = (each for each in file.within(file.module) if isinstance(each, cst.Assign))
    assert [each.replace('"', "'") for each in register_parts(file, found, ["a", "b"])] == lines
