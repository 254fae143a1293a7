"""The test that guards what a function keeps in a name or attribute, and what is no guard."""

from __future__ import annotations

import textwrap

import pytest

from devfix.source import File
from devfix.source.queries.guarded_caches import GuardedCache, guarded_cache
from devfix.source.queries.reading import assignments, definition


def cache(body: str, name: str = "self.table") -> GuardedCache | None:
    text = f"class Model:\n    def table(self, x):\n{textwrap.indent(body, '        ')}"
    file = File("m.py", text.encode())
    function = definition(file, "Model.table")
    return guarded_cache(file, function, assignments(file, name, function)[-1], name)


@pytest.mark.parametrize(
    ("body", "test", "returns"),
    [
        ("if self.table is None:\n    self.table = f(x)\nreturn self.table\n", "self.table is None", False),
        (
            "if self.table is None or len(self.table) < len(x):\n    self.table = f(x)\n",
            "self.table is None or len(self.table) < len(x)",
            False,
        ),
        ('if not hasattr(self, "table"):\n    self.table = f(x)\n', 'not hasattr(self, "table")', False),
        (
            "if self.table is not None:\n    return self.table\nself.table = f(x)\n",
            "self.table is not None",
            True,
        ),
        ("if self.table is not None:\n    return self.table[:3]\nself.table = f(x)\n", "self.table is not None", True),
    ],
)
def test_guards(body: str, test: str, returns: bool) -> None:
    found = cache(body)
    assert found is not None and (found.file.code(found.test), found.returns) == (test, returns)


@pytest.mark.parametrize(
    "body",
    [
        "self.table = f(x)\n",
        "if x.dim() > 2:\n    self.table = f(x)\n",
        "if self.table is not None:\n    print(self.table)\nself.table = f(x)\n",
        "if self.table is not None:\n    return x\nself.table = f(x)\n",
        "if self.table is not None:\n    self.table += 1\n    return self.table\nself.table = f(x)\n",
        "if self.table is not None:\n    return self.table\nelse:\n    x = x + 1\nself.table = f(x)\n",
        "self.table = f(x)\nif self.table is not None:\n    return self.table\n",
    ],
)
def test_what_is_no_guard(body: str) -> None:
    assert cache(body) is None


@pytest.mark.parametrize(
    ("after", "expected"), [("", False), ("self.table += x\n", True), ("self.table[0] = 1\n", True)]
)
def test_what_is_written_into_later_is_a_total(after: str, expected: bool) -> None:
    found = cache("if self.table is None:\n    self.table = f(x)\n" + after)
    assert found is not None and found.is_total is expected


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("    self.table = self.table + x\n", True),
        ("    y = self.table + x\n", False),
        ("def load(self, state):\n    self.table = state[0]\n", True),
        ("def reset(self, size):\n    self.table = None\n", False),
        ("def __init__(self, table=None):\n    self.table = table\n", False),
    ],
)
def test_what_is_set_otherwise_is_a_total(method: str, expected: bool) -> None:
    text = "class Model:\n    def forward(self, x):\n        if self.table is None:\n            self.table = f(x)\n"
    file = File("m.py", (text + textwrap.indent(method, "    ")).encode())
    function = definition(file, "Model.forward")
    found = guarded_cache(file, function, assignments(file, "self.table", function)[0], "self.table")
    assert found is not None and found.is_total is expected
