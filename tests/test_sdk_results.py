"""A call is moved whole where its result is wrong, and what it takes a view of in front where that is read as well."""

from __future__ import annotations

from dataclasses import replace

import pytest
from met import after, meeting, place, spot_at

from devfix.model import Event, Place
from devfix.sdk import result_moved


def results(code: str, failing: str, kind: str = "derived", **met: object) -> list[str]:
    diagnosis, source = meeting(code, failing, **met)  # type: ignore[arg-type]
    return [after(each) for each in result_moved(diagnosis, spot_at(diagnosis, kind=kind), source)]


def test_a_call_is_moved_whole() -> None:
    code = "def f(x):\n    mask = make(3)\n    return x + mask\n"
    assert results(code, "make(3)", "birth") == [code.replace("make(3)", "make(3).to(x.device)")]


def test_what_stands_alone_is_not_moved() -> None:
    assert results("def f(x, mask):\n    mask.normal_()\n    return x + mask\n", "mask.normal_()") == []


def test_of_two_calls_on_a_line_without_columns_none_is_chosen() -> None:
    code = "def f(x):\n    mask = make(size(3))\n    return x + mask\n"
    diagnosis, source = meeting(code, "make(size(3))")
    spot = replace(spot_at(diagnosis, kind="birth"), place=Place("main.py", 2, "f", owned=True))
    assert list(result_moved(diagnosis, spot, source)) == []
    alone = replace(spot, place=Place("main.py", 3, "f", owned=True))
    assert list(result_moved(diagnosis, alone, source)) == []


def test_the_name_is_moved_in_front_where_a_view_of_it_is_not_all_that_is_read() -> None:
    code = "def f(x, mask):\n    row = mask.view(-1)\n    return x + row + mask\n"
    assert results(code, "mask.view(-1)") == [
        "def f(x, mask):\n    mask = mask.to(x.device)\n    row = mask.view(-1)\n    return x + row + mask\n",
        code.replace("mask.view(-1)", "mask.view(-1).to(x.device)"),
    ]
    assert results(code, "mask.view(-1)", "birth") == [code.replace("mask.view(-1)", "mask.view(-1).to(x.device)")]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, mask):\n    row = mask.view(-1)\n    return x + row\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    mask = x\n    return x + row + mask\n",
        "def f(x, mask):\n    if x:\n        return x + mask.view(-1)\n    return mask\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    mask += 1\n    return x + row + mask\n",
        "def f(x, mask=None):\n    row = mask.view(-1)\n    return x + row + mask\n",
    ],
)
def test_else_the_view_is_moved(code: str) -> None:
    assert results(code, "mask.view(-1)") == [code.replace("mask.view(-1)", "mask.view(-1).to(x.device)")]


ASIDE = "def f(x, mask, flip):\n    if flip:\n        mask = mask.flip(0)\n    return x + mask\n"


@pytest.mark.parametrize(("code", "is_aside"), [(ASIDE, True), (ASIDE.replace("    if flip:\n    ", ""), False)])
def test_a_derivation_in_a_branch_is_left_to_the_use_below(code: str, is_aside: bool) -> None:
    derived = Event("op", "aten::flip", "cpu", (place(code, "mask.flip(0)"),))
    diagnosis, source = meeting(code, "x + mask", history=[derived])
    spot = replace(spot_at(diagnosis, kind="derived"), place=place(code, "mask.flip(0)"), frame=None)
    found = [after(each) for each in result_moved(diagnosis, spot, source)]
    assert found == ([] if is_aside else [code.replace("mask.flip(0)", "mask.flip(0).to(x.device)")])
