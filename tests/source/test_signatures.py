"""A parameter that is added to a signature has a line of its own where each one has."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.source.edits.signatures import with_parameter


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(device=None)"),
        ("f(x)", "f(x, device=None)"),
        ("f(x, n,)", "f(x, n, device=None,)"),
        ("f(x, *, n)", "f(x, *, n, device=None)"),
        ("f(x, *xs)", "f(x, *xs, device=None)"),
        ("f(x, **words)", "f(x, device=None, **words)"),
        ("f(\n    x,\n    n,\n)", "f(\n    x,\n    n,\n    device=None,\n)"),
        ("f(\n    x,\n    n\n)", "f(\n    x,\n    n,\n    device=None\n)"),
        ("f(\n    x,\n)", "f(\n    x,\n    device=None,\n)"),
        ("f(\n    x\n)", "f(\n    x,\n    device=None\n)"),
        ("f(\n    x, n\n)", "f(\n    x, n, device=None\n)"),
        ("f(x,\n  n)", "f(x,\n  n,\n  device=None)"),
        ("f(\n    x,  # a\n    n,  # b\n)", "f(\n    x,  # a\n    n,  # b\n    device=None,\n)"),
        ("f(\n    x,\n    *,\n    n,\n)", "f(\n    x,\n    *,\n    n,\n    device=None,\n)"),
        ("f(\n    x,\n    **words,\n)", "f(\n    x,\n    device=None,\n    **words,\n)"),
    ],
)
def test_a_parameter_is_added_in_the_style_of_the_others(before: str, after: str) -> None:
    function = cst.ensure_type(cst.parse_statement(f"def {before}: pass"), cst.FunctionDef)
    changed = function.with_changes(params=with_parameter(function, "device", "None"))
    assert cst.Module([changed]).code.strip() == f"def {after}: pass"


def test_one_without_a_default_follows_defaults_by_keyword() -> None:
    function = cst.ensure_type(cst.parse_statement("def f(x, n=1): pass"), cst.FunctionDef)
    changed = function.with_changes(params=with_parameter(function, "device", ""))
    assert cst.Module([changed]).code.strip() == "def f(x, n=1, *, device): pass"
