"""Changes are joined only where each holds, and the result is as safe as the least safe of them."""

from __future__ import annotations

import libcst as cst

from devfix.model import Edit, Safety
from devfix.sdk import Change, File, join_changes
from devfix.sdk.changes import change


def make_change(path: str, safety: Safety, reason: str = "") -> Change:
    found = change(File(path, b"model.cuda()\n"), cst.parse_module("model.to(device)\n"), "…", safety, reason)
    assert found is not None
    return found


def test_joined_changes_tell_all_reasons_once_and_the_least_safety() -> None:
    one, two = make_change("a.py", Safety.LIKELY, "It is so."), make_change("b.py", Safety.UNSURE, "It may be.")
    found = join_changes(
        "Move the model", one, two, make_change("c.py", Safety.SAFE, "It is so."), make_change("d.py", Safety.SAFE)
    )
    assert found is not None
    assert (found.title, found.safety, found.reason) == ("Move the model", "unsure", "It is so. It may be.")
    assert [edit.path for edit in found.edits] == ["a.py", "b.py", "c.py", "d.py"]


def test_what_is_likely_is_less_safe_than_what_is_safe() -> None:
    found = join_changes("…", make_change("a.py", Safety.SAFE), make_change("b.py", Safety.LIKELY))
    assert found is not None and found.safety == "likely"


def test_nothing_is_joined_where_one_is_missing_or_none_is_given() -> None:
    assert join_changes("…", make_change("a.py", Safety.SAFE), None) is None
    assert join_changes("…") is None


def test_what_changes_nothing_or_does_not_compile_is_no_change() -> None:
    file = File("m.py", b"x = 1\n")
    assert change(file, None, "…") is None
    assert change(file, cst.parse_module("x = 2\n"), "Two") == Change(
        "Two", Safety.SAFE, (Edit("m.py", 1, b"x = 1\n", b"x = 2\n"),)
    )
    assert change(file, file.module, "…") is None


def test_no_change_moves_a_tensor_only_to_read_its_device() -> None:
    file = File("m.py", b"z = y.to(x.device) * x\n")
    nested = cst.parse_module("z = y.to(x.to(w.device).device) * x\n")
    assert change(file, nested, "…") is None
    assert change(file, cst.parse_module("z = y.to(x.device) * x.to(w.device)\n"), "…") is not None


def test_a_long_way_to_name_a_device_may_stay_where_people_wrote_it() -> None:
    file = File("m.py", b"z = zeros(3, device=x.to(w.device).device)\n")
    assert change(file, cst.parse_module("z = zeros(4, device=x.to(w.device).device)\n"), "…") is not None
