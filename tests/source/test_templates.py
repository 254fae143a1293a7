"""Templates with metavariables: what they match, and what they write."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.source.templates import Template, TemplateError, fill_text, variables


def rewritten(pattern: str, code: str, written: str) -> str | None:
    """Return what a template writes for code that another one matches; None if that does not match."""
    found = Template(pattern).match(cst.parse_expression(code))
    return None if found is None else cst.Module([]).code_for_node(Template(written).fill(found))


@pytest.mark.parametrize(
    ("pattern", "code", "written", "expected"),
    [
        ("$X.numpy($$$A)", "x.numpy(force=True)", "$X.cpu().numpy($$$A)", "x.cpu().numpy(force=True)"),
        ("f($X)", "f(a + b)", "$X.cpu()", "(a + b).cpu()"),
        ("f($X)", "f( (a) )", "g($X)", "g((a))"),
        ("$X", "a + b", "f($X)", "f(a + b)"),
        ("$F($$$A, k=$_, $$$B)", "f(1, *r, k=2, m=3)", "$F($$$A, $$$B)", "f(1, *r, m=3)"),
        ("$F($$$A, k=$_, $$$B)", "f(1, k=2)", "$F($$$A, $$$B)", "f(1)"),
        ("$F($K=$V)", "f(a=1)", "$F($K=g($V))", "f(a=g(1))"),
        ("$X * $X", "a * a", "$X**2", "a**2"),
        ("[$A, $$$B]", "[1, 2, 3]", "[$$$B, $A]", "[2, 3, 1]"),
        ("f('cuda')", 'f("cuda")', "f()", "f()"),
        ("$F($$$)", "f(1, a=2)", "$F()", "f()"),
        ("$X.$M()", "a.b()", "$M($X)", "b(a)"),
    ],
)
def test_what_is_matched_is_written(pattern: str, code: str, written: str, expected: str) -> None:
    assert rewritten(pattern, code, written) == expected


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("$X * $X", "a * b"),
        ("$X * $Y", "a + b"),
        ("$F($X)", "f(a=1)"),
        ("$F($X)", "f(1, 2)"),
        ("$F($X)", "f(*a)"),
        ("$F(k=$X)", "f(1)"),
        ("f($X)", "g(1)"),
        ("f(1)", "f(2)"),
        ("$X.a", "x.b"),
        ("f($$$A, g($$$A))", "f(1, g(2))"),
    ],
)
def test_other_code_is_not_matched(pattern: str, code: str) -> None:
    assert Template(pattern).match(cst.parse_expression(code)) is None


def test_a_metavariable_that_is_bound_stands_for_that_code() -> None:
    model = cst.parse_expression("model(x, y)")
    assert Template("$F($$$, $T)").match(model, {"T": cst.Name("y")}) is not None
    assert Template("$F($$$, $T)").match(model, {"T": cst.Name("x")}) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [("f(", "is not an expression of Python"), ("$x.cpu()", "in capital letters"), ("$A $B", "is not an expression")],
)
def test_what_is_no_template_is_refused(text: str, what: str) -> None:
    with pytest.raises(TemplateError, match=what):
        _ = Template(text).expression


def test_metavariables_in_a_text() -> None:
    assert variables("move $X to $DEVICE, $$$REST, $_") == {"X", "DEVICE", "REST"}
    assert fill_text("Move `$X` for $2", {"X": "a.b"}) == "Move `a.b` for $2"
