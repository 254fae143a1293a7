"""Whole statements are added, replaced and removed; comments and the file's own layout stay."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.sdk import File, insert_after, insert_before, remove_statement, replace_statement

BLOCK = """# first
a = 1

# second
b = 2  # two
c = 3
"""


def done(function: Callable[..., cst.Module | None], code: str, text: str, *lines: str) -> str:
    """What a function makes of the statement around a text; "" where it does not apply."""
    file = main(code)
    node = file.find(file.module, text)[0]
    statement = file.statement_of(node) or file.parent(node)
    module = function(file, statement, lines) if lines else function(file, statement)
    return module.code if module is not None else ""


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("a", "# first\nx\ny\na", "a = 1\nx\ny\n"),
        ("b", "# second\nx\ny\nb", "# two\nx\ny\n"),
        ("c", "x\ny\nc", "x\ny\n"),
    ],
)
def test_statements_are_added(text: str, before: str, after: str) -> None:
    found = done(insert_before, BLOCK, text, "x", "y")
    assert before in found and found.replace("x\ny\n", "") == BLOCK
    found = done(insert_after, BLOCK, text, "x", "y")
    assert after in found and found.replace("x\ny\n", "") == BLOCK


def test_a_comment_directly_above_a_loop_stays_with_it() -> None:
    code = "# loop\nfor i in a:\n    b\n"
    assert done(insert_before, f"y\n{code}", "a", "x") == f"y\nx\n{code}"
    spaced = f"y\n\n# title\n\n{code}"
    assert done(insert_before, spaced, "a", "x") == "y\n\n# title\n\nx\n# loop\nfor i in a:\n    b\n"
    assert done(insert_before, code, "b", "x") == "# loop\nfor i in a:\n    x\n    b\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "# first\nx\ny\n\n# second\nb = 2  # two\nc = 3\n"),
        ("b", "# first\na = 1\n\n# second\nx\ny  # two\nc = 3\n"),
    ],
)
def test_a_statement_is_replaced(text: str, expected: str) -> None:
    assert done(replace_statement, BLOCK, text, "x", "y") == expected


def test_a_comment_beside_a_statement_is_no_other_block_s() -> None:
    assert done(replace_statement, "a = 1  # one\n", "a", "if x:\n    y") == "if x:\n    y\n"
    assert done(replace_statement, "# why\nfor i in a:\n    b\n", "a", "x") == "# why\nx\n"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (f"z = 0\n{BLOCK}", "a", "z = 0\n\n# second\nb = 2  # two\nc = 3\n"),
        (BLOCK, "b", "# first\na = 1\nc = 3\n"),
        (BLOCK, "c", BLOCK.replace("c = 3\n", "")),
        ("if a:\n    b\n", "b", "if a:\n    pass\n"),
        ("if a:\n    b\n    c\n", "b", "if a:\n    c\n"),
        ("if a:\n    b\nc\n", "a", "c\n"),
    ],
)
def test_a_statement_is_removed(code: str, text: str, expected: str) -> None:
    assert done(remove_statement, code, text) == expected


@pytest.mark.parametrize("code", ["if a: b\n", "if a:\n    c\nelif b:\n    d\n"])
def test_what_stands_in_no_block_of_its_own_is_left_alone(code: str) -> None:
    assert [done(each, code, "b", "x") for each in (insert_before, insert_after, replace_statement)] == [""] * 3
    assert done(remove_statement, code, "b") == ""


def test_what_is_added_is_laid_out_as_the_file_is() -> None:
    file = File("main.py", b"if a:\r\n\tb\r\n")
    statement = file.statement_of(file.find(file.module, "b")[0])
    assert statement is not None
    module = replace_statement(file, statement, ["if x:\n    y", "z"])
    assert module is not None and module.bytes == b"if a:\r\n\tif x:\r\n\t\ty\r\n\tz\r\n"
