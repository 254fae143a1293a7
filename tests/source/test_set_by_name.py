"""What a constructor sets by a computed name, and values that its callers give."""

from __future__ import annotations

import textwrap

import pytest

from devfix.source import File
from devfix.source.queries.set_by_name import set_by_name


def found(body: str, name: str, signature: str = "self, steps, betas, **given") -> int:
    text = f"class A:\n    def __init__({signature}):\n{textwrap.indent(textwrap.dedent(body), ' ' * 8)}"
    file = File("m.py", text.encode())
    return len(list(set_by_name(file, file.classes[0], name)))


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("for i in range(3):\n    setattr(self, f'at_{i}', make(i))\n", "at_2", 1),
        ("for i in range(3):\n    setattr(self, f'at_{i}', make(i))\n", "bias", 0),
        ("setattr(self, 'bias', make(steps))\n", "bias", 1),
        ("setattr(self, 'bias', make(steps))\n", "weight", 0),
        ("setattr(self, prefix + '_bias', make(steps))\n", "x_bias", 1),
        ("keep = lambda name, value: setattr(self, name, value.float())\nkeep('a', make(1))\n", "a", 1),
        ("for k, v in {'a': make(1)}.items():\n    setattr(self, k, v)\n", "a", 1),
        ("for k, v in tables(steps).items():\n    setattr(self, k, v)\n", "a", 1),
        ("setattr(other, 'bias', make(steps))\n", "bias", 0),
    ],
)
def test_names_that_are_set(body: str, name: str, expected: int) -> None:
    assert found(body, name) == expected


@pytest.mark.parametrize(
    "body",
    [
        "for k, v in given.items():\n    setattr(self, k, v)\n",
        "for k, v in sorted(given.items()):\n    setattr(self, k, v)\n",
        "[setattr(self, k, v) for k, v in zip(NAMES, betas)]\n",
        "setattr(self, 'a', betas)\n",
        "setattr(self, 'a', betas.table)\n",
        "kept = given\nsetattr(self, 'a', kept['a'])\n",
        "for v in (make(1), betas):\n    setattr(self, 'a', v)\n",
    ],
)
def test_values_that_are_given(body: str) -> None:
    assert found(body, "a") == 0


def test_another_method() -> None:
    file = File("m.py", b"class A:\n    def fit(self):\n        setattr(self, 'a', make(1))\n")
    assert list(set_by_name(file, file.classes[0], "a")) == []
