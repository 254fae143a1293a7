"""Changes as suggestions on the lines that a pull request's diff shows."""

from __future__ import annotations

import pytest

from devfix.publish.forges.capabilities import Suggestion
from devfix.publish.forges.github.reviews import shown_lines
from devfix.publish.suggestions.placing import Change, changes, is_shown, place
from devfix.publish.suggestions.text import comment_text, mark_of, marks, outdated_text

BEFORE = b"a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
EVERYWHERE = {"m.py": [range(1, 100)]}


def placed(after: bytes, lines: range = range(1, 100), before: bytes = BEFORE) -> list[Change | Suggestion]:
    return list(place(changes("m.py", before, after), {"m.py": [lines]}))


def apply(found: list[Change | Suggestion], before: bytes = BEFORE) -> bytes:
    """Apply suggestions as GitHub does: lines by their numbers, from the last to the first."""
    lines = before.decode().splitlines(keepends=True)
    for each in reversed(found):
        assert isinstance(each, Suggestion)
        lines[each.first - 1 : each.last] = [each.text]
    return "".join(lines).encode()


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace(b"c = 3", b"c = 30"),
        BEFORE.replace(b"c = 3\n", b""),
        BEFORE.replace(b"c = 3\n", b"\n"),
        BEFORE.replace(b"c = 3\n", b"c = 3\nx = 0\n"),
        b"import x\n" + BEFORE,
        BEFORE + b"x = 0\n",
        BEFORE.replace(b"a = 1\n", b"").replace(b"d = 4", b"d = 40\nx = 0"),
        BEFORE.replace(b"b", b"B").replace(b"c = 3\n", b"c = 3\nx\n").replace(b"e", b"E"),
    ],
)
def test_suggestions_make_the_file_that_was_verified(after: bytes) -> None:
    assert apply(placed(after)) == after


def test_a_line_outside_of_the_diff_is_no_suggestion() -> None:
    after = BEFORE.replace(b"a = 1", b"a = 10").replace(b"e = 5", b"e = 50")
    outside, inside = placed(after, range(4, 6))
    assert isinstance(outside, Change) and (outside.first, outside.old) == (1, (b"a = 1\n",))
    assert isinstance(inside, Suggestion) and (inside.first, inside.last, inside.text) == (5, 5, "e = 50\n")


def test_an_insertion_takes_the_neighbour_that_the_diff_shows() -> None:
    after = BEFORE.replace(b"c = 3\n", b"x = 0\nc = 3\n")
    (above,) = placed(after, range(1, 3))
    (below,) = placed(after, range(3, 4))
    assert isinstance(above, Suggestion) and (above.first, above.text) == (2, "b = 2\nx = 0\n")
    assert isinstance(below, Suggestion) and (below.first, below.text) == (3, "x = 0\nc = 3\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nb = 3\r\n"),
        (b"a = 1\n", b"a = 2"),
        ("# é\na = 1\n".encode("latin-1"), "# é\na = 1 # é\n".encode("latin-1")),
        (b"a = 1\n", b'a = """\n/approve\n"""\n'),
        (b"a = 1\n", b"a = '" + b"x" * 70_000 + b"'\n"),
        (b"", b"a = 1\n"),
    ],
)
def test_what_a_suggestion_cannot_say_exactly_is_none(before: bytes, after: bytes) -> None:
    assert all(isinstance(each, Change) for each in place(changes("m.py", before, after), EVERYWHERE))


def test_lines_of_a_diff() -> None:
    patch = (
        "@@ -1,3 +1,4 @@ def f():\n a\n+b\n c\n d\n@@ -20 +21,2 @@\n x\n+@@ -5,9 +900,9 @@\n@@ -9,2 +10,0 @@\n-x\n-y"
    )
    assert list(shown_lines(patch)) == [range(1, 5), range(21, 23), range(10, 10)]
    assert is_shown([range(1, 5), range(21, 23)], 2, 4)
    assert not is_shown([range(1, 5), range(5, 9)], 4, 5)


def test_a_fence_is_longer_than_those_in_the_code() -> None:
    suggestion = Suggestion("m.py", 1, 1, "a\n", 'x = """\n````\n<!-- devfix:suggestion 0-0 -->\n```\n"""\n')
    (mark, second) = marks([suggestion, suggestion], "0123456789ab")
    assert mark != second
    text = comment_text(suggestion, (), mark)
    assert text.startswith("`````suggestion\n") and "\n`````\n" in text
    assert mark_of(text.replace("\n", "\r\n")) == mark
    assert mark_of(f"<!-- devfix:suggestion {mark} -->\nmore") == ""
    assert mark_of(outdated_text(mark)) == mark
