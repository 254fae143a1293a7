"""The small codemods keep the style of what they touch."""

import libcst as cst
import pytest

from devfix.sdk import File, add_keyword, insert_after, insert_before, move_to, remove_keyword, remove_move
from devfix.source.edits.expressions import moves_of


def code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(3)", "torch.zeros(3, device=d)"),
        ("torch.zeros()", "torch.zeros(device=d)"),
        ("torch.zeros(3, dtype=t)", "torch.zeros(3, dtype=t, device=d)"),
        ("torch.zeros(3, device=None)", "torch.zeros(3, device=d)"),
        ("torch.zeros(*s, **k)", "torch.zeros(*s, device=d, **k)"),
        ("torch.zeros(3, 4,)", "torch.zeros(3, 4, device=d,)"),
        ("torch.zeros(\n    3,\n    4,\n)", "torch.zeros(\n    3,\n    4,\n    device=d,\n)"),
        ("torch.zeros(\n    3,\n)", "torch.zeros(\n    3,\n    device=d,\n)"),
        ("f(\n    3,  # a\n    4,  # b\n)", "f(\n    3,  # a\n    4,  # b\n    device=d,\n)"),
        ("f(\n    3,  # a\n)", "f(\n    3,  # a\n    device=d,\n)"),
        ("f(\n    3,\n    # c\n    4,\n    # d\n)", "f(\n    3,\n    # c\n    4,\n    device=d,\n    # d\n)"),
        ("torch.zeros(\n    3,\n    4  # rows\n)", "torch.zeros(\n    3,\n    4, device=d  # rows\n)"),
        ("f(a,\n  b,)", "f(a,\n  b,\n  device=d,)"),
    ],
)
def test_adds_a_keyword_in_the_style_of_the_call(before: str, after: str) -> None:
    call = cst.ensure_type(cst.parse_expression(before), cst.Call)
    assert code(add_keyword(call, "device", "d")) == after
    compile(after, "m.py", "eval")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x", "x.to(d)"),
        ("a + b", "(a + b).to(d)"),
        ("-a", "(-a).to(d)"),
        ("f(x)", "f(x).to(d)"),
        ("x[0]", "x[0].to(d)"),
        ("x.to(dtype)", "x.to(dtype=dtype, device=d)"),
        ("x.to(torch.float32)", "x.to(dtype=torch.float32, device=d)"),
        ("x.to(dtype=t, copy=True)", "x.to(dtype=t, copy=True, device=d)"),
        ("x.to(other)", "x.to(other).to(d)"),
        ("x.to(device=e)", "x.to(device=e).to(d)"),
        ("(yield)", "(yield).to(d)"),
        ("x.to()", "x.to().to(d)"),
        ("x.to(*dtype)", "x.to(*dtype).to(d)"),
        ("x.to(torch.half, device=e)", "x.to(torch.half, device=e).to(d)"),
        ("x.to(torch.half, True)", "x.to(torch.half, True).to(d)"),
        ("x.to(torch.half, copy=True)", "x.to(dtype=torch.half, copy=True, device=d)"),
        ("torch.randn(3, requires_grad=True)", "torch.randn(3).to(d).requires_grad_()"),
        ("torch.ones(3, requires_grad=trained)", "torch.ones(3).to(d).requires_grad_(trained)"),
        ("torch.randn(3, requires_grad=False)", "torch.randn(3, requires_grad=False).to(d)"),
        ("torch.randn(3).mul(2).requires_grad_()", "torch.randn(3).mul(2).to(d).requires_grad_()"),
        (
            "torch.randn(3).to(dtype).requires_grad_(False)",
            "torch.randn(3).to(dtype=dtype, device=d).requires_grad_(False)",
        ),
        ("x.requires_grad_()", "x.requires_grad_().to(d)"),  # `x` is the leaf that has the gradient, and has other uses
        ("load(3, requires_grad=True)", "load(3, requires_grad=True).to(d)"),
    ],
)
def test_moves_an_expression(before: str, after: str) -> None:
    assert code(move_to(cst.parse_expression(before), "d")) == after


def test_a_move_to_the_host_is_written_as_people_do() -> None:
    assert [code(move_to(cst.parse_expression("x"), each)) for each in ('"cpu"', "'cpu'")] == ["x.cpu()", "x.cpu()"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(3, device=d,)", "torch.zeros(3,)"),
        ("torch.zeros(\n    3,\n    device=d\n)", "torch.zeros(\n    3\n)"),
        ("torch.zeros(device=d, dtype=t)", "torch.zeros(dtype=t)"),
        ("torch.zeros(3, DEVICE=d)", "torch.zeros(3, DEVICE=d)"),
    ],
)
def test_removes_a_keyword_with_its_comma_and_its_line(before: str, after: str) -> None:
    assert code(remove_keyword(cst.ensure_type(cst.parse_expression(before), cst.Call), "device")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.to(dtype=t, device=d)", "x.to(dtype=t)"),
        ("x.to('cuda', copy=half)", "x"),
        ("f(x).cpu().to(d)", "f(x)"),
    ],
)
def test_takes_moves_off_and_leaves_casts(before: str, after: str) -> None:
    assert code(remove_move(cst.parse_expression(before))) == after


def test_inserts_a_statement_below_the_comment_above() -> None:
    file = File("m.py", b"def f(x, m):\n\n    # mix\n    return x * m  # here\n")
    statement = file.statement_of(file.find(file.module, "x * m")[0])
    assert statement is not None
    before = insert_before(file, statement, ["m = m.to(x.device)"])
    after = insert_after(file, statement, ["pass"])
    assert before is not None and after is not None
    assert before.code == "def f(x, m):\n\n    # mix\n    m = m.to(x.device)\n    return x * m  # here\n"
    assert after.code == "def f(x, m):\n\n    # mix\n    return x * m  # here\n    pass\n"


def test_inserts_nothing_into_a_suite_on_one_line() -> None:
    file = File("m.py", b"if a: b = a * m\n")
    assert file.statement_of(file.find(file.module, "a * m")[0]) is None
    suite = file.parent(file.parent(file.find(file.module, "a * m")[0]) or file.module)
    assert insert_before(file, suite or file.module, ["pass"]) is None


def test_keeps_line_endings_and_tabs() -> None:
    file = File("m.py", b"if a:\r\n\tb = a * m\r\n")
    statement = file.statement_of(file.find(file.module, "a * m")[0])
    assert statement is not None
    module = insert_before(file, statement, ["m = m.to(a.device)"])
    assert module is not None and module.bytes == b"if a:\r\n\tm = m.to(a.device)\r\n\tb = a * m\r\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 1", "x.to(d) + 1"),
        ("x.to(dtype=y.dtype) @ y", "x.to(dtype=y.dtype, device=d) @ y"),
        ("x.to(torch.half).T", "x.to(dtype=torch.half, device=d).T"),
        ("x.to(y)", "x.to(d).to(y)"),
        ("x.float()", "x.to(d).float()"),
        ("x.T.to(torch.half)", "x.to(d).T.to(torch.half)"),
    ],
)
def test_moves_go_into_the_cast_that_follows(text: str, expected: str) -> None:
    file = File("main.py", text.encode())
    edits = moves_of(file, file.find(file.module, "x"), "d")
    assert file.replace(edits).code == expected
