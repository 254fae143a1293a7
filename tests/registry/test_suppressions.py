"""Comments that keep a rule away from a line."""

import pytest

from devfix.model import Edit
from devfix.registry.suppressions import find_suppressions, list_touched_lines

RULE = "placement/input-not-moved"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = 1  # devfix: ignore[placement/input-not-moved] the loader moves it\n", {1: "the loader moves it"}),
        ("x = 1  # devfix: ignore[placement]\n", {1: ""}),
        ("x = 1  # devfix: ignore[state, placement/input-not-moved] so\n", {1: "so"}),
        ("x = 1  #devfix:ignore[placement/input-not-moved]so\n", {1: "so"}),
        ("# devfix: ignore[placement] so\n# and more\nx = f(\n    1,\n)\ny = 2\n", {3: "so", 4: "so", 5: "so"}),
        ("x = f(\n    1,  # devfix: ignore[placement] so\n)\n", {1: "so", 2: "so", 3: "so"}),
        ("for x in y:  # devfix: ignore[placement] so\n    pass\n", {1: "so"}),
        ("x = 1  # devfix: ignore[state] so\n", {}),
        ("x = 1  # devfix: ignore[placement/input] so\n", {}),
        ("x = '# devfix: ignore[placement] so'\n", {}),
        ("x = (  # devfix: ignore[placement]\n", {}),
    ],
)
def test_a_comment_speaks_of_its_statement_or_the_next(text: str, lines: dict[int, str]) -> None:
    assert find_suppressions(text.encode(), RULE) == lines


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n", [2]),
        (b"a\nb\nc\n", b"a\nnew\nb\nc\n", [2]),
        (b"a\nb\nc\n", b"a\nc\n", [2]),
        (b"a\nb\n", b"a\nb\nc\n", [3]),
    ],
)
def test_an_edit_touches_what_it_changes_or_stands_before(before: bytes, after: bytes, lines: list[int]) -> None:
    assert list(list_touched_lines(Edit("m.py", 1, before, after))) == lines
