"""A patch on the files as they were before other patches."""

from __future__ import annotations

from devfix.model import Edit, Patch, Safety
from devfix.verification.rebase import rebase


def edit(before: str, after: str, path: str = "m.py") -> Edit:
    return Edit(path, 1, before.encode(), after.encode())


def after(patch: Patch | None) -> list[str] | None:
    return None if patch is None else [each.after.decode() for each in patch.edits]


def patch_of(*edits: Edit) -> Patch:
    return Patch("a/b", "title", "because", Safety.SAFE, edits)


def test_a_line_put_in_beside_a_changed_one_stands_without_it() -> None:
    first = edit("a\nb\nc\n", "a\nB\nc\n")
    second = edit("a\nB\nc\n", "a\nnew\nB\nc\n")
    found = rebase(patch_of(second), [first])
    assert after(found) == ["a\nnew\nb\nc\n"]
    assert found is not None
    assert found.edits[0].before == first.before
    assert found.edits[0].line == 2


def test_lines_after_those_that_were_put_in_are_found_where_they_stood() -> None:
    first = edit("a\nb\nc\nd\n", "1\n2\na\nb\nc\nd\n")
    second = edit("1\n2\na\nb\nc\nd\n", "1\n2\na\nb\nC\nd\nlast\n")
    assert after(rebase(patch_of(second), [first])) == ["a\nb\nC\nd\nlast\n"]


def test_several_edits_are_taken_out_newest_first() -> None:
    states = ["a\nb\nc\n", "a\nx\nb\nc\n", "a\nx\nb\ny\nc\n"]
    earlier = [edit(states[0], states[1]), edit(states[1], states[2])]
    second = edit(states[2], "a\nx\nb\ny\nC\n")
    assert after(rebase(patch_of(second), earlier)) == ["a\nb\nC\n"]


def test_a_line_that_both_change_cannot_be_had_without_the_first() -> None:
    first = edit("a\nb\n", "a\nB\n")
    assert rebase(patch_of(edit("a\nB\n", "a\nB!\n")), [first]) is None
    assert rebase(patch_of(edit("a\nB\n", "a\n")), [first]) is None


def test_other_files_stay_as_they_are() -> None:
    second = edit("x\n", "y\n", "other.py")
    assert rebase(patch_of(second), [edit("a\n", "b\n")]) == patch_of(second)


def test_line_ends_stay_and_a_file_without_the_last_is_left_alone() -> None:
    first = edit("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n")
    second = edit("a\r\nB\r\nc\r\n", "a\r\nB\r\nc\r\nd\r\n")
    assert after(rebase(patch_of(second), [first])) == ["a\r\nb\r\nc\r\nd\r\n"]
    assert rebase(patch_of(edit("B\nc", "B\nc\nd\n")), [edit("b\nc", "B\nc")]) is None
