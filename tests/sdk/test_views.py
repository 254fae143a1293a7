"""A view is moved behind the call that takes it, in front of it, or not at all where its use can be moved instead."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import after, meeting, place, tensor, use_site

from devfix.model import SourceLocation
from devfix.sdk.fixes.moves import move_result

VIEW = "mask.view(-1)"


def views(
    code: str, failing: str = "x + row", kind: str = "derived", function: str = "f", name: str = "row"
) -> list[str]:
    """What becomes of a program whose failing line was given a view that the program takes of `mask`."""
    diagnosis, source = meeting(code, failing, name, scope=[tensor("mask")], function=function)
    site = replace(use_site(diagnosis, kind=kind), place=place(code, VIEW, function))
    return [after(each) for each in move_result(diagnosis, site, source)]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, mask):\n    row = mask.view(-1)\n    mask.add_(1)\n    return x + row\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    return x + row\ndef g():\n    return mask\n",
        "def f(x, mask):\n    show(mask)\n    row = mask.view(-1)\n    return x + row\n",
        "def f(x, mask):\n    row = add(\n        mask.view(-1),\n        mask,\n    )\n    return x + row\n",
        "def f(x, mask):\n    with mask: row = mask.view(-1)\n    return x + row + g(mask)\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    return x + row, g(mask=1), x.mask\n",
    ],
)
def test_a_view_is_moved_where_no_other_statement_goes_on_to_read_what_it_is_of(code: str) -> None:
    assert views(code) == [code.replace(VIEW, f"{VIEW}.to(x.device)")]


def test_what_it_is_of_is_moved_in_front_of_all_that_read_it() -> None:
    for code, function in (
        ("mask = make()\nrow = mask.view(-1)\ny = x + row, mask\n", "<module>"),
        ("def f(x):\n    mask = make()\n    row = mask.view(-1)\n    y = x + row, mask\n", "f"),
        ("def f(x, mask):\n    for a in mask.view(-1):\n        y = x + row, mask\n", "f"),
    ):
        code = f"x = make()\n{code}" if function == "<module>" else code
        line = next(each for each in code.splitlines() if VIEW in each)
        space = line[: len(line) - len(line.lstrip())]
        front = code.replace(line, f"{space}mask = mask.to(x.device)\n{line}")
        assert views(code, function=function)[0] == front


def test_a_call_alone_on_its_line_needs_no_columns() -> None:
    code = "def f(x):\n    mask = make(3)\n    return x + mask\n"
    diagnosis, source = meeting(code, "x + mask")
    site = replace(use_site(diagnosis, kind="creation"), place=SourceLocation("main.py", 2, "f", owned=True))
    found = [after(each) for each in move_result(diagnosis, site, source)]
    assert found == [code.replace("make(3)", "make(3).to(x.device)")]
    assert list(move_result(diagnosis, replace(site, place=replace(site.place, owned=False)), source)) == []


@pytest.mark.parametrize("branch", ["if flag:", "for _ in flag:", "while flag:"])
def test_a_view_that_need_not_be_taken_is_left_where_its_use_can_be_moved(branch: str) -> None:
    code = f"def f(x, flag, mask):\n    {branch}\n        mask = mask.view(-1)\n    return x + mask\n"
    moved = code.replace(VIEW, f"{VIEW}.to(x.device)")
    assert views(code, "x + mask", name="mask") == []
    assert views(code, "x + mask", "creation", name="mask") == [moved]
    # Nobody moves at its use what may be no tensor there.
    optional, chosen = (each.replace("mask)", "mask=None)") for each in (code, moved))
    assert views(optional, "x + mask", name="mask") == [chosen]


def test_a_view_in_the_branch_that_runs_is_moved() -> None:
    for head in ("if flag:", "if flag:\n        if x:\n            pass"):
        code = f"def f(x, flag, mask):\n    {head}\n        mask = mask.view(-1)\n        return x + mask\n"
        assert views(code, "x + mask", name="mask") == [code.replace(VIEW, f"{VIEW}.to(x.device)")]


def test_a_view_that_a_function_took_which_is_over_is_moved() -> None:
    code = "def g(x, mask):\n    if x:\n        return mask.view(-1)\ndef f(x, mask):\n    return x + mask\n"
    diagnosis, source = meeting(code, "x + mask")
    site = replace(use_site(diagnosis, kind="derived"), place=place(code, VIEW, "g"))
    assert [after(each) for each in move_result(diagnosis, site, source)] == [
        code.replace(VIEW, f"{VIEW}.to(x.device)")
    ]
